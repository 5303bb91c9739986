//===- PipePatterns.cpp - Pipes as mbarriers and tensor-map copies --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage has two mbarriers. "full" completes a phase when the bytes of a tile have arrived;
// "empty" when every warp that reads it is done with it. Tile number i lies in stage
// i mod n and completes phase i / n of both. A barrier is waited for by the parity of a phase;
// before its first phase, the parity of an odd one counts as complete, so that filling waits
// for nothing in the first round.
//
//===----------------------------------------------------------------------===//

#include "Roles.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"

using namespace mlir;
using namespace attn;

static int64_t tileBytes(PipeType pipe) {
  return boxedTileBytes(pipe.getTile().getRows(), pipe.getTile().getCols());
}

namespace {

/// The stage of a pipe that an op is about: the buffer's offset, the addresses of its barriers.
class Stage {
public:
  template <typename OpTy, typename Adaptor>
  Stage(ThreadBuilder &t, OpTy op, Adaptor adaptor) : t(t) {
    PipeType pipe = op.getPipe().getType();
    // The offsets of the pipe's buffers and of its barriers.
    ValueRange converted = adaptor.getPipe();
    Value counter = t.toI32(adaptor.getIteration().front());
    int64_t stages = pipe.getStages();
    Value stage = t.rem(counter, stages);
    buffer = t.add(converted[0], t.mul(stage, tileBytes(pipe)));
    full = sharedPointer(t, t.add(converted[1], t.mul(stage, 8)));
    empty = t.offset(full, 8 * stages);
    parity = t.bitAnd(t.div(counter, stages), 1);
  }

  void waitFull() { nv::MBarrierWaitOp::create(t.b, t.loc, full, parity, UnitAttr()); }
  void waitEmpty() {
    nv::MBarrierWaitOp::create(t.b, t.loc, empty, t.bitXor(parity, t.i32(1)), UnitAttr());
  }

  Value buffer, full, empty, parity;

private:
  ThreadBuilder &t;
};

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
    int64_t stages = op.getPipe().getType().getStages();
    t.emitIf(t.equal(t.thread(), t.i32(0)), [&] {
      for (int64_t i = 0; i < 2 * stages; ++i)
        NVVM::MBarrierInitOp::create(t.b, t.loc, sharedPointer(t, t.i32(*op.getBarriers() + 8 * i)),
                                     t.i32(i < stages ? 1 : int64_t(*op.getReaders())), Value());
    });
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>{t.i32(*op.getOffset()), t.i32(*op.getBarriers())}});
    return success();
  }
};

struct LowerPipeAcquire : EffectPattern<PipeAcquireOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeAcquireOp op, Adaptor adaptor, ThreadBuilder &t) const override {
    if (!op.getSynced())
      Stage(t, op, adaptor).waitEmpty();
  }
};

/// One thread starts one copy for each box of 64 columns; the barrier counts the bytes of all, also
/// those that lie outside the tensor and arrive as zeros.
struct LowerCopyTile : TileOpPattern<CopyTileOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(CopyTileOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getMap().empty())
      return op.emitOpError() << "has no tensor map; run attn-assign-tensor-maps first";
    if (int64_t columns = op.getMap().getType().getCols(); columns != kBoxColumns)
      return op.emitOpError() << "expected a map of boxes of " << kBoxColumns
                              << " columns, whose bytes the barrier counts, got " << columns;
    PipeType pipe = op.getPipe().getType();
    Stage stage(t, op, adaptor);
    int64_t boxes = llvm::divideCeil(pipe.getTile().getCols(), kBoxColumns);
    Value row = t.toI32(single(adaptor.getRow())), head = t.toI32(single(adaptor.getHead())),
          batch = t.toI32(single(adaptor.getBatch()));
    Value elected = NVVM::ElectSyncOp::create(t.b, t.loc, t.b.getI1Type(), Value());
    t.emitIf(elected, [&] {
      nv::MBarrierArriveOp::create(t.b, t.loc, stage.full, t.i32(tileBytes(pipe)), Value());
      for (int64_t box = 0; box < boxes; ++box) {
        Value target = t.offset(sharedPointer(t, stage.buffer), box * tileBytes(pipe) / boxes);
        SmallVector<Value> place = {t.i32(box * kBoxColumns), row, head, batch};
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            t.b, t.loc, t.clusterPointer(target), single(adaptor.getMap()), place, stage.full,
            ValueRange(), Value(), Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
            NVVM::CTAGroupKindAttr(), Value());
      }
    });
    rewriter.eraseOp(op);
    return success();
  }
};

/// The copies count themselves.
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

/// One arrival a warp. The predicate is the instruction's, so that the warp stays together.
struct LowerPipeRelease : EffectPattern<PipeReleaseOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeReleaseOp op, Adaptor adaptor, ThreadBuilder &t) const override {
    Stage stage(t, op, adaptor);
    nv::MBarrierArriveOp::create(t.b, t.loc, stage.empty, Value(), t.equal(t.lane(), t.i32(0)));
  }
};

} // namespace

void attn::populateSM90PipePatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerPipeCreate, LowerPipeAcquire, LowerCopyTile, LowerPipeCommit, LowerPipeWait,
               LowerPipeReady, LowerPipeTile, LowerPipeRelease>(converter, patterns.getContext());
}
