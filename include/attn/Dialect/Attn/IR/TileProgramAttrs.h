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

/// On the `scf.for` over K/V tiles of a tile program: which pass over the keys it is part
/// of (an i64 from 0). Its induction variable is the first key of the tile, its
/// constant step the tile's rows. Loops of one pass follow each other in one block.
constexpr llvm::StringLiteral kKVPassAttr = "attn.kv_pass";

/// On an `scf.for` that `attn-split-mask-ranges` has peeled: "masked" or "full".
constexpr llvm::StringLiteral kMaskClassAttr = "attn.mask_class";

/// On the `scf.forall` over CTAs: the schedule that the tile program was written for.
constexpr llvm::StringLiteral kScheduleAttr = "attn.schedule";

/// On the `scf.forall` over CTAs: alignment in bytes promised for all tensors.
constexpr llvm::StringLiteral kAlignmentAttr = "attn.alignment";

/// On a function that is a GPU kernel: threads of a CTA.
constexpr llvm::StringLiteral kThreadsAttr = "attn.threads";

/// Unit attribute on a function that `attn-outline-kernels` made: one grid of tiles.
constexpr llvm::StringLiteral kKernelAttr = "attn.kernel";

/// On the `scf.forall` over CTAs, set by attn-allocate-smem, and then on the kernel's
/// function: bytes of dynamic shared memory.
constexpr llvm::StringLiteral kSmemBytesAttr = "attn.smem_bytes";

/// On a tensor map argument of a kernel: the position of the tensor that it describes.
constexpr llvm::StringLiteral kTensorMapOfAttr = "attn.tensor_map_of";

/// On an argument of a kernel that is the counter `attn.next_tile` draws from: memref<1xi32>, 0
/// when the kernel starts and when it ends.
constexpr llvm::StringLiteral kTileCounterAttr = "attn.tile_counter";

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_TILEPROGRAMATTRS_H
