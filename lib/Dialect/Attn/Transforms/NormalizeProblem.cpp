//===- NormalizeProblem.cpp - One form for problems of one kernel ---------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <llvm/ADT/SmallBitVector.h>
#include <mlir/IR/PatternMatch.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNNORMALIZEPROBLEM
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// The dims of a problem's tensor that are its batch and its length, which kernels take at run
/// time.
struct SizeDims {
  int64_t batch, length;
  bool ofQueries;
};

/// Of the tensor that an operand of a problem op is. Partial results have one more dim in front.
static SizeDims sizeDims(OpOperand &use) {
  Value tensor = use.get();
  int64_t rank = cast<MemRefType>(tensor.getType()).getRank();
  auto rows = [&](bool ofQueries) { return SizeDims{rank - 4, rank - 3, ofQueries}; };
  SizeDims logSumExps = {rank - 3, rank - 1, true};
  unsigned number = use.getOperandNumber();
  if (auto forward = dyn_cast<ForwardOp>(use.getOwner())) {
    // lse and lse_tail follow q, k, v and o.
    if (number >= 4)
      return logSumExps;
    return rows(number == 0 || number == 3);
  }
  auto merge = cast<MergeStatesOp>(use.getOwner());
  bool isRows = &use == &merge.getPartialOMutable() || &use == &merge.getOMutable();
  return isRows ? rows(true) : logSumExps;
}

/// The shape with batch and lengths known at run time only: every kernel is right for every length,
/// and loops of one iteration would be gone before the passes that look for them. A single query
/// stays known, which schedules for decode ask for, unless its tensor holds keys too.
static SmallVector<int64_t> withRuntimeSizes(BlockArgument argument) {
  SmallVector<int64_t> shape(cast<MemRefType>(argument.getType()).getShape());
  llvm::SmallBitVector isSize(shape.size(), true), isSizeOfKeys(shape.size());
  for (OpOperand &use : argument.getUses()) {
    SizeDims dims = sizeDims(use);
    llvm::SmallBitVector here(shape.size());
    here.set(dims.batch);
    if (!dims.ofQueries || shape[dims.length] != 1)
      here.set(dims.length);
    isSize &= here;
    if (!dims.ofQueries)
      isSizeOfKeys |= here;
  }
  isSize |= isSizeOfKeys;
  for (unsigned dim : isSize.set_bits())
    shape[dim] = ShapedType::kDynamic;
  return shape;
}

/// The type with run-time sizes, and run-time strides but for the last dim. The offset is 0: a
/// view's base pointer already counts it in.
static MemRefType runtimeType(BlockArgument argument) {
  auto type = cast<MemRefType>(argument.getType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  return MemRefType::get(withRuntimeSizes(argument), type.getElementType(),
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
        argument.setType(runtimeType(argument));
    function.setType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(),
                                       function.getResultTypes()));
  }
};

} // namespace
