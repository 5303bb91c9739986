//===- ChipRequirements.h - Does a chip have a program's ops? ---*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_CHIPREQUIREMENTS_H
#define ATTN_LIB_TARGET_CHIPREQUIREMENTS_H

#include "attn/Target/PTXEmitter.h"

namespace attn {

/// Fails at the first op whose chip or PTX version is above that of the options: the backend
/// would end the process there, or leave the error to the assembler.
llvm::LogicalResult verifyChip(mlir::ModuleOp module, const PTXOptions &options);

} // namespace attn

#endif // ATTN_LIB_TARGET_CHIPREQUIREMENTS_H
