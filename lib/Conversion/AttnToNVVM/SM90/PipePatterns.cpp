//===- PipePatterns.cpp - Pipes between roles as mbarriers ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage has two mbarriers. "full" completes a phase when the bytes of a tile have arrived, or
// every warp that copies it has seen its share arrive; "empty" when every warp that reads it is
// done with it. Tile number i lies in stage i mod n and completes phase i / n of both. A barrier is
// waited for by the parity of a phase; before its first phase, the parity of an odd one counts as
// complete, so that filling waits for nothing in the first round.
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

using namespace mlir;
using namespace attn;

void attn::createBarriers(ThreadBuilder &t, int64_t offset, int64_t stages, int64_t writers,
                          int64_t readers) {
  t.emitIf(t.equal(t.thread(), t.i32(0)), [&] {
    for (int64_t i = 0; i < 2 * stages; ++i)
      NVVM::MBarrierInitOp::create(t.b, t.loc, sharedPointer(t, t.i32(offset + 8 * i)),
                                   t.i32(i < stages ? writers : readers), Value());
  });
}

namespace {

struct LowerPipeCreate : TileOpPattern<PipeCreateOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(PipeCreateOp op, Adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset() || !op.getBarriers() || !op.getReaders())
      return op.emitOpError() << "has no offset, barriers or readers; run attn-insert-pipes and "
                                 "attn-allocate-smem first";
    if (*op.getOffset() % kSmemAlignment != 0)
      return op.emitOpError() << "expected offset to be a multiple of " << kSmemAlignment
                              << ", which the swizzle of boxes repeats at, got "
                              << int64_t(*op.getOffset());
    PipeType pipe = op.getPipe().getType();
    if (pipe.getParts() > 1 && pipe.getStageRows() != kWarpgroupRows)
      return op.emitOpError() << "expected parts of " << kWarpgroupRows
                              << " rows, those of a warpgroup, got " << pipe.getStageRows();
    // One thread announces what tensor maps bring.
    createBarriers(t, *op.getBarriers(), pipe.getStages(), op.getWriters().value_or(1),
                   *op.getReaders());
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>{t.i32(*op.getOffset()), t.i32(*op.getBarriers())}});
    return success();
  }
};

/// Copies of either kind arrive at the full barrier by themselves.
struct LowerPipeCommit : EffectPattern<PipeCommitOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeCommitOp, Adaptor, ThreadBuilder &) const override {}
};

struct LowerPipeWait : TileOpPattern<PipeWaitOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(PipeWaitOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    Stage stage(t, op, adaptor);
    stage.waitFull();
    rewriter.replaceOp(op, stage.buffer);
    return success();
  }
};

struct LowerPipeReady : EffectPattern<PipeReadyOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeReadyOp op, Adaptor adaptor, ThreadBuilder &t) const override {
    Stage(t, op, adaptor).waitFull();
  }
};

struct LowerPipeTile : TileOpPattern<PipeTileOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(PipeTileOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    Stage stage(t, op, adaptor);
    rewriter.replaceOp(op, stage.buffer);
    return success();
  }
};

struct LowerPipeRelease : EffectPattern<PipeReleaseOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeReleaseOp op, Adaptor adaptor, ThreadBuilder &t) const override {
    Stage(t, op, adaptor).release();
  }
};

} // namespace

void attn::populateSM90PipePatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerPipeCreate, LowerPipeCommit, LowerPipeWait, LowerPipeReady, LowerPipeTile,
               LowerPipeRelease>(converter, patterns.getContext());
}
