//===- SharedMemory.h - How tiles lie in shared memory ----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_SHAREDMEMORY_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_SHAREDMEMORY_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Bytes of the unit that cp.async, ldmatrix and vector stores move: one chunk.
constexpr int64_t kChunkBytes = 16;

/// Pipes and scratch start at multiples of this, so that a swizzle's phase is that of
/// the tile's row.
constexpr int64_t kSmemAlignment = 1024;

/// The layout that lets eight consecutive rows of a 16-byte column be read without bank
/// conflicts: rows of 8 n chunks are XOR-swizzled, other rows get an odd pitch.
SharedLayoutAttr sharedLayoutFor(mlir::MLIRContext *context, int64_t cols, int64_t elementBytes);

/// Bytes of a tile of this shape under `sharedLayoutFor`.
int64_t sharedTileBytes(int64_t rows, int64_t cols, int64_t elementBytes);

/// Bytes of shared memory of a forward kernel: its Q tile and `stages` K and V tiles; head
/// dims are those of the tensors.
int64_t forwardSharedBytes(ScheduleAttr schedule, int64_t headDimQK, int64_t headDimV,
                           int64_t elementBytes);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_SHAREDMEMORY_H
