//===- AttnToCPU.h - From tile programs to host code ------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_ATTNTOCPU_ATTNTOCPU_H
#define ATTN_CONVERSION_ATTNTOCPU_ATTNTOCPU_H

#include <llvm/ADT/StringRef.h>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace attn {

/// On a kernel that convert-attn-to-cpu made: the types of its arguments before the
/// range, as an array of type attributes. It outlives the lowering to LLVM, so that a
/// caller can check what it passes.
constexpr llvm::StringLiteral kArgumentTypesAttr = "attn.argument_types";

/// Suffix of the function that counts the tiles of a kernel.
constexpr llvm::StringLiteral kNumTilesSuffix = "_num_tiles";

/// Suffix of the entry that takes an array of pointers to arguments.
constexpr llvm::StringLiteral kPackedSuffix = "_packed";

/// Lowers the output of convert-attn-to-cpu to the LLVM dialect: approximates math
/// functions, converts every dialect, packs the kernels' arguments and verifies that
/// nothing of attn is left.
void buildCPUToLLVMPipeline(mlir::OpPassManager &pm);

/// Registers the pipeline above as `attn-cpu-to-llvm`.
void registerCPUToLLVMPipeline();

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOCPU_ATTNTOCPU_H
