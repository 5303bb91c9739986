//===- SharedMemory.cpp - How tiles lie in shared memory ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/SharedMemory.h"
#include "attn/Dialect/Attn/Transforms/TileShapes.h"

#include <llvm/Support/MathExtras.h>

using namespace mlir;
using namespace attn;

SharedLayoutAttr attn::sharedLayoutFor(MLIRContext *context, int64_t cols, int64_t elementBytes) {
  int64_t chunks = llvm::divideCeil(cols * elementBytes, kChunkBytes);
  if (chunks % 8 == 0)
    return SharedLayoutAttr::get(context, chunks * kChunkBytes, /*xor_mask=*/7);
  return SharedLayoutAttr::get(context, (chunks | 1) * kChunkBytes, /*xor_mask=*/0);
}

int64_t attn::sharedTileBytes(int64_t rows, int64_t cols, int64_t elementBytes) {
  int64_t chunks = llvm::divideCeil(cols * elementBytes, kChunkBytes);
  int64_t pitch = (chunks % 8 == 0 ? chunks : chunks | 1) * kChunkBytes;
  return llvm::alignTo(rows * pitch, kSmemAlignment);
}

int64_t attn::forwardSharedBytes(ScheduleAttr schedule, int64_t headDimQK, int64_t headDimV,
                                 int64_t elementBytes) {
  int64_t dimQK = paddedHeadDim(headDimQK), dimV = paddedHeadDim(headDimV);
  int64_t stageBytes = sharedTileBytes(schedule.getKvTile(), dimQK, elementBytes) +
                       sharedTileBytes(schedule.getKvTile(), dimV, elementBytes);
  return sharedTileBytes(schedule.getQTile(), dimQK, elementBytes) +
         schedule.getStages() * stageBytes;
}
