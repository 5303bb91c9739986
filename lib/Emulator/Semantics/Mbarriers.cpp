//===- Mbarriers.cpp - mbarrier instructions ------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Semantics.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"
#include "attn/Emulator/Launch.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

/// Instructions whose first operand is an mbarrier.
class MbarrierInstruction : public Instruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *results) const final {
    if (predicate && !get<bool>(args, *predicate))
      return;
    Mbarrier *barrier = thread.cluster().mbarriers.find(thread, pointerAt(args, 0));
    if (!barrier)
      return;
    if (!isLocal() || thread.ownSharedAt(barrier->address))
      run(thread, *barrier, args, results);
  }
  unsigned cycles() const override { return 8; }

protected:
  /// Whether the barrier must be one of the thread's own CTA.
  virtual bool isLocal() const { return false; }
  virtual void run(Thread &thread, Mbarrier &barrier, const std::byte *args,
                   std::byte *results) const = 0;
  std::optional<size_t> predicate;
};

class Init : public Instruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    if (!predicate || get<bool>(args, *predicate))
      thread.cluster().mbarriers.init(thread, pointerAt(args, 0), get<uint32_t>(args, 8));
  }
  static DecodeResult decode(NVVM::MBarrierInitOp op) {
    auto init = std::make_unique<Init>();
    init->predicate = Operands<decltype(op)>(op).optional(2);
    return std::unique_ptr<Instruction>(std::move(init));
  }

private:
  std::optional<size_t> predicate;
};

class Invalidate : public Instruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    thread.cluster().mbarriers.invalidate(thread, pointerAt(args, 0));
  }
  static DecodeResult decode(NVVM::MBarrierInvalOp) { return makeInstruction<Invalidate>(); }
};

class Arrive : public MbarrierInstruction {
public:
  void run(Thread &thread, Mbarrier &barrier, const std::byte *args,
           std::byte *results) const override {
    uint64_t state = barrier.state();
    barrier.arrive(thread, count ? get<uint32_t>(args, *count) : 1, drop,
                   expectTx ? get<uint32_t>(args, *expectTx) : 0);
    if (hasResult)
      put(results, 0, state);
  }

  static DecodeResult decode(attn::nv::MBarrierArriveOp op) {
    Operands<decltype(op)> operands(op);
    auto arrive = std::make_unique<Arrive>();
    arrive->expectTx = operands.optional(1);
    arrive->predicate = operands.optional(2);
    return std::unique_ptr<Instruction>(std::move(arrive));
  }
  template <typename OpTy> static DecodeResult decodeArrive(OpTy op) {
    if (op.getRelaxed())
      return op.emitError() << "the emulator has no semantics for relaxed arrivals";
    auto arrive = std::make_unique<Arrive>();
    arrive->count = Operands<OpTy>(op).optional(1);
    arrive->drop = std::is_same_v<OpTy, NVVM::MBarrierArriveDropOp>;
    arrive->hasResult = op->getNumResults() != 0;
    return std::unique_ptr<Instruction>(std::move(arrive));
  }
  template <typename OpTy> static DecodeResult decodeExpectTx(OpTy op) {
    if (op.getRelaxed())
      return op.emitError() << "the emulator has no semantics for relaxed arrivals";
    Operands<OpTy> operands(op);
    auto arrive = std::make_unique<Arrive>();
    arrive->expectTx = operands.at(1);
    arrive->drop = std::is_same_v<OpTy, NVVM::MBarrierArriveDropExpectTxOp>;
    if constexpr (std::is_same_v<OpTy, NVVM::MBarrierArriveExpectTxOp>)
      arrive->predicate = operands.optional(2);
    arrive->hasResult = op->getNumResults() != 0;
    return std::unique_ptr<Instruction>(std::move(arrive));
  }

private:
  std::optional<size_t> count, expectTx;
  bool drop = false, hasResult = false;
};

/// Changes of the bytes that a phase waits for.
class TransactionCount : public MbarrierInstruction {
public:
  explicit TransactionCount(bool completes) : completes(completes) {}
  void run(Thread &thread, Mbarrier &barrier, const std::byte *args, std::byte *) const override {
    auto bytes = get<uint32_t>(args, 8);
    if (completes)
      barrier.completeTx(thread, bytes);
    else
      barrier.expectTx(thread, bytes);
  }
  static DecodeResult decodeExpect(NVVM::MBarrierExpectTxOp) {
    return makeInstruction<TransactionCount>(false);
  }
  static DecodeResult decodeComplete(NVVM::MBarrierCompleteTxOp) {
    return makeInstruction<TransactionCount>(true);
  }

private:
  bool completes;
};

