//===- VerifyNoProblemOps.cpp - Nothing of L0 is left ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNVERIFYNOPROBLEMOPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

struct VerifyNoProblemOps : attn::impl::AttnVerifyNoProblemOpsBase<VerifyNoProblemOps> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (!isa<ForwardOp, MergeStatesOp>(op))
        return;
      op->emitOpError() << "is left after attn-lower-to-tiles; problem ops must stand directly "
                           "in the body of their function";
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
