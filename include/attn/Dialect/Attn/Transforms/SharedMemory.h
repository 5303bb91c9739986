//===- SharedMemory.h - How tiles lie in shared memory ----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_SHAREDMEMORY_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_SHAREDMEMORY_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Warps.h"

namespace attn {

/// Bytes of the unit that cp.async, ldmatrix and vector stores move: one chunk.
constexpr int64_t kChunkBytes = 16;

/// Pipes and scratch start at multiples of this, so that a swizzle's phase is that of
/// the tile's row.
constexpr int64_t kSmemAlignment = 1024;

/// Columns of a 16-bit box of `#attn.boxed`: one line of the 128-byte swizzle.
constexpr int64_t kBoxColumns = 64;

/// Bytes that addresses and strides of tensor maps are multiples of (CUDA driver API,
/// cuTensorMapEncodeTiled).
constexpr int64_t kTensorMapAlignment = 16;

/// Bytes of a 16-bit tile in `#attn.boxed`.
int64_t boxedTileBytes(int64_t rows, int64_t cols);

/// Bytes of the two mbarriers of each stage of a pipe.
int64_t barrierBytes(int64_t stages);

/// Messages that the producer of a persistent CTA may be ahead: one for each buffer that Q can
/// have.
constexpr int64_t kMailboxStages = 2;

/// Bytes of a mailbox: messages of a chunk, and their mbarriers behind them.
int64_t mailboxBytes(int64_t stages);

/// The layout that lets eight consecutive rows of a 16-byte column be read without bank
/// conflicts: rows of 8 n chunks are XOR-swizzled, other rows get an odd pitch.
SharedLayoutAttr sharedLayoutFor(mlir::MLIRContext *context, int64_t cols, int64_t elementBytes);

/// Bytes of a tile of this shape under `sharedLayoutFor`.
int64_t sharedTileBytes(int64_t rows, int64_t cols, int64_t elementBytes);

/// Bytes of a tile in shared memory under its layout.
int64_t sharedTileBytes(TileType tile);

/// Bytes of the stages of a pipe.
int64_t pipeBytes(PipeType pipe);

/// Bytes of the exchange that merges the outputs of the warps of a CTA: one f32 output tile,
/// and m and l of every warp.
int64_t warpMergeBytes(int64_t rows, int64_t cols, int64_t warps);

/// Bytes of shared memory of one CTA, by what they hold.
struct SharedMemoryUse {
  int64_t q = 0;
  int64_t k = 0;
  int64_t v = 0;
  /// Probabilities on their way to products without tensor cores.
  int64_t p = 0;
  /// What the epilogue needs. It overlays the tiles, which are dead by then.
  int64_t epilogue = 0;
  int64_t barriers = 0;

  int64_t total() const { return std::max(q + k + v + p + barriers, epilogue); }
};

/// The shared memory of a forward kernel: what `attn-allocate-smem` will find in its tile
/// program. Head dims are those of the tensors.
SharedMemoryUse forwardSharedMemory(ScheduleAttr schedule, int64_t headDimQK, int64_t headDimV,
                                    int64_t elementBytes, int64_t outElementBytes);

/// The shared memory of a merge kernel.
SharedMemoryUse mergeSharedMemory(ScheduleAttr schedule, int64_t headDim, int64_t outElementBytes);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_SHAREDMEMORY_H
