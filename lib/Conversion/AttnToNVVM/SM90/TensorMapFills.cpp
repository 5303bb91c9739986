//===- TensorMapFills.cpp - Fills of pipes by tensor maps -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

using namespace mlir;
using namespace attn;

namespace {

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
      nv::MBarrierArriveOp::create(t.b, t.loc, stage.full, t.i32(stageBytes(pipe)), Value());
      for (int64_t box = 0; box < boxes; ++box) {
        Value target = t.offset(sharedPointer(t, stage.buffer), box * stageBytes(pipe) / boxes);
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

} // namespace

void attn::populateSM90TensorMapFills(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerPipeAcquire, LowerCopyTile>(converter, patterns.getContext());
}
