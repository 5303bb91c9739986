//===- ApproximateMath.cpp - Math functions as polynomials ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include <mlir/Dialect/Math/Transforms/Passes.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNAPPROXIMATEMATH
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

namespace {

struct ApproximateMath : attn::impl::AttnApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns, {math::Exp2Op::getOperationName()});
    populateMathPolynomialApproximationPatterns(patterns, MathPolynomialApproximationOptions());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
