//===- PureIntrinsics.h - Intrinsics that only compute ----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PUREINTRINSICS_H
#define ATTN_CONVERSION_PUREINTRINSICS_H

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>

namespace attn {

/// Whether LLVM knows of an intrinsic that it neither accesses memory nor synchronizes.
inline bool isPureIntrinsic(llvm::StringRef name) {
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic)
    return false;
  llvm::LLVMContext context;
  llvm::AttributeSet attributes = llvm::Intrinsic::getFnAttributes(context, id);
  return attributes.getMemoryEffects().doesNotAccessMemory() &&
         !attributes.hasAttribute(llvm::Attribute::Convergent);
}

} // namespace attn

#endif // ATTN_CONVERSION_PUREINTRINSICS_H
