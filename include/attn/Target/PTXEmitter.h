//===- PTXEmitter.h - LLVM dialect to PTX -----------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_PTXEMITTER_H
#define ATTN_TARGET_PTXEMITTER_H

#include <mlir/IR/BuiltinOps.h>

#include <string>

namespace attn {

/// Everything besides the module that decides the PTX text.
struct PTXOptions {
  /// As NVPTX calls it: sm_80.
  std::string chip = "sm_80";
  /// PTX ISA version: 80 is 8.0.
  unsigned ptxVersion = 80;
};

/// Compiles a module of the LLVM dialect (after attn-gpu-to-llvm) to PTX text with LLVM's
/// NVPTX backend. Emits a located error and fails where the backend cannot.
llvm::FailureOr<std::string> emitPTX(mlir::ModuleOp module, const PTXOptions &options);

} // namespace attn

#endif // ATTN_TARGET_PTXEMITTER_H
