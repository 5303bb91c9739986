//===- DropBarriers.cpp - Barriers that the next one stands in for --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Conversion/PureIntrinsics.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNDROPBARRIERS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

/// Whether an op may reach shared memory, or order those who do.
static bool mayUseSharedMemory(Operation *op) {
  if (isMemoryEffectFree(op))
    return false;
  // Groups say when a thread's own copies land; the barrier behind them says it to the others.
  if (isa<NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp, NVVM::ShflOp, NVVM::VoteSyncOp>(op))
    return false;
  // Threads exchange data in shared memory alone, so that no barrier orders other accesses.
  if (isa<LLVM::LoadOp, LLVM::StoreOp>(op))
    return llvm::any_of(op->getOperandTypes(), [](Type type) {
      auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
      return pointer &&
             pointer.getAddressSpace() == static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
    });
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return !isPureIntrinsic(call.getIntrin());
  return !op->hasTrait<OpTrait::IsTerminator>();
}

/// Whether every way from a barrier on comes to another, or to the end, before an access.
static bool isFollowedByBarrier(NVVM::Barrier0Op barrier) {
  SmallVector<Operation *> starts = {barrier->getNextNode()};
  llvm::SmallPtrSet<Block *, 8> seen;
  while (!starts.empty()) {
    Operation *op = starts.pop_back_val();
    for (; op && !isa<NVVM::Barrier0Op>(op); op = op->getNextNode()) {
      if (mayUseSharedMemory(op))
        return false;
      for (Block *next : op->getSuccessors())
        if (seen.insert(next).second)
          starts.push_back(&next->front());
    }
    // A way that leads back here alone needs what this barrier orders.
    if (op == barrier)
      return false;
  }
  return true;
}

namespace {

struct DropBarriers : attn::impl::AttnDropBarriersBase<DropBarriers> {
  void runOnOperation() override {
    SmallVector<NVVM::Barrier0Op> barriers;
    getOperation().walk([&](NVVM::Barrier0Op barrier) { barriers.push_back(barrier); });
    for (NVVM::Barrier0Op barrier : barriers)
      if (isFollowedByBarrier(barrier))
        barrier.erase();
  }
};

} // namespace
