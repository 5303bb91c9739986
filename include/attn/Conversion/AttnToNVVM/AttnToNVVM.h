//===- AttnToNVVM.h - Tile programs to GPU thread programs ------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_ATTNTONVVM_ATTNTONVVM_H
#define ATTN_CONVERSION_ATTNTONVVM_ATTNTONVVM_H

#include <mlir/Pass/PassManager.h>

namespace attn {

/// From the output of convert-attn-to-nvvm to the LLVM and NVVM dialects alone.
void buildGPUToLLVMPipeline(mlir::OpPassManager &pm);

/// Registers it as `attn-gpu-to-llvm`.
void registerGPUToLLVMPipeline();

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTONVVM_ATTNTONVVM_H