class Wait : public MbarrierInstruction {
public:
  bool isLocal() const override { return true; }
  void run(Thread &thread, Mbarrier &barrier, const std::byte *args, std::byte *) const override {
    barrier.wait(thread, get<uint32_t>(args, 8));
  }
  static DecodeResult decode(attn::nv::MBarrierWaitOp) { return makeInstruction<Wait>(); }
};

/// One look at a phase, named by its parity or by a state that an arrival returned.
class TryWait : public MbarrierInstruction {
public:
  explicit TryWait(bool takesState) : takesState(takesState) {}
  bool isLocal() const override { return true; }
  void run(Thread &thread, Mbarrier &barrier, const std::byte *args,
           std::byte *results) const override {
    bool done = takesState ? barrier.isStateComplete(get<uint64_t>(args, 8))
                           : barrier.isComplete(get<uint32_t>(args, 8));
    put(results, 0, done);
    if (done)
      barrier.acquire(thread);
    else
      thread.yield();
  }
  template <typename OpTy> static DecodeResult decode(OpTy op) {
    if (op.getRelaxed())
      return op.emitError() << "the emulator has no semantics for relaxed waits";
    bool takesState = op.getStateOrPhase().getType().isInteger(64);
    return makeInstruction<TryWait>(takesState);
  }

private:
  bool takesState;
};

/// cp.async.mbarrier.arrive: arrives when all cp.async of the thread so far have landed.
class ArriveWhenCopied : public MbarrierInstruction {
public:
  explicit ArriveWhenCopied(bool counts) : counts(counts) {}
  void run(Thread &thread, Mbarrier &barrier, const std::byte *, std::byte *) const override {
    if (!counts)
      barrier.addPending(thread);
    auto arrival = std::make_shared<AsyncOp>(thread.site(), thread);
    arrival->move = [&barrier, copies = thread.copies.unfinished(), clocks = thread.clocks,
                     self = arrival.get()] {
      for (const AsyncOpPtr &copy : copies)
        copy->land();
      barrier.arriveAsync(*self, clocks, copies);
    };
    thread.tick();
    barrier.announce(arrival);
    thread.launch().engine.issue(std::move(arrival), /*wakes=*/true);
  }
  static DecodeResult decode(NVVM::CpAsyncMBarrierArriveOp op) {
    return makeInstruction<ArriveWhenCopied>(op.getNoinc());
  }

private:
  bool counts; ///< Among the arrivals that the barrier was initialized with.
};

} // namespace

void attn::emu::registerMbarriers(InstructionTable &table) {
  addOp<NVVM::MBarrierInitOp, Init::decode>(table);
  addOp<NVVM::MBarrierInvalOp, Invalidate::decode>(table);
  addOp<NVVM::MBarrierArriveOp, Arrive::decodeArrive<NVVM::MBarrierArriveOp>>(table);
  addOp<NVVM::MBarrierArriveDropOp, Arrive::decodeArrive<NVVM::MBarrierArriveDropOp>>(table);
  addOp<NVVM::MBarrierArriveExpectTxOp, Arrive::decodeExpectTx<NVVM::MBarrierArriveExpectTxOp>>(
      table);
  addOp<NVVM::MBarrierArriveDropExpectTxOp,
        Arrive::decodeExpectTx<NVVM::MBarrierArriveDropExpectTxOp>>(table);
  addOp<attn::nv::MBarrierArriveOp, Arrive::decode>(table);
  addOp<NVVM::MBarrierExpectTxOp, TransactionCount::decodeExpect>(table);
  addOp<NVVM::MBarrierCompleteTxOp, TransactionCount::decodeComplete>(table);
  addOp<attn::nv::MBarrierWaitOp, Wait::decode>(table);
  addOp<NVVM::MBarrierTryWaitOp, TryWait::decode<NVVM::MBarrierTryWaitOp>>(table);
  addOp<NVVM::MBarrierTestWaitOp, TryWait::decode<NVVM::MBarrierTestWaitOp>>(table);
  addOp<NVVM::CpAsyncMBarrierArriveOp, ArriveWhenCopied::decode>(table);
}
