//===- GPUToLLVM.cpp - The pipeline attn-gpu-to-llvm ----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/AttnToNVVM/AttnToNVVM.h"
#include "attn/Conversion/Passes.h"

#include <mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Pass/PassRegistry.h>

using namespace mlir;

void attn::buildGPUToLLVMPipeline(OpPassManager &pm) {
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createAttnConvertThreadsToLLVM());
  pm.addNestedPass<LLVM::LLVMFuncOp>(createAttnDropBarriers());
  // After functions are LLVM functions: the attributes belong to those.
  pm.addPass(createAttnMarkKernels());
}

void attn::registerGPUToLLVMPipeline() {
  PassPipelineRegistration<>("attn-gpu-to-llvm",
                             "lower the output of convert-attn-to-nvvm to the LLVM dialect",
                             buildGPUToLLVMPipeline);
}
