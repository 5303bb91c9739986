//===- AttnToCPU.cpp - The pass convert-attn-to-cpu -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOCPU
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

namespace {

struct ConvertAttnToCPU : attn::impl::ConvertAttnToCPUBase<ConvertAttnToCPU> {
  using ConvertAttnToCPUBase::ConvertAttnToCPUBase;

  void runOnOperation() override {
    if (!llvm::is_contained({4u, 8u, 16u}, vectorWidth.getValue())) {
      getOperation().emitError() << "expected vector-width to be 4, 8 or 16, got "
                                 << vectorWidth.getValue();
      return signalPassFailure();
    }
    for (func::FuncOp func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      // A function with a range is one that this pass made.
      if (!func->hasAttr(kKernelAttr) || func->hasAttr(kArgumentTypesAttr))
        continue;
      if (failed(cpu::KernelEmitter(func, vectorWidth).emit()))
        signalPassFailure();
      else
        func.erase();
    }
  }
};

} // namespace
