//===- Persist.cpp - CTAs that take tiles until there are none left -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "TileNumbering.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNPERSIST
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

/// Rewrites the loop over CTAs
///   forall (ids) in (bounds) { body }
/// to
///   forall (cta) in (n = num_ctas(tiles)) {
///     for tiles of cta { ids of tile, as a message; body }
///   }
class Persister {
public:
  Persister(scf::ForallOp forall, ScheduleAttr schedule)
      : forall(forall), schedule(schedule), loc(forall.getLoc()), b(forall),
        numbering(b, forall, schedule) {}
  LogicalResult run();

private:
  Value placeInRound(Value round);
  void takeEveryNth();
  LogicalResult drawEach();
  Value addCounter();
  void hoistReversals();
  /// Tells all roles the ids of a tile; a negative first one where there is no tile, if `more` says
  /// so.
  SmallVector<Value> pass(ArrayRef<Value> ids, Value round, Value more = {});
  /// Moves the loop's body to the end of a block, for a tile of these ids.
  void moveBody(Block &block, ValueRange ids);
  Value widen(Value value) { return arith::IndexCastOp::create(b, loc, b.getIndexType(), value); }
  Value position(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  scf::ForallOp forall;
  ScheduleAttr schedule;
  Location loc;
  OpBuilder b;
  TileNumbering numbering;
  /// How many tiles there are, the size of the grid, and the number of the CTA in it (i32).
  Value tiles, ctas, cta;
  Value mailbox;
  /// For each id, what it is taken from if the body counts its tiles from the last one; else null.
  SmallVector<Value> lastIds;
};

} // namespace

/// The producer does the counting from the last tile, where that is all the body does with an id.
void Persister::hoistReversals() {
  for (Value id : forall.getInductionVars()) {
    lastIds.push_back({});
    auto reversal = id.hasOneUse() ? dyn_cast<arith::SubIOp>(*id.user_begin()) : arith::SubIOp();
    if (!reversal || reversal.getRhs() != id)
      continue;
    Value last = reversal.getLhs();
    Operation *def = last.getDefiningOp();
    if (def && def->getBlock() == forall.getBody() && isPure(def) &&
        llvm::none_of(def->getOperands(), [&](Value operand) {
          return operand.getParentRegion() == &forall.getRegion();
        }))
      def->moveBefore(forall);
    if (last.getParentRegion() == &forall.getRegion())
      continue;
    lastIds.back() = last;
    reversal.getResult().replaceAllUsesWith(id);
    reversal.erase();
  }
}

SmallVector<Value> Persister::pass(ArrayRef<Value> ids, Value round, Value more) {
  SmallVector<Value> values;
  for (auto [id, last] : llvm::zip(ids, lastIds)) {
    Value wide = widen(id);
    values.push_back(last ? Value(arith::SubIOp::create(b, loc, last, wide)) : wide);
  }
  if (more)
    values.front() = numbering.choose(more, values.front(), position(-1));
  auto pass = MailboxPassOp::create(b, loc, SmallVector<Type>(ids.size(), b.getIndexType()),
                                    mailbox, round, values);
  return SmallVector<Value>(pass.getPassed());
}

void Persister::moveBody(Block &block, ValueRange ids) {
  for (auto [from, to] : llvm::zip(forall.getInductionVars(), ids))
    from.replaceAllUsesWith(to);
  forall.getTerminator()->erase();
  auto end = block.mightHaveTerminator() ? block.getTerminator()->getIterator() : block.end();
  block.getOperations().splice(end, forall.getBody()->getOperations());
  forall.erase();
}

/// Which of the n tiles of a round is the CTA's. Sorted tiles are counted from the front and from
/// the back in turn: they become shorter in their order, and no CTA gets the longest of every n.
Value Persister::placeInRound(Value round) {
  if (!numbering.sorts())
    return cta;
  TileNumbering &n = numbering;
  Value last = n.make<arith::SubIOp>(ctas, n.constant(1));
  Value odd = n.compare(arith::CmpIPredicate::ne, n.make<arith::AndIOp>(round, n.constant(1)),
                        n.constant(0));
  return n.choose(odd, n.make<arith::SubIOp>(last, cta), cta);
}

