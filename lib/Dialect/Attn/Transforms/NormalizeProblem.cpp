//===- NormalizeProblem.cpp - One form for problems of one kernel ---------===//
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
#define GEN_PASS_DEF_ATTNNORMALIZEPROBLEM
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// The type with run-time strides but for the last dim. The offset is 0: a view's base
/// pointer already counts it in.
static MemRefType withRuntimeStrides(MemRefType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  return MemRefType::get(type.getShape(), type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(), 0, strides),
                         type.getMemorySpace());
}

/// A tensor argument without other uses than problem ops may change its type freely.
static bool isProblemTensor(BlockArgument argument) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || type.getRank() < 3 || argument.use_empty())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1 || offset != 0)
    return false;
  return llvm::all_of(argument.getUsers(), [&](Operation *user) {
    auto forward = dyn_cast<ForwardOp>(user);
    if (!forward)
      return isa<MergeStatesOp>(user);
    return !llvm::is_contained(forward.getMaskArgs(), argument) &&
           !llvm::is_contained(forward.getKvArgs(), argument);
  });
}

namespace {

struct NormalizeProblem : attn::impl::AttnNormalizeProblemBase<NormalizeProblem> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    PatternRewriter rewriter(&getContext());
    function.walk([&](ForwardOp op) {
      // Failure says that the op already has its canonical form.
      (void)ForwardOp::canonicalize(op, rewriter);
      if (!op.getAlignment())
        op.setAlignment(op.getAlignmentBytes());
    });
    if (function.isDeclaration())
      return;
    for (BlockArgument argument : function.getArguments())
      if (isProblemTensor(argument))
        argument.setType(withRuntimeStrides(cast<MemRefType>(argument.getType())));
    function.setType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(),
                                       function.getResultTypes()));
  }
};

} // namespace
