//===- MailboxPatterns.cpp - Messages between roles -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

using namespace mlir;
using namespace attn;

namespace {

/// The stage of a mailbox that an op is about.
class Slot : public StageBarriers {
public:
  template <typename OpTy, typename Adaptor>
  Slot(ThreadBuilder &t, OpTy op, Adaptor adaptor)
      : StageBarriers(t, barriersOf(t, op, adaptor), adaptor.getIteration().front(), stagesOf(op)),
        message(t.add(adaptor.getMailbox().front(), t.mul(stage, kChunkBytes))) {}

  Value number(int64_t i) { return sharedPointer(t, t.add(message, i * kNumberBytes)); }

  static constexpr int64_t kNumberBytes = 4;

private:
  template <typename OpTy> static int64_t stagesOf(OpTy op) {
    return op.getMailbox().getType().getStages();
  }
  /// The barriers follow the messages.
  template <typename OpTy, typename Adaptor>
  static Value barriersOf(ThreadBuilder &t, OpTy op, Adaptor adaptor) {
    return t.add(adaptor.getMailbox().front(), stagesOf(op) * kChunkBytes);
  }

  Value message;
};

struct LowerMailboxCreate : TileOpPattern<MailboxCreateOp> {
  LowerMailboxCreate(const TypeConverter &converter, MLIRContext *context, int64_t consumers)
      : TileOpPattern(converter, context), consumers(consumers) {}

  LogicalResult lower(MailboxCreateOp op, Adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return op.emitOpError() << "has no offset; run attn-allocate-smem first";
    if (int64_t(op.getReaders()) != consumers)
      return op.emitOpError() << "expected the " << consumers
                              << " consumer warps of the schedule as readers, got "
                              << op.getReaders();
    int64_t stages = op.getMailbox().getType().getStages();
    createBarriers(t, *op.getOffset() + stages * kChunkBytes, stages, /*writers=*/1,
                   op.getReaders() * kWarpSize);
    rewriter.replaceOp(op, t.i32(*op.getOffset()));
    return success();
  }

private:
  int64_t consumers;
};

struct LowerMailboxPut : TileOpPattern<MailboxPutOp> {
  LowerMailboxPut(const TypeConverter &converter, MLIRContext *context, int64_t consumers)
      : TileOpPattern(converter, context), consumers(consumers) {}

  LogicalResult lower(MailboxPutOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    t.emitIf(t.equal(t.warp(), t.i32(consumers)), [&] {
      Slot slot(t, op, adaptor);
      slot.waitEmpty();
      t.emitIf(t.equal(t.lane(), t.i32(0)), [&] {
        for (auto [i, value] : llvm::enumerate(adaptor.getValues()))
          t.store(t.toI32(single(value)), slot.number(i), Slot::kNumberBytes);
        nv::MBarrierArriveOp::create(t.b, t.loc, slot.full, Value(), Value());
      });
    });
    rewriter.eraseOp(op);
    return success();
  }

private:
  int64_t consumers;
};

/// Every lane reads, and says for itself that it has. The barrier orders nothing: only of a warp
/// that stands together does ptxas see that the numbers are equal in all lanes, and keeps them, and
/// what follows from them, in uniform registers.
struct LowerMailboxGet : TileOpPattern<MailboxGetOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(MailboxGetOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    Slot slot(t, op, adaptor);
    slot.waitFull();
    SmallVector<Value> values;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      values.push_back(t.load(t.b.getI32Type(), slot.number(i), Slot::kNumberBytes));
    nv::MBarrierArriveOp::create(t.b, t.loc, slot.empty, Value(), Value());
    t.warpBarrier();
    for (Value &value : values)
      value = t.toIndex(t.broadcast(value));
    rewriter.replaceOp(op, values);
    return success();
  }
};

} // namespace

void attn::populateSM90MailboxPatterns(TypeConverter &converter, RewritePatternSet &patterns,
                                       int64_t consumers) {
  patterns.add<LowerMailboxGet>(converter, patterns.getContext());
  patterns.add<LowerMailboxCreate, LowerMailboxPut>(converter, patterns.getContext(), consumers);
}
