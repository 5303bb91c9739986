//===- KeyLoops.h - The loops over K/V tiles of a CTA -----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TRANSFORMS_KEYLOOPS_H
#define ATTN_LIB_TRANSFORMS_KEYLOOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The loops of one pass over the keys, in the order in which they run. Each starts with
/// what the one before it yields.
using KeyLoops = llvm::SmallVector<mlir::scf::ForOp>;

/// The passes over the keys whose loops stand in `block`, by their numbers.
llvm::SmallVector<KeyLoops> collectKeyLoops(mlir::Block &block);

/// The schedule of a loop over CTAs if its products are wgmma, else null.
ScheduleAttr wgmmaSchedule(mlir::scf::ForallOp forall);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_KEYLOOPS_H
