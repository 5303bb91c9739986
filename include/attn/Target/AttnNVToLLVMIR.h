//===- AttnNVToLLVMIR.h - Instructions as inline assembly -------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_ATTNNVTOLLVMIR_H
#define ATTN_TARGET_ATTNNVTOLLVMIR_H

#include <mlir/IR/DialectRegistry.h>

namespace attn {

/// Lets MLIR's translation to LLVM IR handle the attn_nv dialect.
void registerAttnNVDialectTranslation(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_TARGET_ATTNNVTOLLVMIR_H
