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

int64_t attn::boxedTileBytes(int64_t rows, int64_t cols) {
  return rows * llvm::divideCeil(cols, kBoxColumns) * kBoxColumns * 2;
}

int64_t attn::sharedTileBytes(TileType tile) {
  if (isa<BoxedLayoutAttr>(tile.getLayout()))
    return boxedTileBytes(tile.getRows(), tile.getCols());
  return sharedTileBytes(tile.getRows(), tile.getCols(),
                         tile.getElementType().getIntOrFloatBitWidth() / 8);
}

int64_t attn::pipeBytes(PipeType pipe) {
  return pipe.getStages() * sharedTileBytes(pipe.getTile()) / pipe.getParts();
}

int64_t attn::barrierBytes(int64_t stages) { return stages * 16; }

int64_t attn::mailboxBytes(int64_t stages) { return stages * kChunkBytes + barrierBytes(stages); }

int64_t attn::warpMergeBytes(int64_t rows, int64_t cols, int64_t warps) {
  return llvm::alignTo(rows * cols * 4, kSmemAlignment) + warps * rows * 2 * 4;
}

/// Each pass of the algorithm over the keys has its own pipes.
static int64_t passesOverK(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::Naive:
    return 3;
  case Algorithm::TwoPass:
    return 2;
  case Algorithm::FA1:
  case Algorithm::FA2:
    return 1;
  }
  llvm_unreachable("all algorithms are handled");
}

/// f32 tiles are stored straight from the fragments; narrower ones are gathered to rows first.
static int64_t storeBytes(int64_t rows, int64_t cols, int64_t outElementBytes) {
  return outElementBytes == 4 ? 0 : sharedTileBytes(rows, cols, outElementBytes);
}

SharedMemoryUse attn::forwardSharedMemory(ScheduleAttr schedule, int64_t headDimQK,
                                          int64_t headDimV, int64_t elementBytes,
                                          int64_t outElementBytes) {
  int64_t dimQK = paddedHeadDim(headDimQK), dimV = paddedHeadDim(headDimV);
  int64_t qTile = schedule.getQTile(), kvTile = schedule.getKvTile();
  int64_t passes = passesOverK(schedule.getAlgorithm());
  SharedMemoryUse use;
  if (schedule.usesWgmma()) {
    int64_t stages = schedule.getStages(), qStages = schedule.getQStages();
    use.q = qStages * boxedTileBytes(qTile / schedule.getQParts(), dimQK);
    use.k = stages * boxedTileBytes(kvTile, dimQK);
    use.v = stages * boxedTileBytes(kvTile, dimV);
    use.barriers = barrierBytes(qStages) + 2 * barrierBytes(stages);
    if (schedule.getPersistent() != Persistence::None)
      use.barriers += mailboxBytes(kMailboxStages);
    return use;
  }
  use.q = passes * sharedTileBytes(qTile, dimQK, elementBytes);
  use.k = passes * schedule.getStages() * sharedTileBytes(kvTile, dimQK, elementBytes);
  use.v = schedule.getStages() * sharedTileBytes(kvTile, dimV, elementBytes);
  if (schedule.getInstruction() == Instruction::Fma)
    use.p = sharedTileBytes(qTile, kvTile, elementBytes);
  use.epilogue = storeBytes(qTile, dimV, outElementBytes);
  if (schedule.getWarpSplit() == WarpSplit::Keys)
    use.epilogue = std::max(use.epilogue, warpMergeBytes(qTile, dimV, schedule.getWarps()));
  return use;
}

SharedMemoryUse attn::mergeSharedMemory(ScheduleAttr schedule, int64_t headDim,
                                        int64_t outElementBytes) {
  SharedMemoryUse use;
  use.epilogue = storeBytes(schedule.getQTile(), paddedHeadDim(headDim), outElementBytes);
  return use;
}
