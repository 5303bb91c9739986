//===- InsertRolePipes.cpp - Pipes between warps that copy and compute ----===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of attn-insert-pipes for programs whose copies are made by warps of their own.
// Each load becomes a fill of a stage and a wait for it, at the place of the load: as one
// program that is slow but right. attn-assign-roles then takes it apart into who fills and
// who waits; how far the former runs ahead is up to the stages.
//
//===----------------------------------------------------------------------===//

#include "InsertRolePipes.h"

#include "KeyLoops.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/IR/Warps.h"

using namespace mlir;
using namespace attn;

/// Warps that fill a pipe with `producer = cp_async`: half of the producer, because a warp waits
/// for its copies. So a tile of K is on its way beside one of Q or V.
static constexpr int64_t kWritersOfPipe = kWarpgroupWarps / 2;

namespace {

/// What products read a tile as.
enum class Operand { Q, K, V };

/// A ring of buffers and the loads that go through it.
struct RolePipe {
  Value source;
  TileType tile;
  PipeCreateOp create;
  Operand operand;
};

class RolePipeInserter {
public:
  explicit RolePipeInserter(scf::ForallOp forall)
      : forall(forall), schedule(forall->getAttrOfType<ScheduleAttr>(kScheduleAttr)),
        alignment(forall->getAttrOfType<IntegerAttr>(kAlignmentAttr)), b(forall->getContext()) {}

  LogicalResult run();

private:
  void storeThroughQ();
  LogicalResult createPipes();
  /// Replaces the loads of a block. `counters` holds for each pipe how many tiles went through
  /// it before; on return, through the end of the block.
  void insertInto(Block &block, SmallVector<Value> &counters);
  Operation *insertInto(scf::ForOp loop, SmallVector<Value> &counters);
  Operation *insertInto(scf::WhileOp loop, SmallVector<Value> &counters);
  Operation *insertInto(scf::IfOp ifOp, SmallVector<Value> &counters);
  void replace(LoadTileOp load, Value &counter);
  /// The pipes that serve loads below `op`.
  SmallVector<unsigned> pipesBelow(Operation *op);
  Value times(Value value, int64_t factor, Location loc) {
    return b.createOrFold<arith::MulIOp>(loc, value, constant(factor, loc));
  }
  Value plus(Value value, int64_t addend, Location loc) {
    return b.createOrFold<arith::AddIOp>(loc, value, constant(addend, loc));
  }
  Value constant(int64_t value, Location loc) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  scf::ForallOp forall;
  ScheduleAttr schedule;
  IntegerAttr alignment;
  OpBuilder b;
  SmallVector<RolePipe> pipes;
  DenseMap<Operation *, unsigned> pipeOfLoad;
};

} // namespace

/// Whether products read the tile as operand a, as they do Q.
static bool isOperandA(OpOperand &use) {
  return isa<MmaStartOp>(use.getOwner()) && use.getOperandNumber() == 0;
}

static Operand operandOf(LoadTileOp load) {
  if (llvm::any_of(load.getResult().getUses(), isOperandA))
    return Operand::Q;
  bool isK = llvm::any_of(load.getResult().getUsers(), [](Operation *user) {
    auto start = dyn_cast<MmaStartOp>(user);
    return start && start.getTransposeB();
  });
  return isK ? Operand::K : Operand::V;
}

/// Operands of products come through pipes; other loads stay.
static bool isOperandLoad(LoadTileOp load) {
  return llvm::any_of(load.getResult().getUsers(),
                      [](Operation *user) { return isa<MmaStartOp>(user); });
}

/// Q's buffer is free once the last product has read it: what a CTA stores goes through it.
void RolePipeInserter::storeThroughQ() {
  SmallVector<StoreTileOp> stores;
  forall.walk([&](StoreTileOp store) { stores.push_back(store); });
  for (StoreTileOp store : stores) {
    TileType tile = store.getTile().getType();
    Type stored = cast<MemRefType>(store.getDest().getType()).getElementType();
    if (tile.getRank() != 2)
      continue;
    for (LoadTileOp load : store->getBlock()->getOps<LoadTileOp>()) {
      TileType buffer = load.getResult().getType();
      if (!llvm::any_of(load.getResult().getUses(), isOperandA) || !load->isBeforeInBlock(store) ||
          buffer.getElementType() != stored || buffer.getRows() != tile.getRows() ||
          buffer.getCols() < tile.getCols())
        continue;
      b.setInsertionPoint(store);
      BulkStoreOp::create(b, store.getLoc(), store.getTile(), load.getResult(), store.getDest(),
                          store.getBatch(), store.getRow(), store.getHead(), Value());
      BulkStoreWaitOp::create(b, store.getLoc(), load.getResult());
      store.erase();
      break;
    }
  }
}

