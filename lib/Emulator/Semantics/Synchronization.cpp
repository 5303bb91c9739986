//===- Synchronization.cpp - Barriers of a CTA and of a warp -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

/// barrier.cta.sync.aligned and .arrive, of all threads or so many of them.
class CtaBarrier : public Instruction {
public:
  CtaBarrier(bool hasId, bool hasCount, bool waits)
      : hasId(hasId), hasCount(hasCount), waits(waits) {}
  unsigned cycles() const override { return 20; }

  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    Cta &cta = thread.cta();
    uint32_t id = hasId ? get<uint32_t>(args, 0) : 0;
    uint32_t count = hasCount ? get<uint32_t>(args, hasId ? 8 : 0) : cta.threads.size();
    if (id >= cta.barriers.size())
      return thread.report(ReportKind::BarrierMisuse,
                           "barrier " + Twine(id) + "; a CTA has barriers 0 to 15");
    if (waits)
      cta.barriers[id].sync(thread, count);
    else
      cta.barriers[id].arrive(thread, count);
  }

private:
  bool hasId, hasCount, waits;
};

DecodeResult decodeBarrier0(NVVM::Barrier0Op) {
  return makeInstruction<CtaBarrier>(false, false, true);
}
DecodeResult decodeBarrier(NVVM::BarrierOp op) {
  if (op.getReductionOp())
    return op.emitError() << "the emulator has no barriers that reduce a predicate";
  return makeInstruction<CtaBarrier>(!!op.getBarrierId(), !!op.getNumberOfThreads(), true);
}
DecodeResult decodeBarrierArrive(NVVM::BarrierArriveOp op) {
  return makeInstruction<CtaBarrier>(!!op.getBarrierId(), !!op.getNumberOfThreads(), false);
}
DecodeResult decodeCountedArrive(attn::nv::BarrierArriveOp) {
  return makeInstruction<CtaBarrier>(true, true, false);
}

/// bar.warp.sync: the member lanes wait for one another and learn what they knew.
class WarpBarrier : public Instruction {
public:
  Scope scope() const override { return Scope::Warp; }
  uint32_t members(const Thread &, const std::byte *args) const override {
    return get<uint32_t>(args, 0);
  }
  void execute(Warp &warp, const Site &, ArrayRef<Lane> lanes) const override {
    warp.synchronize(lanes);
  }
};

DecodeResult decodeWarpBarrier(NVVM::SyncWarpOp) { return makeInstruction<WarpBarrier>(); }

} // namespace

void attn::emu::registerSynchronization(InstructionTable &table) {
  addOp<NVVM::Barrier0Op, decodeBarrier0>(table);
  addOp<NVVM::BarrierOp, decodeBarrier>(table);
  addOp<NVVM::BarrierArriveOp, decodeBarrierArrive>(table);
  addOp<attn::nv::BarrierArriveOp, decodeCountedArrive>(table);
  addOp<NVVM::SyncWarpOp, decodeWarpBarrier>(table);
}