void Persister::takeEveryNth() {
  TileNumbering &n = numbering;
  auto [full, left] = n.divide(tiles, ctas);
  Value another = n.compare(arith::CmpIPredicate::slt, placeInRound(full), left);
  Value rounds = n.make<arith::AddIOp>(full, n.choose(another, n.constant(1), n.constant(0)));
  auto loop = scf::ForOp::create(b, loc, position(0), widen(rounds), position(1));
  b.setInsertionPointToStart(loop.getBody());
  Value round = n.narrow(loop.getInductionVar());
  Value tile = n.make<arith::AddIOp>(n.make<arith::MulIOp>(round, ctas), placeInRound(round));
  moveBody(*loop.getBody(), pass(n.ids(tile), loop.getInductionVar()));
}

/// The counter is an argument of the kernel, which the runtime provides.
Value Persister::addCounter() {
  auto kernel = forall->getParentOfType<func::FuncOp>();
  unsigned index = kernel.getNumArguments();
  NamedAttribute mark(b.getStringAttr(kTileCounterAttr), b.getUnitAttr());
  if (failed(kernel.insertArgument(index, MemRefType::get({1}, b.getI32Type()),
                                   b.getDictionaryAttr(mark), loc)))
    return {};
  return kernel.getArgument(index);
}

LogicalResult Persister::drawEach() {
  TileNumbering &n = numbering;
  Value counter = addCounter();
  if (!counter)
    return forall.emitOpError() << "cannot add a counter of tiles to its kernel's arguments";
  Type index = b.getIndexType();
  SmallVector<Type> carried = {b.getI32Type(), index};
  SmallVector<Type> passed(1 + forall.getRank(), index);
  auto loop = scf::WhileOp::create(b, loc, passed, ValueRange{cta, position(0)});

  Block *before = b.createBlock(&loop.getBefore(), {}, carried, {loc, loc});
  Value tile = before->getArgument(0), round = before->getArgument(1);
  SmallVector<Value> ids = n.ids(tile);
  SmallVector<Value> values = pass(ids, round, n.compare(arith::CmpIPredicate::ult, tile, tiles));
  Value told = n.compare(arith::CmpIPredicate::sge, values.front(), position(0));
  values.insert(values.begin(), round);
  scf::ConditionOp::create(b, loc, told, values);

  Block *body =
      b.createBlock(&loop.getAfter(), {}, passed, SmallVector<Location>(passed.size(), loc));
  Value one = position(1);
  moveBody(*body, body->getArguments().drop_front());
  b.setInsertionPointToEnd(body);
  Value next = NextTileOp::create(b, loc, b.getI32Type(), counter, tiles);
  Value nextRound = arith::AddIOp::create(b, loc, body->getArgument(0), one);
  scf::YieldOp::create(b, loc, ValueRange{next, nextRound});
  return success();
}

LogicalResult Persister::run() {
  hoistReversals();
  Value count = numbering.count();
  Value size = NumCtasOp::create(b, loc, count);
  auto grid =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{size}, ValueRange{}, std::nullopt);
  grid->setDiscardableAttrs(forall->getDiscardableAttrDictionary());
  b.setInsertionPoint(grid.getTerminator());
  auto message = MailboxType::get(b.getContext(), forall.getRank(), kMailboxStages);
  mailbox = MailboxCreateOp::create(b, loc, message, schedule.getWarps(), IntegerAttr());
  tiles = numbering.narrow(count);
  ctas = numbering.narrow(size);
  cta = numbering.narrow(grid.getInductionVar(0));
  numbering.prepare();
  if (schedule.getPersistent() == Persistence::Dynamic)
    return drawEach();
  takeEveryNth();
  return success();
}

namespace {

struct Persist : attn::impl::AttnPersistBase<Persist> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> grids;
    getOperation().walk([&](scf::ForallOp forall) {
      ScheduleAttr schedule = wgmmaSchedule(forall);
      if (schedule && schedule.getPersistent() != Persistence::None &&
          forall.getOps<MailboxCreateOp>().empty())
        grids.push_back(forall);
    });
    for (scf::ForallOp forall : grids)
      if (failed(Persister(forall, wgmmaSchedule(forall)).run()))
        return signalPassFailure();
  }
};

} // namespace
