//===- AccumulatorCheck.cpp - Where accumulators in flight may go ---------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccumulatorCheck.h"

#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <llvm/ADT/SetVector.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>
#include <mlir/Interfaces/ControlFlowInterfaces.h>

using namespace mlir;
using namespace attn;

/// Follows values in flight to all their uses.
static LogicalResult follow(nv::WgmmaOp source) {
  llvm::SetVector<Value> inFlight(source.getD().begin(), source.getD().end());
  auto refuse = [&](OpOperand &use) {
    InFlightDiagnostic diagnostic = use.getOwner()->emitError()
                                    << "accumulator read before its wait: operand "
                                    << use.getOperandNumber() << " of '"
                                    << use.getOwner()->getName() << "' is in flight";
    diagnostic.attachNote(source.getLoc()) << "started here; tie it with attn_nv.wgmma_wait";
    return failure();
  };
  for (size_t i = 0; i < inFlight.size(); ++i)
    for (OpOperand &use : inFlight[i].getUses()) {
      Operation *user = use.getOwner();
      if (isa<nv::WgmmaOp, nv::WgmmaWaitOp>(user))
        continue;
      if (isa<nv::WgmmaFenceOp>(user)) {
        inFlight.insert(user->getResult(use.getOperandNumber()));
        continue;
      }
      auto branch = dyn_cast<BranchOpInterface>(user);
      std::optional<BlockArgument> argument;
      if (branch)
        argument = branch.getSuccessorBlockArgument(use.getOperandNumber());
      if (!argument)
        return refuse(use);
      inFlight.insert(*argument);
    }
  return success();
}

/// Registers that a product reads are written before the fence, where that stands in its block.
static LogicalResult checkFence(nv::WgmmaOp product) {
  Operation *fence = product->getPrevNode();
  while (fence && !isa<nv::WgmmaFenceOp, NVVM::WgmmaFenceAlignedOp>(fence))
    fence = fence->getPrevNode();
  if (!fence)
    return success();
  auto refuse = [&](Value value) {
    Operation *writer = value.getDefiningOp();
    if (!writer || writer->getBlock() != product->getBlock() || isa<nv::WgmmaOp>(writer) ||
        writer->hasTrait<OpTrait::ConstantLike>() || !fence->isBeforeInBlock(writer))
      return false;
    InFlightDiagnostic diagnostic =
        product.emitError() << "missing wgmma fence: a register of the product is written after it";
    diagnostic.attachNote(writer->getLoc()) << "written here";
    diagnostic.attachNote(fence->getLoc()) << "the fence; pass the value through it";
    return true;
  };
  return failure(llvm::any_of(product.getAcc(), refuse) ||
                 llvm::any_of(product.getARegisters(), refuse));
}

LogicalResult attn::checkAccumulators(Operation *function) {
  WalkResult result = function->walk([](nv::WgmmaOp op) {
    return failed(follow(op)) || failed(checkFence(op)) ? WalkResult::interrupt()
                                                        : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
