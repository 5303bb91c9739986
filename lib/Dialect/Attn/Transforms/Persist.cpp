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
  /// Sets of heads whose keys and values fit the cache together: `last` + 1 of them, the first
  /// `larger` of which have one group of heads more than the others, which have `groups` (i32).
  struct Sections {
    int64_t group = 1; ///< Query heads of a key/value head.
    Value groups, larger, last;
  };

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
  void makeSections();
  void bindInOrder(Value tile);
  void bindBySections(Value tile);

  scf::ForallOp forall;
  Location loc;
  OpBuilder b;
  SmallVector<Value> bounds;
  Sections sections;
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

/// How the heads are shared out among sections. Heads that share keys and values stay together.
void Persister::makeSections() {
  LoadTileOp loadK, loadV;
  Value q;
  forall.walk([&](TileMmaOp mma) {
    (mma.getTransposeB() ? loadK : loadV) = mma.getB().getDefiningOp<LoadTileOp>();
    if (auto loadQ = mma.getA().getDefiningOp<LoadTileOp>())
      q = loadQ.getSource();
  });
  Value one = constant(1);
  Value most = one;
  if (loadK && loadV && q) {
    auto typeOf = [](Value tensor) { return cast<MemRefType>(tensor.getType()); };
    MemRefType k = typeOf(loadK.getSource()), v = typeOf(loadV.getSource());
    int64_t rowBytes = (k.getShape().back() + v.getShape().back()) * k.getElementTypeBitWidth() / 8;
    int64_t headsQ = typeOf(q).getDimSize(2), headsKV = k.getDimSize(2);
    if (!ShapedType::isDynamic(headsQ) && !ShapedType::isDynamic(headsKV))
      sections.group = headsQ / headsKV;
    Value keys = narrow(memref::DimOp::create(b, loc, loadK.getSource(), 1));
    most = make<arith::MaxSIOp>(
        make<arith::DivUIOp>(constant(kSectionBytes / rowBytes), make<arith::MaxSIOp>(keys, one)),
        one);
  }
  Value heads = make<arith::MulIOp>(narrow(bounds[0]), narrow(bounds[1]));
  Value groups = make<arith::DivUIOp>(heads, constant(sections.group));
  Value count = make<arith::MaxSIOp>(make<arith::CeilDivUIOp>(groups, most), one);
  std::tie(sections.groups, sections.larger) = divide(groups, count);
  sections.last = make<arith::SubIOp>(count, one);
}

/// The heads of a section take turns, the place of the Q tile runs slowest in it. Sections run to
/// their short and to their long tiles in turn, the last one to its short ones: where lengths
/// jumped at the start of a section, the CTAs that count from that end would always get the longer
/// tiles.
void Persister::bindBySections(Value tile) {
  Value heads = narrow(bounds[1]), rows = narrow(bounds[2]);
  Value one = constant(1), zero = constant(0);
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  // The first sections have one group more.
  Value tilesOfGroup = make<arith::MulIOp>(rows, constant(sections.group));
  Value more = make<arith::AddIOp>(sections.groups, one);
  Value split = make<arith::MulIOp>(sections.larger, more);
  Value group = make<arith::DivUIOp>(tile, tilesOfGroup);
  Value isLarger = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, group, split);
  Value groupsHere = choose(isLarger, more, sections.groups);
  Value start = choose(isLarger, zero, split);
  Value number = make<arith::DivUIOp>(make<arith::SubIOp>(group, start), groupsHere);
  Value firstGroup = make<arith::AddIOp>(start, make<arith::MulIOp>(number, groupsHere));
  Value section = make<arith::AddIOp>(choose(isLarger, zero, sections.larger), number);

  Value inSection = make<arith::SubIOp>(tile, make<arith::MulIOp>(firstGroup, tilesOfGroup));
  auto [place, inRow] =
      divide(inSection, make<arith::MulIOp>(groupsHere, constant(sections.group)));
  Value odd = make<arith::AndIOp>(make<arith::SubIOp>(sections.last, section), one);
  Value backwards = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, odd, zero);
  Value lastRow = make<arith::SubIOp>(rows, one);
  Value firstHead = make<arith::MulIOp>(firstGroup, constant(sections.group));
  auto [batch, head] = divide(make<arith::AddIOp>(firstHead, inRow), heads);
  bind(0, batch);
  bind(1, head);
  bind(2, choose(backwards, make<arith::SubIOp>(lastRow, place), place));
}

/// Tiles by length are sorted in grids of batches, heads and Q tiles. Others have no tiles of many
/// lengths: a dim of one iteration is gone from the loop, so that three may also be parts of the
/// keys, batches and heads.
static bool sortsTiles(scf::ForallOp forall, ScheduleAttr schedule) {
  return schedule.getOrder() == TileOrder::LongestFirst && schedule.getSplitKv() == 1 &&
         forall.getRank() == 3;
}

void Persister::run(bool longestFirst) {
  for (OpFoldResult bound : forall.getMixedUpperBound())
    bounds.push_back(getValueOrCreateConstantIndexOp(b, loc, bound));
  Value tiles = bounds.front();
  for (Value bound : ArrayRef(bounds).drop_front())
    tiles = arith::MulIOp::create(b, loc, tiles, bound);
  Value ctas = NumCtasOp::create(b, loc, tiles);
  if (longestFirst)
    makeSections();
  auto grid =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{ctas}, ValueRange{}, std::nullopt);
  grid->setDiscardableAttrs(forall->getDiscardableAttrDictionary());
  b.setInsertionPoint(grid.getTerminator());
  Value cta = grid.getInductionVar(0);
  scf::ForOp loop = longestFirst ? alternating(cta, tiles, ctas) : inOrder(cta, tiles, ctas);
  if (longestFirst)
    bindBySections(tile);
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
      Persister(forall).run(sortsTiles(forall, wgmmaSchedule(forall)));
  }
};

} // namespace
