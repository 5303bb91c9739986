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

/// Tensor maps are 128 bytes that the hardware reads where the launch put them.
static bool markTensorMaps(LLVM::LLVMFuncOp func, Builder &b) {
  bool any = false;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    if (!func.getArgAttr(i, kTensorMapOfAttr))
      continue;
    any = true;
    func.removeArgAttr(i, kTensorMapOfAttr);
    func.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                    TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128)));
    func.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    func.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
  return any;
}

/// The manifest says what the launch passes; to the backend it is a tensor like any other.
static void forgetTileCounter(LLVM::LLVMFuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    func.removeArgAttr(i, kTileCounterAttr);
}

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
      forgetTileCounter(func);
      if (markTensorMaps(func, b))
        func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
    }
  }
};

} // namespace
