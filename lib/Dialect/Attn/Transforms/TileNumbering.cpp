//===- TileNumbering.cpp - Which Q tile has which number ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileNumbering.h"

#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/Utils/StaticValueUtils.h>

using namespace mlir;
using namespace attn;

/// Bytes of K and V that a section of heads may have: they stay in the L2 cache with room for Q
/// and O.
static constexpr int64_t kSectionBytes = int64_t(32) << 20;

/// Tiles by length are sorted in grids of batches, heads and Q tiles. Others have no tiles of many
/// lengths: a dim of one iteration is gone from the loop, so that three may also be parts of the
/// keys, batches and heads.
TileNumbering::TileNumbering(OpBuilder &b, scf::ForallOp tiles, ScheduleAttr schedule)
    : b(b), loc(tiles.getLoc()), tiles(tiles),
      sorted(schedule.getOrder() == TileOrder::LongestFirst && schedule.getSplitKv() == 1 &&
             tiles.getRank() == 3) {
  for (OpFoldResult bound : tiles.getMixedUpperBound())
    bounds.push_back(getValueOrCreateConstantIndexOp(b, loc, bound));
}

Value TileNumbering::count() {
  Value product = bounds.front();
  for (Value bound : ArrayRef(bounds).drop_front())
    product = arith::MulIOp::create(b, loc, product, bound);
  return product;
}

/// The last id runs fastest.
SmallVector<Value> TileNumbering::idsInOrder(Value tile) {
  SmallVector<Value> ids(bounds.size());
  for (unsigned i = bounds.size() - 1; i > 0; --i)
    std::tie(tile, ids[i]) = divide(tile, narrow(bounds[i]));
  ids.front() = tile;
  return ids;
}

/// How the heads are shared out among sections. Heads that share keys and values stay together.
void TileNumbering::prepare() {
  if (!sorted)
    return;
  LoadTileOp loadK, loadV;
  Value q;
  tiles.walk([&](TileMmaOp mma) {
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
SmallVector<Value> TileNumbering::idsBySections(Value tile) {
  Value heads = narrow(bounds[1]), rows = narrow(bounds[2]);
  Value one = constant(1), zero = constant(0);
  // The first sections have one group more.
  Value tilesOfGroup = make<arith::MulIOp>(rows, constant(sections.group));
  Value more = make<arith::AddIOp>(sections.groups, one);
  Value split = make<arith::MulIOp>(sections.larger, more);
  Value group = make<arith::DivUIOp>(tile, tilesOfGroup);
  Value isLarger = compare(arith::CmpIPredicate::ult, group, split);
  Value groupsHere = choose(isLarger, more, sections.groups);
  Value start = choose(isLarger, zero, split);
  Value number = make<arith::DivUIOp>(make<arith::SubIOp>(group, start), groupsHere);
  Value firstGroup = make<arith::AddIOp>(start, make<arith::MulIOp>(number, groupsHere));
  Value section = make<arith::AddIOp>(choose(isLarger, zero, sections.larger), number);

  Value inSection = make<arith::SubIOp>(tile, make<arith::MulIOp>(firstGroup, tilesOfGroup));
  auto [row, inRow] = divide(inSection, make<arith::MulIOp>(groupsHere, constant(sections.group)));
  Value odd = make<arith::AndIOp>(make<arith::SubIOp>(sections.last, section), one);
  Value backwards = compare(arith::CmpIPredicate::ne, odd, zero);
  Value lastRow = make<arith::SubIOp>(rows, one);
  Value firstHead = make<arith::MulIOp>(firstGroup, constant(sections.group));
  auto [batch, head] = divide(make<arith::AddIOp>(firstHead, inRow), heads);
  return {batch, head, choose(backwards, make<arith::SubIOp>(lastRow, row), row)};
}