LogicalResult RolePipeInserter::createPipes() {
  SmallVector<LoadTileOp> loads;
  forall.walk([&](LoadTileOp load) {
    if (isOperandLoad(load))
      loads.push_back(load);
  });
  if (!loads.empty() && !alignment)
    return forall.emitOpError() << "has no " << kAlignmentAttr
                                << ", the bytes that addresses of tensors are multiples of";
  for (LoadTileOp load : loads) {
    if (failed(verifyPadding(load)))
      return failure();
    TileType tile = load.getResult().getType();
    // Tiles come and go for each operand by itself, also where tensors are one and the same.
    Operand operand = operandOf(load);
    unsigned index = 0;
    while (index < pipes.size() && (pipes[index].source != load.getSource() ||
                                    pipes[index].tile != tile || pipes[index].operand != operand))
      ++index;
    pipeOfLoad[load] = index;
    if (index < pipes.size())
      continue;
    b.setInsertionPointToStart(forall.getBody());
    if (!pipes.empty())
      b.setInsertionPointAfter(pipes.back().create);
    bool isQ = operand == Operand::Q;
    int64_t parts = isQ ? schedule.getQParts() : 1;
    auto type = PipeType::get(b.getContext(), tile,
                              isQ ? schedule.getQStages() : schedule.getStages(), parts);
    IntegerAttr writers, firstWriter;
    if (schedule.copiesWithThreads()) {
      writers = b.getI64IntegerAttr(kWritersOfPipe);
      firstWriter = b.getI64IntegerAttr(operand == Operand::K ? 0 : kWritersOfPipe);
    }
    auto create = PipeCreateOp::create(b, load.getLoc(), type,
                                       b.getI64IntegerAttr(schedule.getWarps() / parts), writers,
                                       firstWriter, IntegerAttr(), IntegerAttr());
    pipes.push_back({load.getSource(), tile, create, operand});
  }
  return success();
}

SmallVector<unsigned> RolePipeInserter::pipesBelow(Operation *op) {
  llvm::SmallSetVector<unsigned, 4> below;
  op->walk([&](LoadTileOp load) {
    if (auto it = pipeOfLoad.find(load); it != pipeOfLoad.end())
      below.insert(it->second);
  });
  SmallVector<unsigned> sorted = below.takeVector();
  llvm::sort(sorted);
  return sorted;
}

/// The last op of the block that reads the tile, directly or through a product in flight.
static Operation *lastReader(Value tile, Operation *wait) {
  Operation *last = wait;
  auto visit = [&](Operation *user) {
    Operation *op = wait->getBlock()->findAncestorOpInBlock(*user);
    if (op && last->isBeforeInBlock(op))
      last = op;
  };
  for (Operation *user : tile.getUsers()) {
    visit(user);
    if (auto start = dyn_cast<MmaStartOp>(user))
      llvm::for_each(start.getResult().getUsers(), visit);
  }
  return last;
}

void RolePipeInserter::replace(LoadTileOp load, Value &counter) {
  Location loc = load.getLoc();
  Value pipe = pipes[pipeOfLoad[load]].create.getPipe();
  b.setInsertionPoint(load);
  Value limit = load.getLimit();
  if (!limit)
    limit = memref::DimOp::create(b, loc, load.getSource(), 1);
  auto type = cast<PipeType>(pipe.getType());
  int64_t parts = type.getParts();
  for (int64_t part = 0; part < parts; ++part) {
    // Fills count parts.
    Value number = plus(times(counter, parts, loc), part, loc);
    Value row = plus(load.getRow(), part * type.getStageRows(), loc);
    PipeAcquireOp::create(b, loc, pipe, number, /*synced=*/false);
    CopyTileOp::create(b, loc, load.getSource(), load.getBatch(), row, load.getHead(), limit, pipe,
                       number, Value(), alignment);
    PipeCommitOp::create(b, loc, pipe);
  }
  auto wait =
      PipeWaitOp::create(b, loc, load.getResult().getType(), pipe, counter, b.getI64IntegerAttr(0));
  if (schedule.getQInRegisters() && llvm::any_of(load.getResult().getUses(), isOperandA)) {
    Value fragments = LocalLoadOp::create(b, loc, load.getResult().getType(), wait.getTile());
    load.getResult().replaceUsesWithIf(fragments, isOperandA);
  }
  load.getResult().replaceAllUsesWith(wait.getTile());
  b.setInsertionPointAfter(lastReader(wait.getTile(), wait));
  PipeReleaseOp::create(b, loc, pipe, counter);
  b.setInsertionPoint(load);
  counter = arith::AddIOp::create(b, loc, counter, constant(1, loc));
  load.erase();
}

Operation *RolePipeInserter::insertInto(scf::ForOp loop, SmallVector<Value> &counters) {
  SmallVector<unsigned> below = pipesBelow(loop);
  if (below.empty())
    return loop;
  SmallVector<Value> init;
  for (unsigned index : below)
    init.push_back(counters[index]);
  IRRewriter rewriter(b);
  rewriter.setInsertionPoint(loop);
  auto wider = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      }));
  SmallVector<Value> inside(counters);
  unsigned first = wider.getNumRegionIterArgs() - below.size();
  for (auto [i, index] : llvm::enumerate(below))
    inside[index] = wider.getRegionIterArg(first + i);
  insertInto(*wider.getBody(), inside);
  for (auto [i, index] : llvm::enumerate(below)) {
    wider.getBody()->getTerminator()->setOperand(first + i, inside[index]);
    counters[index] = wider.getResult(first + i);
  }
  return wider;
}

