//===- SplitMaskRanges.cpp - Peels masked tiles out of K/V loops ----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/Dialect/Utils/StaticValueUtils.h>
#include <mlir/IR/IRMapping.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNSPLITMASKRANGES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

/// Bounds of the loop over tiles that need no mask: multiples of the tile's rows in
/// [lo, hi]. `noLeftPart` says that begin is the loop's own lower bound.
struct FullTiles {
  Value begin;
  Value end;
  bool noLeftPart;
};

} // namespace

static FullTiles computeFullTiles(scf::ForOp loop, MaskScoresOp mask, OpBuilder &b) {
  Location loc = mask.getLoc();
  MaskContext ctx(b, loc, mask.getSeqLenQ(), mask.getSeqLenKv(), mask.getMaskArgs());
  Value rows = ctx.constant(mask.getScores().getType().getRows());
  Value rowEnd = ctx.min(ctx.add(mask.getRow(), rows), ctx.seqLenQ);
  KeyRange full = mask.getMask().fullRange(ctx, mask.getRow(), rowEnd);
  full.end = ctx.min(full.end, ctx.seqLenKV);

  Value step = loop.getStep(), lower = loop.getLowerBound(), zero = ctx.constant(0);
  FullTiles tiles;
  tiles.noLeftPart = isZeroInteger(full.begin);
  if (tiles.noLeftPart) {
    tiles.begin = lower;
  } else {
    // First tile that starts at or after the range: ceil(max(begin, lo) / rows) * rows.
    Value first = arith::CeilDivUIOp::create(b, loc, ctx.max(full.begin, lower), step);
    tiles.begin = arith::MulIOp::create(b, loc, first, step);
  }
  // Last tile boundary inside the range: floor(min(end, hi) / rows) * rows.
  Value last = ctx.max(ctx.min(full.end, loop.getUpperBound()), zero);
  last = arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, last, step), step);
  tiles.end = ctx.max(last, tiles.begin);
  return tiles;
}

/// A copy of `loop` over other bounds that starts from `init`.
static scf::ForOp cloneLoop(OpBuilder &b, scf::ForOp loop, Value lower, Value upper,
                            ValueRange init, StringRef maskClass) {
  IRMapping mapping;
  auto copy = cast<scf::ForOp>(b.clone(*loop, mapping));
  copy.getLowerBoundMutable().assign(lower);
  copy.getUpperBoundMutable().assign(upper);
  copy.getInitArgsMutable().assign(init);
  copy->setAttr(kMaskClassAttr, b.getStringAttr(maskClass));
  return copy;
}

static void splitLoop(scf::ForOp loop) {
  auto masks = loop.getBody()->getOps<MaskScoresOp>();
  if (masks.empty() || loop->hasAttr(kMaskClassAttr))
    return;
  OpBuilder b(loop);
  FullTiles tiles = computeFullTiles(loop, *masks.begin(), b);
  MaskContext ctx(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), {});

  ValueRange carried = loop.getInitArgs();
  if (!tiles.noLeftPart) {
    Value leftEnd = ctx.min(tiles.begin, loop.getUpperBound());
    carried = cloneLoop(b, loop, loop.getLowerBound(), leftEnd, carried, "masked").getResults();
  }
  scf::ForOp full = cloneLoop(b, loop, tiles.begin, tiles.end, carried, "full");
  for (MaskScoresOp mask : llvm::make_early_inc_range(full.getBody()->getOps<MaskScoresOp>())) {
    mask.getResult().replaceAllUsesWith(mask.getScores());
    mask.erase();
  }
  scf::ForOp right =
      cloneLoop(b, loop, tiles.end, loop.getUpperBound(), full.getResults(), "masked");
  loop.replaceAllUsesWith(right.getResults());
  loop.erase();
}

namespace {

struct SplitMaskRanges : attn::impl::AttnSplitMaskRangesBase<SplitMaskRanges> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(kKVPassAttr))
        loops.push_back(loop);
    });
    llvm::for_each(loops, splitLoop);
  }
};

} // namespace
