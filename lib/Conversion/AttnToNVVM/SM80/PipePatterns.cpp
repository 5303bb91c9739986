//===- PipePatterns.cpp - Pipes as cp.async groups and CTA barriers -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Patterns.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

using namespace mlir;
using namespace attn;

static int64_t elementBytesOf(TileType tile) {
  return tile.getElementType().getIntOrFloatBitWidth() / 8;
}

/// Offset of the stage of an iteration: base + (iteration mod stages) * bytes of a tile.
static Value stageOffset(ThreadBuilder &t, PipeType pipe, Value base, Value iteration) {
  if (pipe.getStages() == 1)
    return base;
  TileType tile = pipe.getTile();
  int64_t bytes = sharedTileBytes(tile.getRows(), tile.getCols(), elementBytesOf(tile));
  Value stage = t.rem(t.toI32(iteration), pipe.getStages());
  return t.add(base, t.mul(stage, bytes));
}

namespace {

struct LowerPipeCreate : TileOpPattern<PipeCreateOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(PipeCreateOp op, Adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return op.emitOpError() << "has no offset; run attn-allocate-smem first";
    rewriter.replaceOp(op, t.i32(*op.getOffset()));
    return success();
  }
};

struct LowerPipeAcquire : EffectPattern<PipeAcquireOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeAcquireOp op, Adaptor, ThreadBuilder &t) const override {
    if (!op.getSynced())
      t.barrier();
  }
};

struct LowerPipeCommit : EffectPattern<PipeCommitOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeCommitOp, Adaptor, ThreadBuilder &t) const override {
    NVVM::CpAsyncCommitGroupOp::create(t.b, t.loc);
  }
};

struct LowerPipeWait : TileOpPattern<PipeWaitOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(PipeWaitOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    // This thread's copies have landed; the barrier makes every thread's visible.
    NVVM::CpAsyncWaitGroupOp::create(t.b, t.loc, static_cast<uint32_t>(op.getPending()));
    t.barrier();
    rewriter.replaceOp(op, stageOffset(t, op.getPipe().getType(), single(adaptor.getPipe()),
                                       single(adaptor.getIteration())));
    return success();
  }
};

struct LowerPipeRelease : EffectPattern<PipeReleaseOp> {
  using EffectPattern::EffectPattern;
  void emit(PipeReleaseOp, Adaptor, ThreadBuilder &) const override {
    // The barrier of the next wait says it for all threads.
  }
};

/// How the threads of a CTA share the 16-byte chunks of a tile: `threadsPerRow`
/// neighbouring threads take neighbouring chunks of one row.
struct CopyShape {
  CopyShape(TileType tile, int64_t threads) {
    chunksPerRow = tile.getCols() * elementBytesOf(tile) / kChunkBytes;
    // The largest power of two that divides a row, at most one 128-byte line.
    threadsPerRow = 1;
    while (threadsPerRow < 8 && chunksPerRow % (2 * threadsPerRow) == 0)
      threadsPerRow *= 2;
    rowsPerStep = threads / threadsPerRow;
    rows = tile.getRows();
  }
  int64_t chunksPerRow, threadsPerRow, rowsPerStep, rows;
};

struct LowerCopyTile : TileOpPattern<CopyTileOp> {
  LowerCopyTile(TypeConverter &converter, MLIRContext *context, int64_t threads)
      : TileOpPattern(converter, context), threads(threads) {}

  LogicalResult lower(CopyTileOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    PipeType pipe = op.getPipe().getType();
    TileType tile = pipe.getTile();
    auto layout = cast<SharedLayoutAttr>(tile.getLayout());
    GlobalTensor tensor(t, op.getSource());
    int64_t headDim = cast<MemRefType>(op.getSource().getType()).getShape().back();
    int64_t validChunks = headDim * elementBytesOf(tile) / kChunkBytes;
    CopyShape shape(tile, threads);

    Value firstRow = single(adaptor.getRow());
    Value base =
        tensor.rowPointer(t, single(adaptor.getBatch()), firstRow, single(adaptor.getHead()));
    Value stage = stageOffset(t, pipe, single(adaptor.getPipe()), single(adaptor.getIteration()));
    Value limit = t.toI32(t.sub(t.toI64(single(adaptor.getLimit())), t.toI64(firstRow)));
    Value threadRow = t.div(t.thread(), shape.threadsPerRow);
    Value threadChunk = t.rem(t.thread(), shape.threadsPerRow);
    Value rowStride = tensor.rowStride(t);
    Value source = t.offset(base, t.add(t.mul(t.toI64(threadRow), rowStride),
                                        t.toI64(t.mul(threadChunk, kChunkBytes))));
    // One running pointer: a multiple of the stride for each step would cost registers.
    Value stepBytes = t.mul(rowStride, shape.rowsPerStep);

    for (int64_t step = 0; step < shape.rows; step += shape.rowsPerStep) {
      Value row = t.add(threadRow, step);
      auto copyRow = [&] {
        Value inside = t.lessThan(row, limit);
        for (int64_t chunk = 0; chunk < shape.chunksPerRow; chunk += shape.threadsPerRow) {
          Value tileChunk = t.add(threadChunk, chunk);
          Value valid = inside;
          if (chunk + shape.threadsPerRow > validChunks)
            valid =
                arith::AndIOp::create(t.b, t.loc, valid, t.lessThan(tileChunk, t.i32(validChunks)));
          Value target = sharedPointer(t, sharedChunkOffset(t, layout, row, tileChunk), stage);
          copyToShared(t, t.offset(source, t.i64(chunk * kChunkBytes)), target, valid, kChunkBytes,
                       op.getAlignment());
        }
      };
      if (step != 0)
        source = t.offset(source, stepBytes);
      if (step + shape.rowsPerStep <= shape.rows) {
        copyRow();
        continue;
      }
      t.emitIf(t.lessThan(row, t.i32(shape.rows)), copyRow);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  int64_t threads;
};

} // namespace

void attn::populateSM80PipePatterns(TypeConverter &converter, RewritePatternSet &patterns,
                                    int64_t threads) {
  patterns.add<LowerPipeCreate, LowerPipeAcquire, LowerPipeCommit, LowerPipeWait, LowerPipeRelease>(
      converter, patterns.getContext());
  patterns.add<LowerCopyTile>(converter, patterns.getContext(), threads);
}