/// Loads stand in the body alone: the condition passes the counters on.
Operation *RolePipeInserter::insertInto(scf::WhileOp loop, SmallVector<Value> &counters) {
  SmallVector<unsigned> below = pipesBelow(loop);
  if (below.empty())
    return loop;
  Location loc = loop.getLoc();
  SmallVector<Type> types(loop.getResultTypes());
  types.append(below.size(), b.getIndexType());
  SmallVector<Value> inits(loop.getInits());
  for (unsigned index : below)
    inits.push_back(counters[index]);
  b.setInsertionPoint(loop);
  auto wider = scf::WhileOp::create(b, loc, types, inits);
  wider.getBefore().takeBody(loop.getBefore());
  wider.getAfter().takeBody(loop.getAfter());
  SmallVector<Value> inside(counters);
  for (unsigned index : below) {
    wider.getConditionOp().getArgsMutable().append(
        wider.getBeforeBody()->addArgument(b.getIndexType(), loc));
    inside[index] = wider.getAfterBody()->addArgument(b.getIndexType(), loc);
  }
  insertInto(*wider.getAfterBody(), inside);
  scf::YieldOp yield = wider.getYieldOp();
  unsigned first = loop.getNumResults();
  for (auto [i, index] : llvm::enumerate(below)) {
    yield.getResultsMutable().append(inside[index]);
    counters[index] = wider.getResult(first + i);
  }
  loop.replaceAllUsesWith(wider.getResults().take_front(first));
  loop.erase();
  return wider;
}

Operation *RolePipeInserter::insertInto(scf::IfOp ifOp, SmallVector<Value> &counters) {
  SmallVector<unsigned> below = pipesBelow(ifOp);
  if (below.empty())
    return ifOp;
  SmallVector<Type> types(ifOp.getResultTypes());
  types.append(below.size(), b.getIndexType());
  b.setInsertionPoint(ifOp);
  auto wider = scf::IfOp::create(b, ifOp.getLoc(), types, ifOp.getCondition(),
                                 /*addThenBlock=*/false, /*addElseBlock=*/false);
  wider.getThenRegion().takeBody(ifOp.getThenRegion());
  wider.getElseRegion().takeBody(ifOp.getElseRegion());
  if (wider.getElseRegion().empty()) {
    b.createBlock(&wider.getElseRegion());
    scf::YieldOp::create(b, ifOp.getLoc());
  }
  for (Region *region : {&wider.getThenRegion(), &wider.getElseRegion()}) {
    SmallVector<Value> inside(counters);
    insertInto(region->front(), inside);
    Operation *yield = region->front().getTerminator();
    for (unsigned index : below)
      yield->insertOperands(yield->getNumOperands(), inside[index]);
  }
  unsigned first = ifOp.getNumResults();
  ifOp.replaceAllUsesWith(wider.getResults().take_front(first));
  for (auto [i, index] : llvm::enumerate(below))
    counters[index] = wider.getResult(first + i);
  ifOp.erase();
  return wider;
}

void RolePipeInserter::insertInto(Block &block, SmallVector<Value> &counters) {
  for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
    Operation *next = op->getNextNode();
    if (auto load = dyn_cast<LoadTileOp>(op)) {
      if (auto it = pipeOfLoad.find(load); it != pipeOfLoad.end())
        replace(load, counters[it->second]);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      insertInto(loop, counters);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      insertInto(loop, counters);
    } else if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
      insertInto(ifOp, counters);
    }
    op = next;
  }
}

LogicalResult RolePipeInserter::run() {
  if (schedule.getWarps() % kWarpgroupWarps != 0)
    return forall.emitOpError() << "expected warps to be a multiple of " << kWarpgroupWarps
                                << " with instruction = wgmma, got " << schedule.getWarps();
  if (schedule.getQStages() < schedule.getQParts())
    return forall.emitOpError() << "expected q_stages to be at least " << schedule.getQParts()
                                << ", one for each warpgroup, with q_by_warpgroup = true, got "
                                << schedule.getQStages();
  // Where tensor maps do not take Q, they do not take O.
  if (!schedule.copiesWithThreads())
    storeThroughQ();
  if (failed(createPipes()))
    return failure();
  if (pipes.empty())
    return success();
  b.setInsertionPointAfter(pipes.back().create);
  Value zero = arith::ConstantIndexOp::create(b, forall.getLoc(), 0);
  SmallVector<Value> counters(pipes.size(), zero);
  insertInto(*forall.getBody(), counters);
  return success();
}

LogicalResult attn::insertRolePipes(scf::ForallOp forall) { return RolePipeInserter(forall).run(); }
