//===- Normalize.cpp - Writes each problem in one way ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/IR/PatternMatch.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNNORMALIZE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

struct Normalize : attn::impl::AttnNormalizeBase<Normalize> {
  void runOnOperation() override {
    PatternRewriter rewriter(&getContext());
    getOperation()->walk([&](ForwardOp op) {
      // Failure says that the op already has its canonical form.
      (void)ForwardOp::canonicalize(op, rewriter);
      if (!op.getAlignment())
        op.setAlignment(op.getAlignmentBytes());
    });
  }
};

} // namespace
