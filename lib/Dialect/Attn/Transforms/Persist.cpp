//===- Persist.cpp - CTAs that take tiles until there are none left -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/Utils/StaticValueUtils.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNPERSIST
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// Bytes of K and V that a section of heads may have: they stay in the L2 cache with room for Q
/// and O.
static constexpr int64_t kSectionBytes = int64_t(32) << 20;

namespace {

/// Rewrites the loop over CTAs
///   forall (ids) in (bounds) { body }
/// to
///   forall (cta) in (n = num_ctas(tiles)) { for tiles of cta { ids of tile; body } }
class Persister {
public:
  explicit Persister(scf::ForallOp forall) : forall(forall), loc(forall.getLoc()), b(forall) {}
  void run(bool longestFirst);

private:
  /// Numbers of tiles are smaller than 2^31, and division costs by the bit.
  Value narrow(Value value) { return arith::IndexCastOp::create(b, loc, b.getI32Type(), value); }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); }
  template <typename OpTy> Value make(Value x, Value y) { return OpTy::create(b, loc, x, y); }
  void bind(unsigned i, Value id) {
    Value wide = arith::IndexCastOp::create(b, loc, b.getIndexType(), id);
    forall.getInductionVar(i).replaceAllUsesWith(wide);
  }
  /// Splits x by y into a quotient and what is left.
  std::pair<Value, Value> divide(Value x, Value y) {
    return {make<arith::DivUIOp>(x, y), make<arith::RemUIOp>(x, y)};
  }

  scf::ForOp inOrder(Value cta, Value tiles, Value ctas);
  scf::ForOp alternating(Value cta, Value tiles, Value ctas);
  Value headsOfSection();
  void bindInOrder(Value tile);
  void bindBySections(Value tile, Value headsOfSection);

  scf::ForallOp forall;
  Location loc;
  OpBuilder b;
  SmallVector<Value> bounds;
  /// In the body of the loop over the CTA's tiles: the tile's number (i32).
  Value tile;
};

} // namespace

/// Every n-th tile.
scf::ForOp Persister::inOrder(Value cta, Value tiles, Value ctas) {
  auto loop = scf::ForOp::create(b, loc, cta, tiles, ctas);
  b.setInsertionPointToStart(loop.getBody());
  tile = narrow(loop.getInductionVar());
  return loop;
}

/// One of every n tiles, counted from the front and from the back in turn: tiles become shorter
/// in their order, and no CTA gets the longest of every n.
scf::ForOp Persister::alternating(Value cta, Value tiles, Value ctas) {
  Value n = narrow(ctas), place = narrow(cta), one = constant(1), zero = constant(0);
  Value mirrored = make<arith::SubIOp>(make<arith::SubIOp>(n, one), place);
  auto placeInRound = [&](Value round) -> Value {
    Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                      make<arith::AndIOp>(round, one), zero);
    return arith::SelectOp::create(b, loc, odd, mirrored, place);
  };
  auto [rounds, left] = divide(narrow(tiles), n);
  Value another =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, placeInRound(rounds), left);
  rounds = make<arith::AddIOp>(rounds, arith::SelectOp::create(b, loc, another, one, zero));
  Value upper = arith::IndexCastOp::create(b, loc, b.getIndexType(), rounds);
  auto loop = scf::ForOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, 0), upper,
                                 arith::ConstantIndexOp::create(b, loc, 1));
  b.setInsertionPointToStart(loop.getBody());
  Value round = narrow(loop.getInductionVar());
  tile = make<arith::AddIOp>(make<arith::MulIOp>(round, n), placeInRound(round));
  return loop;
}

/// The last id runs fastest.
void Persister::bindInOrder(Value tile) {
  for (unsigned i = bounds.size() - 1; i > 0; --i) {
    auto [rest, id] = divide(tile, narrow(bounds[i]));
    bind(i, id);
    tile = rest;
  }
  bind(0, tile);
}

