//===- AssignLayouts.cpp - Decides where each tile lives ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

#include <llvm/ADT/TypeSwitch.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNASSIGNLAYOUTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

class LayoutAssigner {
public:
  explicit LayoutAssigner(scf::ForallOp forall)
      : forall(forall), schedule(forall->getAttrOfType<ScheduleAttr>(kScheduleAttr)),
        byKeys(schedule.getWarpSplit() == WarpSplit::Keys) {}

  LogicalResult run();

private:
  /// Marks scores and what is computed from them element by element.
  void collectScoreTiles();
  Type layoutType(Value value);
  Type wgmmaLayoutType(Value value);
  FragmentLayoutAttr fragment(FragmentRole role, FragmentSplit split) {
    return FragmentLayoutAttr::get(forall.getContext(), role, schedule.getWarps(), split);
  }
  TileType inSharedMemory(TileType tile) {
    return tile.withLayout(sharedLayoutFor(forall.getContext(), tile.getCols(),
                                           tile.getElementType().getIntOrFloatBitWidth() / 8));
  }

  scf::ForallOp forall;
  ScheduleAttr schedule;
  bool byKeys;
  llvm::SmallDenseSet<Value> scoreTiles;
};

} // namespace

/// CSE merges equal fills; uses may want different layouts.
static void unshareFills(scf::ForallOp forall) {
  SmallVector<FillOp> fills;
  forall.walk([&](FillOp fill) { fills.push_back(fill); });
  for (FillOp fill : fills)
    for (OpOperand &use : llvm::make_early_inc_range(fill.getResult().getUses()))
      if (!fill.getResult().hasOneUse()) {
        OpBuilder b(fill);
        use.set(cast<FillOp>(b.clone(*fill)).getResult());
      }
}

void LayoutAssigner::collectScoreTiles() {
  forall.walk([&](Operation *op) {
    if (auto mma = dyn_cast<TileMmaOp>(op); mma && mma.getTransposeB()) {
      scoreTiles.insert(mma.getAcc());
      scoreTiles.insert(mma.getResult());
    } else if (auto update = dyn_cast<SoftmaxUpdateOp>(op)) {
      scoreTiles.insert(update.getP());
    } else if (isa<MapScoresOp, MaskScoresOp, SoftmaxApplyOp>(op)) {
      scoreTiles.insert(op->getResult(0));
    } else if (auto convert = dyn_cast<ConvertOp>(op)) {
      if (scoreTiles.contains(convert.getTile()))
        scoreTiles.insert(convert.getResult());
    }
  });
}

/// Operands in boxes as tensor maps bring them; accumulators and states of whole rows; P as
/// operand a.
Type LayoutAssigner::wgmmaLayoutType(Value value) {
  auto boxed = [](PipeType pipe) {
    return BoxedLayoutAttr::get(pipe.getContext(), pipe.getParts());
  };
  auto acc = fragment(FragmentRole::Acc, FragmentSplit::Rows);
  return llvm::TypeSwitch<Type, Type>(value.getType())
      .Case([&](PipeType pipe) {
        return PipeType::get(pipe.getContext(), pipe.getTile().withLayout(boxed(pipe)),
                             pipe.getStages(), pipe.getParts());
      })
      .Case([&](SoftmaxStateType state) {
        return SoftmaxStateType::get(state.getContext(), state.getRows(), acc);
      })
      .Case([&](InFlightType type) {
        return InFlightType::get(type.getContext(), type.getTile().withLayout(acc));
      })
      .Case([&](TileType tile) -> Type {
        // Tiles of pipes have the pipe for their first operand.
        if (Operation *op = value.getDefiningOp(); isa_and_nonnull<PipeWaitOp, PipeTileOp>(op))
          return tile.withLayout(boxed(cast<PipeType>(op->getOperand(0).getType())));
        bool is16Bit = !tile.getElementType().isF32();
        return tile.withLayout(is16Bit ? fragment(FragmentRole::A, FragmentSplit::Rows) : acc);
      })
      .Default([](Type type) { return type; });
}

/// The type of `value` with its layout; the type itself where it has none.
Type LayoutAssigner::layoutType(Value value) {
  Operation *def = value.getDefiningOp();
  if (schedule.usesWgmma())
    return wgmmaLayoutType(value);
  if (auto pipe = dyn_cast<PipeType>(value.getType()))
    return PipeType::get(pipe.getContext(), inSharedMemory(pipe.getTile()), pipe.getStages(),
                         pipe.getParts());
  if (auto state = dyn_cast<SoftmaxStateType>(value.getType()))
    return SoftmaxStateType::get(
        state.getContext(), state.getRows(),
        fragment(FragmentRole::Acc, byKeys ? FragmentSplit::Partial : FragmentSplit::Rows));
  auto tile = dyn_cast<TileType>(value.getType());
  if (!tile)
    return value.getType();
  if (isa_and_nonnull<PipeWaitOp, LocalStoreOp>(def))
    return inSharedMemory(tile);

  FragmentRole role = FragmentRole::Acc;
  FragmentSplit split = byKeys ? FragmentSplit::Partial : FragmentSplit::Rows;
  if (isa_and_nonnull<LocalLoadOp>(def))
    role = FragmentRole::A;
  if (scoreTiles.contains(value)) {
    if (isa_and_nonnull<ConvertOp>(def))
      role = FragmentRole::A;
    if (byKeys)
      split = FragmentSplit::Cols;
  }
  // The merge over warps leaves each warp a share of the columns, and all of LSE.
  if (byKeys && isa_and_nonnull<FinalizeOp>(def))
    split = FragmentSplit::Cols;
  return tile.withLayout(fragment(role, split));
}

/// Products without tensor cores read both operands from shared memory: P goes there
/// (and is rounded on the way).
static void storeProbabilities(scf::ForallOp forall) {
  SmallVector<TileMmaOp> products;
  forall.walk([&](TileMmaOp mma) {
    if (!mma.getTransposeB())
      products.push_back(mma);
  });
  for (TileMmaOp mma : products) {
    OpBuilder b(mma);
    Value p = mma.getA();
    TileType type = mma.getA().getType();
    auto convert = p.getDefiningOp<ConvertOp>();
    if (convert)
      p = convert.getTile();
    mma.getAMutable().assign(LocalStoreOp::create(b, mma.getLoc(), type, p, IntegerAttr()));
    if (convert && convert.use_empty())
      convert.erase();
  }
}

LogicalResult LayoutAssigner::run() {
  if (schedule.getInstruction() == Instruction::Fma) {
    if (byKeys)
      return forall.emitOpError() << "expected warp_split = rows with instruction = fma";
    storeProbabilities(forall);
  }
  unshareFills(forall);
  collectScoreTiles();
  auto assign = [&](Value value) { value.setType(layoutType(value)); };
  auto result = forall.walk([&](Operation *op) -> WalkResult {
    if (isa<LoadTileOp>(op) && cast<LoadTileOp>(op).getResult().getType().getRank() == 2 &&
        !cast<LoadTileOp>(op).getResult().getType().getElementType().isF32())
      return op->emitOpError() << "expected a pipe in its place: operands of products come through "
                                  "shared memory; run attn-insert-pipes first";
    llvm::for_each(op->getResults(), assign);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), assign);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct AssignLayouts : attn::impl::AttnAssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    auto result = getOperation().walk([&](scf::ForallOp forall) {
      if (!forall->hasAttr(kScheduleAttr))
        return WalkResult::advance();
      return WalkResult(LayoutAssigner(forall).run());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
