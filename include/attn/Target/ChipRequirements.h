//===- ChipRequirements.h - Does a chip have a program's ops? ---*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_CHIPREQUIREMENTS_H
#define ATTN_TARGET_CHIPREQUIREMENTS_H

#include <mlir/IR/BuiltinOps.h>

namespace attn {

/// Fails at the first op that a chip ("sm_90a") does not have.
llvm::LogicalResult verifyChip(mlir::ModuleOp module, llvm::StringRef chip);

/// Fails at the first op whose chip or PTX version is above the given ones: the backend would end
/// the process there, or leave the error to the assembler. `ptxVersion` 80 is PTX ISA 8.0.
llvm::LogicalResult verifyChip(mlir::ModuleOp module, llvm::StringRef chip, unsigned ptxVersion);

} // namespace attn

#endif // ATTN_TARGET_CHIPREQUIREMENTS_H
