//===- AllocateSmem.cpp - Places pipes in shared memory -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNALLOCATESMEM
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// Scratch that an op of the epilogue or the generic path needs while no copy is in flight.
static int64_t scratchBytes(Operation *op) {
  // Row tiles on their way to 16-byte stores; warps with roles store from registers.
  if (auto store = dyn_cast<StoreTileOp>(op); store && !op->getParentOfType<RolesOp>()) {
    TileType tile = store.getTile().getType();
    Type stored = cast<MemRefType>(store.getDest().getType()).getElementType();
    if (tile.getRank() != 2 || stored.isF32())
      return 0;
    return sharedTileBytes(tile.getRows(), tile.getCols(), stored.getIntOrFloatBitWidth() / 8);
  }
  // The merge over warps.
  if (auto finalize = dyn_cast<FinalizeOp>(op)) {
    auto layout = cast<FragmentLayoutAttr>(finalize.getAcc().getType().getLayout());
    if (layout.getSplit() != FragmentSplit::Partial)
      return 0;
    TileType tile = finalize.getAcc().getType();
    return warpMergeBytes(tile.getRows(), tile.getCols(), layout.getWarps());
  }
  return 0;
}

/// The sizes come from the layouts; says which op lacks one.
static LogicalResult verifyLayouts(scf::ForallOp forall) {
  auto lacksLayout = [](Type type) {
    if (auto pipe = dyn_cast<PipeType>(type))
      return !pipe.getTile().getLayout();
    auto tile = dyn_cast<TileType>(type);
    return tile && !tile.getLayout();
  };
  auto result = forall.walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (lacksLayout(type))
        return op->emitOpError() << "has a tile without a layout: " << type
                                 << "; run attn-assign-layouts first";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether every warp overwrites on its way out just what it alone has read, into registers, on the
/// way in: its rows of a Q tile of the same layout at the start of shared memory.
static bool reusesOwnRows(StoreTileOp store, LocalLoadOp load) {
  auto wait = load.getTile().getDefiningOp<PipeWaitOp>();
  auto create = wait ? wait.getPipe().getDefiningOp<PipeCreateOp>() : PipeCreateOp();
  TileType in = load.getTile().getType(), out = store.getTile().getType();
  auto inFragment = dyn_cast<FragmentLayoutAttr>(load.getResult().getType().getLayout());
  auto outFragment = dyn_cast<FragmentLayoutAttr>(out.getLayout());
  return create && create.getOffset() == 0 && inFragment && outFragment &&
         inFragment.getSplit() == FragmentSplit::Rows &&
         outFragment.getSplit() == FragmentSplit::Rows &&
         inFragment.getWarps() == outFragment.getWarps() && in.getRows() == out.getRows() &&
         in.getLayout() == sharedLayoutFor(store.getContext(), out.getCols(), 2) &&
         load->getBlock() == store->getBlock();
}

static void allocate(scf::ForallOp forall) {
  Builder b(forall.getContext());
  int64_t used = 0, scratch = 0;
  std::optional<int64_t> scratchOffset;
  forall.walk([&](Operation *op) {
    scratch = std::max(scratch, scratchBytes(op));
    if (auto create = dyn_cast<PipeCreateOp>(op)) {
      create.setOffset(used);
      used += pipeBytes(create.getPipe().getType());
    } else if (auto store = dyn_cast<LocalStoreOp>(op)) {
      // The loops of one pass follow each other: their scratch is one buffer.
      if (!scratchOffset) {
        scratchOffset = used;
        used += sharedTileBytes(store.getResult().getType());
      }
      store.setOffset(*scratchOffset);
    }
  });
  forall.walk([&](StoreTileOp store) {
    if (scratchBytes(store) == 0)
      return;
    auto loads = forall.getBody()->getOps<LocalLoadOp>();
    store.setSynced(
        llvm::any_of(loads, [&](LocalLoadOp load) { return reusesOwnRows(store, load); }));
  });
  // Barriers and messages follow the buffers, whose swizzle needs them aligned.
  forall.walk([&](PipeCreateOp create) {
    if (!create.getReaders())
      return;
    create.setBarriers(used);
    used += barrierBytes(create.getPipe().getType().getStages());
  });
  forall.walk([&](MailboxCreateOp create) {
    create.setOffset(used);
    used += mailboxBytes(create.getMailbox().getType().getStages());
  });
  forall->setAttr(kSmemBytesAttr, b.getI64IntegerAttr(std::max(used, scratch)));
}

namespace {

struct AllocateSmem : attn::impl::AttnAllocateSmemBase<AllocateSmem> {
  void runOnOperation() override {
    auto result = getOperation().walk([](scf::ForallOp forall) {
      if (!forall->hasAttr(kScheduleAttr))
        return WalkResult::advance();
      if (failed(verifyLayouts(forall)))
        return WalkResult::interrupt();
      allocate(forall);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
