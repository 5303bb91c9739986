//===- CanonicalMask.h - One form for each set of pairs ---------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_CANONICALMASK_H
#define ATTN_DIALECT_ATTN_IR_CANONICALMASK_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// A mask with the operands that it takes from its op.
struct BoundMask {
  MaskAttrInterface mask;
  llvm::SmallVector<mlir::Value> args;

  bool operator==(const BoundMask &other) const { return mask == other.mask && args == other.args; }
};

/// A mask that keeps the same pairs, written in one way: nested compositions are flat,
/// members that decide nothing are gone, the rest are sorted and unique, a
/// composition of one member is that member, and a window that is causal says so.
BoundMask canonicalizeMask(MaskAttrInterface mask, mlir::ValueRange args);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_CANONICALMASK_H
