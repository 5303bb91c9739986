//===- Passes.td - Conversions out of the attn dialect --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES
#define ATTN_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertAttnToNVVM : Pass<"convert-attn-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "turn scheduled tile programs into the program of one GPU thread";
  let description = [{
    Each function with a loop over CTAs becomes a kernel (`attn.threads` says how
    many threads): the loop's ids
    come from the block number, tiles become registers or pointers into dynamic shared
    memory, tile ops become `nvvm`, `llvm`, `arith` and `math` ops. Tensors stay memrefs.
    For sm_80 and later: cp.async, ldmatrix, mma.sync.m16n8k16.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def AttnMarkKernels : Pass<"attn-mark-kernels", "::mlir::ModuleOp"> {
  let summary = "give lowered kernels the attributes that the NVPTX backend reads";
  let description = [{
    Every `llvm.func` with `attn.threads` gets `nvvm.kernel` and `nvvm.maxntid`. Runs after
    functions are lowered to LLVM, since those attributes belong to `llvm.func`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ATTN_CONVERSION_PASSES
