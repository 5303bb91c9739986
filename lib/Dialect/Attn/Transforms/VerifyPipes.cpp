//===- VerifyPipes.cpp - Checks the protocol of pipes ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNVERIFYPIPES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// The op of type OpTy on the same pipe (and iteration, where it has one) nearest before
/// or after `op` among the ops of `block`.
template <typename OpTy> static OpTy findNeighbour(Operation *from, Value pipe, bool forward) {
  for (Operation *op = from; op; op = forward ? op->getNextNode() : op->getPrevNode())
    if (auto candidate = dyn_cast<OpTy>(op))
      if (candidate.getPipe() == pipe)
        return candidate;
  return {};
}

/// A copy may sit in a conditional of its own; the protocol is then that of the op around it.
static Operation *protocolPoint(CopyTileOp copy) {
  Operation *point = copy;
  while (!findNeighbour<PipeAcquireOp>(point->getPrevNode(), copy.getPipe(), false)) {
    auto ifOp = dyn_cast<scf::IfOp>(point->getParentOp());
    if (!ifOp)
      break;
    point = ifOp;
  }
  return point;
}

static LogicalResult verifyCopy(CopyTileOp copy) {
  Operation *point = protocolPoint(copy);
  auto acquire = findNeighbour<PipeAcquireOp>(point->getPrevNode(), copy.getPipe(), false);
  if (!acquire || acquire.getIteration() != copy.getIteration()) {
    InFlightDiagnostic diag = copy.emitOpError()
                              << "expected attn.pipe_acquire of the same iteration before it";
    if (acquire)
      diag.attachNote(acquire.getLoc()) << "the nearest acquire is of another iteration";
    return diag;
  }
  if (!findNeighbour<PipeCommitOp>(point->getNextNode(), copy.getPipe(), true))
    return copy.emitOpError() << "expected attn.pipe_commit of its pipe after it";
  return success();
}

/// The buffer is still being read when a wait has no release.
static LogicalResult verifyWait(PipeWaitOp wait) {
  for (Operation *user : wait.getPipe().getUsers())
    if (auto release = dyn_cast<PipeReleaseOp>(user))
      if (release.getIteration() == wait.getIteration())
        return success();
  return wait.emitOpError() << "expected attn.pipe_release of the same iteration after the last "
                               "use of its tile";
}

static LogicalResult verifyPipe(PipeCreateOp create) {
  bool filled = false, read = false;
  for (Operation *user : create.getPipe().getUsers()) {
    filled |= isa<CopyTileOp>(user);
    read |= isa<PipeWaitOp, PipeTileOp>(user);
  }
  if (filled != read)
    return create.emitOpError() << (filled ? "is filled but never waited for"
                                           : "is waited for but never filled");
  return success();
}

namespace {

struct VerifyPipes : attn::impl::AttnVerifyPipesBase<VerifyPipes> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto result = getOperation().walk([](Operation *op) -> WalkResult {
      if (auto copy = dyn_cast<CopyTileOp>(op))
        return verifyCopy(copy);
      if (auto wait = dyn_cast<PipeWaitOp>(op))
        return verifyWait(wait);
      if (auto create = dyn_cast<PipeCreateOp>(op))
        return verifyPipe(create);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