/// Query heads whose keys and values fit the cache together (i32), all that share them.
Value Persister::headsOfSection() {
  LoadTileOp loadK, loadV;
  Value q;
  forall.walk([&](TileMmaOp mma) {
    (mma.getTransposeB() ? loadK : loadV) = mma.getB().getDefiningOp<LoadTileOp>();
    if (auto loadQ = mma.getA().getDefiningOp<LoadTileOp>())
      q = loadQ.getSource();
  });
  if (!loadK || !loadV || !q)
    return constant(1);
  auto typeOf = [](Value tensor) { return cast<MemRefType>(tensor.getType()); };
  MemRefType k = typeOf(loadK.getSource()), v = typeOf(loadV.getSource());
  int64_t rowBytes = (k.getShape().back() + v.getShape().back()) * k.getElementTypeBitWidth() / 8;
  int64_t headsQ = typeOf(q).getDimSize(2), headsKV = k.getDimSize(2);
  bool grouped = !ShapedType::isDynamic(headsQ) && !ShapedType::isDynamic(headsKV);
  Value one = constant(1);
  Value keys = narrow(memref::DimOp::create(b, loc, loadK.getSource(), 1));
  Value heads =
      make<arith::DivUIOp>(constant(kSectionBytes / rowBytes), make<arith::MaxSIOp>(keys, one));
  return make<arith::MulIOp>(make<arith::MaxSIOp>(heads, one),
                             constant(grouped ? headsQ / headsKV : 1));
}

/// The heads of a section take turns, the place of the Q tile runs slowest in it.
void Persister::bindBySections(Value tile, Value headsOfSection) {
  Value heads = narrow(bounds[1]), rows = narrow(bounds[2]);
  Value allHeads = make<arith::MulIOp>(narrow(bounds[0]), heads);
  auto [section, inSection] = divide(tile, make<arith::MulIOp>(headsOfSection, rows));
  Value firstHead = make<arith::MulIOp>(section, headsOfSection);
  Value headsHere = make<arith::MinSIOp>(headsOfSection, make<arith::SubIOp>(allHeads, firstHead));
  auto [row, inRow] = divide(inSection, headsHere);
  auto [batch, head] = divide(make<arith::AddIOp>(firstHead, inRow), heads);
  bind(0, batch);
  bind(1, head);
  bind(2, row);
}

void Persister::run(bool longestFirst) {
  for (OpFoldResult bound : forall.getMixedUpperBound())
    bounds.push_back(getValueOrCreateConstantIndexOp(b, loc, bound));
  longestFirst &= bounds.size() == 3;
  Value tiles = bounds.front();
  for (Value bound : ArrayRef(bounds).drop_front())
    tiles = arith::MulIOp::create(b, loc, tiles, bound);
  Value ctas = NumCtasOp::create(b, loc, tiles);
  Value section = longestFirst ? headsOfSection() : Value();
  auto grid =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{ctas}, ValueRange{}, std::nullopt);
  grid->setDiscardableAttrs(forall->getDiscardableAttrDictionary());
  b.setInsertionPoint(grid.getTerminator());
  Value cta = grid.getInductionVar(0);
  scf::ForOp loop = longestFirst ? alternating(cta, tiles, ctas) : inOrder(cta, tiles, ctas);
  if (longestFirst)
    bindBySections(tile, section);
  else
    bindInOrder(tile);
  forall.getTerminator()->erase();
  loop.getBody()->getOperations().splice(loop.getBody()->getTerminator()->getIterator(),
                                         forall.getBody()->getOperations());
  forall.erase();
}

namespace {

struct Persist : attn::impl::AttnPersistBase<Persist> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> grids;
    getOperation().walk([&](scf::ForallOp forall) {
      ScheduleAttr schedule = wgmmaSchedule(forall);
      if (schedule && schedule.getPersistent() == Persistence::Static)
        grids.push_back(forall);
    });
    for (scf::ForallOp forall : grids)
      Persister(forall).run(wgmmaSchedule(forall).getOrder() == TileOrder::LongestFirst);
  }
};

} // namespace
