//===- CpAsyncFills.cpp - Fills of pipes by threads of the producer -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tensors that tensor maps do not take. The writers of a pipe copy a tile together, in units of
// as many bytes as addresses are multiples of, to where a tensor map would have put them. A warp
// waits until its share has landed, makes it visible to the asynchronous proxy, through which wgmma
// reads, and arrives on "full". So one tile of a pipe is on its way at a time; other warps copy
// those of other pipes beside it.
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

using namespace mlir;
using namespace attn;

namespace {

/// A pipe's writers, warps that lie behind those that compute.
class Writers {
public:
  Writers(ThreadBuilder &t, PipeCreateOp create, int64_t consumers)
      : t(t), warps(*create.getWriters()), firstWarp(consumers + *create.getFirstWriter()) {}

  int64_t threads() const { return warps * kWarpSize; }
  /// Number of the thread among them.
  Value thread() { return t.sub(t.thread(), t.i32(firstWarp * kWarpSize)); }
  void emitIfOneOfThem(function_ref<void()> body) {
    Value number = t.sub(t.warp(), t.i32(firstWarp));
    t.emitIf(arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ult, number, t.i32(warps)),
             body);
  }

private:
  ThreadBuilder &t;
  int64_t warps, firstWarp;
};

/// A fill's pattern knows the writers of its pipe.
template <typename OpTy> struct FillPattern : TileOpPattern<OpTy> {
  using Adaptor = typename TileOpPattern<OpTy>::Adaptor;

  FillPattern(TypeConverter &converter, MLIRContext *context, int64_t consumers)
      : TileOpPattern<OpTy>(converter, context), consumers(consumers) {}

  LogicalResult lower(OpTy op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const final {
    auto create = op.getPipe().template getDefiningOp<PipeCreateOp>();
    if (!create || !create.getWriters())
      return op.emitOpError() << "expected a pipe with writers with producer = cp_async; run "
                                 "attn-insert-pipes with the schedule that is converted";
    Writers writers(t, create, consumers);
    if (failed(fill(op, adaptor, t, writers)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  virtual LogicalResult fill(OpTy op, Adaptor adaptor, ThreadBuilder &t,
                             Writers &writers) const = 0;

private:
  int64_t consumers;
};

struct LowerPipeAcquire : FillPattern<PipeAcquireOp> {
  using FillPattern::FillPattern;
  LogicalResult fill(PipeAcquireOp op, Adaptor adaptor, ThreadBuilder &t,
                     Writers &writers) const override {
    if (!op.getSynced())
      writers.emitIfOneOfThem([&] { Stage(t, op, adaptor).waitEmpty(); });
    return success();
  }
};

/// How threads share a tile: neighbours take neighbouring units of a row of a box, which are as
/// many bytes as one copy moves.
struct CopyShape {
  CopyShape(PipeType pipe, int64_t alignment, int64_t threads)
      : unit(std::clamp(alignment, kMinAsyncBytes, kChunkBytes)),
        threadsPerRow(kBoxRowBytes / unit), rowsPerStep(threads / threadsPerRow),
        rowsPerRound(std::max(rowsPerStep, kSwizzleRows)), rows(pipe.getStageRows()),
        boxes(llvm::divideCeil(pipe.getTile().getCols(), kBoxColumns)) {}

  /// Rows after which the swizzle repeats.
  static constexpr int64_t kSwizzleRows = 8;

  int64_t unit, threadsPerRow, rowsPerStep, rowsPerRound, rows, boxes;
};

struct LowerCopyTile : FillPattern<CopyTileOp> {
  using FillPattern::FillPattern;

  LogicalResult fill(CopyTileOp op, Adaptor adaptor, ThreadBuilder &t,
                     Writers &writers) const override {
    int64_t alignment = op.getAlignment();
    CopyShape shape(op.getPipe().getType(), alignment, writers.threads());
    if (shape.rows % shape.rowsPerRound != 0)
      return op.emitOpError() << "expected tiles of a multiple of " << shape.rowsPerRound
                              << " rows, which the writers of the pipe copy at once, got "
                              << shape.rows;
    writers.emitIfOneOfThem([&] {
      Stage stage(t, op, adaptor);
      copy(op, adaptor, t, stage, shape, writers.thread());
      if (alignment >= kMinAsyncBytes) {
        NVVM::CpAsyncCommitGroupOp::create(t.b, t.loc);
        NVVM::CpAsyncWaitGroupOp::create(t.b, t.loc, 0U);
      }
      fenceAsyncProxy(t);
      // One arrival for the warp, after the fences of all its threads.
      t.warpBarrier();
      nv::MBarrierArriveOp::create(t.b, t.loc, stage.full, Value(), t.equal(t.lane(), t.i32(0)));
    });
    return success();
  }

private:
  /// Unit u of row r of a box lies in chunk c = u unit / 16, at byte
  /// r 128 + (c ^ (r mod 8)) 16 + u unit mod 16.
  static void copy(CopyTileOp op, Adaptor adaptor, ThreadBuilder &t, Stage &stage,
                   const CopyShape &shape, Value thread) {
    GlobalTensor tensor(t, op.getSource());
    Value firstRow = single(adaptor.getRow());
    Value base =
        tensor.rowPointer(t, single(adaptor.getBatch()), firstRow, single(adaptor.getHead()));
    Value limit = t.toI32(t.sub(t.toI64(single(adaptor.getLimit())), t.toI64(firstRow)));
    int64_t rowBytes =
        cast<MemRefType>(op.getSource().getType()).getShape().back() * tensor.elementBytes();

    Value threadRow = t.div(thread, shape.threadsPerRow);
    Value byte = t.mul(t.rem(thread, shape.threadsPerRow), shape.unit);
    Value rowStride = tensor.rowStride(t), stepBytes = t.mul(rowStride, shape.rowsPerStep);
    Value source = t.offset(base, t.add(t.mul(t.toI64(threadRow), rowStride), t.toI64(byte)));
    Value chunk =
        t.bitXor(t.div(byte, kChunkBytes), t.bitAnd(threadRow, CopyShape::kSwizzleRows - 1));
    Value swizzled = t.mul(chunk, kChunkBytes), inChunk = t.rem(byte, kChunkBytes);
    Value target = t.add(stage.buffer, t.add(t.mul(threadRow, kBoxRowBytes), inChunk));

    auto rounds = scf::ForOp::create(t.b, t.loc, t.i32(0), t.i32(shape.rows),
                                     t.i32(shape.rowsPerRound), ValueRange{source});
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(rounds.getBody());
    Value round = rounds.getInductionVar();
    source = rounds.getRegionIterArg(0);
    for (int64_t step = 0; step < shape.rowsPerRound; step += shape.rowsPerStep) {
      Value inside = t.lessThan(t.add(t.add(round, threadRow), step), limit);
      // Rows of a step differ in the low bits, steps of a round in those above.
      Value inRow = t.bitXor(swizzled, t.i32(step % CopyShape::kSwizzleRows * kChunkBytes));
      Value row = t.add(t.add(target, t.mul(t.add(round, step), kBoxRowBytes)), inRow);
      for (int64_t box = 0; box < shape.boxes; ++box) {
        Value valid = inside;
        if (int64_t bytes = rowBytes - box * kBoxRowBytes; bytes < kBoxRowBytes)
          valid = arith::AndIOp::create(t.b, t.loc, inside, t.lessThan(byte, t.i32(bytes)));
        copyToShared(t, t.offset(source, t.i64(box * kBoxRowBytes)),
                     sharedPointer(t, t.add(row, box * shape.rows * kBoxRowBytes)), valid,
                     shape.unit, op.getAlignment());
      }
      source = t.offset(source, stepBytes);
    }
    scf::YieldOp::create(t.b, t.loc, source);
  }
};

} // namespace

void attn::populateSM90CpAsyncFills(TypeConverter &converter, RewritePatternSet &patterns,
                                    int64_t consumers) {
  patterns.add<LowerPipeAcquire, LowerCopyTile>(converter, patterns.getContext(), consumers);
}
