//===- TileProgramAttrs.h - Marks on the loops of tile programs -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_TILEPROGRAMATTRS_H
#define ATTN_DIALECT_ATTN_IR_TILEPROGRAMATTRS_H

#include <llvm/ADT/StringRef.h>

namespace attn {

/// Unit attribute on the `scf.for` over K/V tiles of a tile program. Its induction
/// variable is the first key of the tile, its step the tile's rows.
constexpr llvm::StringLiteral kKVLoopAttr = "attn.kv_loop";

/// On an `scf.for` that `attn-split-mask-ranges` has peeled: "masked" or "full".
constexpr llvm::StringLiteral kMaskClassAttr = "attn.mask_class";

/// On the `scf.forall` over CTAs: the schedule that the tile program was written for.
constexpr llvm::StringLiteral kScheduleAttr = "attn.schedule";

/// On the `scf.forall` over CTAs: alignment in bytes promised for all tensors.
constexpr llvm::StringLiteral kAlignmentAttr = "attn.alignment";

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_TILEPROGRAMATTRS_H
