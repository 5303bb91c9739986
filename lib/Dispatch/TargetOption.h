//===- TargetOption.h - The target option of passes -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DISPATCH_TARGETOPTION_H
#define ATTN_LIB_DISPATCH_TARGETOPTION_H

#include "attn/Target/TargetInfo.h"

#include <mlir/IR/Diagnostics.h>

namespace attn {

/// The target that a pass option names; reports one that does not exist.
inline const TargetInfo *resolveTarget(llvm::StringRef name, llvm::StringRef pass,
                                       mlir::MLIRContext *context) {
  const TargetInfo *target = findTarget(name);
  if (!target)
    mlir::emitError(mlir::UnknownLoc::get(context)) << pass << ": " << unknownTargetMessage(name);
  return target;
}

} // namespace attn

#endif // ATTN_LIB_DISPATCH_TARGETOPTION_H
