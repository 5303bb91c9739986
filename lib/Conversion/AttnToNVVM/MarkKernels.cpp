//===- MarkKernels.cpp - Attributes of kernels for the NVPTX backend ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNMARKKERNELS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

namespace {

struct MarkKernels : attn::impl::AttnMarkKernelsBase<MarkKernels> {
  void runOnOperation() override {
    Builder b(&getContext());
    for (auto func : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      auto threads = func->getAttrOfType<IntegerAttr>(kThreadsAttr);
      if (!threads)
        continue;
      func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
      func->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    b.getDenseI32ArrayAttr(threads.getInt()));
    }
  }
};

} // namespace
