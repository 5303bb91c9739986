//===- AccumulatorCheck.cpp - Where accumulators in flight may go ---------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccumulatorCheck.h"

#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <llvm/ADT/SetVector.h>
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
      if (isa<LLVM::SelectOp>(user)) {
        inFlight.insert(user->getResult(0));
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

LogicalResult attn::checkAccumulators(Operation *function) {
  WalkResult result = function->walk([](nv::WgmmaOp op) {
    return failed(follow(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
