//===- CheckStage.cpp - Refuses modules of another stage ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckStage.h"

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Target/ChipRequirements.h"

using namespace mlir;
using namespace attn;

namespace {

enum class MadeFor { Any, CPU, GPU };

/// How far an op has come.
struct Progress {
  Stage next;        ///< The first stage that has not run on it.
  Stage first, last; ///< The stages that take it: some do nothing to what they have made.
  MadeFor madeFor = MadeFor::Any;
  bool isLowered = false; ///< No stage takes it.
};

} // namespace

static std::optional<Progress> progressOf(ScheduleAttr schedule) {
  if (!schedule)
    return Progress{Stage::Normalize, Stage::Normalize, Stage::Configure};
  return Progress{Stage::Split, Stage::Normalize, Stage::Tile};
}

/// Of an op by the tiles that it works on: from stage 6 they have layouts.
static std::optional<Progress> progressOf(Type type, const TargetInfo &target) {
  auto tile = dyn_cast<TileType>(type);
  bool isPipe = isa<PipeType>(type);
  if (isPipe)
    tile = cast<PipeType>(type).getTile();
  else if (auto inFlight = dyn_cast<InFlightType>(type))
    tile = inFlight.getTile();
  if (!tile)
    return std::nullopt;
  if (tile.getLayout())
    return Progress{Stage::Convert, Stage::Convert, Stage::Convert, MadeFor::GPU};
  if (isPipe)
    return Progress{Stage::Place, Stage::Place, Stage::Place, MadeFor::GPU};
  // A kernel that merges has no pipes after stage 5 either; the CPU goes from tiles to code.
  return Progress{Stage::Schedule, Stage::Schedule, target.isGpu ? Stage::Place : Stage::Convert};
}

/// Whether a kernel does something, and nothing of the dialect.
static bool isConverted(func::FuncOp function) {
  if (!function->hasAttr(kKernelAttr) || function.empty() ||
      llvm::hasSingleElement(function.front()))
    return false;
  auto result = function.walk([](Operation *op) {
    return isa_and_nonnull<AttnDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                          : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

static std::optional<Progress> progressOf(Operation *op, const TargetInfo &target) {
  if (auto forward = dyn_cast<ForwardOp>(op))
    return progressOf(forward.getScheduleAttr());
  if (auto merge = dyn_cast<MergeStatesOp>(op))
    return progressOf(merge.getScheduleAttr());
  Progress converted{Stage::Lower, Stage::Lower, Stage::Lower};
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op); function && !function.isExternal()) {
    converted.isLowered = true;
    return converted;
  }
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    if (!isConverted(function))
      return std::nullopt;
    converted.madeFor = function->hasAttr(kThreadsAttr) ? MadeFor::GPU : MadeFor::CPU;
    return converted;
  }
  if (isa_and_nonnull<AttnDialect>(op->getDialect()))
    for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                              SmallVector<Type>(op->getResultTypes())))
      if (std::optional<Progress> progress = progressOf(type, target))
        return progress;
  return std::nullopt;
}

/// The stages of the target, in order.
static SmallVector<Stage> stagesOf(const TargetInfo &target) {
  SmallVector<Stage> stages(allStages());
  if (!target.isGpu)
    llvm::erase_if(stages, [](Stage s) { return s == Stage::Schedule || s == Stage::Place; });
  return stages;
}

static std::string flagName(Stage stage) { return ("attn-stage-" + stageName(stage)).str(); }

/// "attn-stage-tile takes what attn-stage-split leaves".
static std::string takes(Stage stage, const TargetInfo &target) {
  SmallVector<Stage> stages = stagesOf(target);
  auto it = llvm::lower_bound(stages, stage);
  return flagName(stage) + " takes " +
         (it == stages.begin() ? std::string("problems")
                               : "what " + flagName(*std::prev(it)) + " leaves");
}

/// Why the stage does not take the op, or nothing.
static std::string faultOf(const Progress &progress, Stage stage, const TargetInfo &target) {
  if (progress.isLowered)
    return takes(stage, target) + ", and this comes after " + flagName(Stage::Lower) +
           "; attn-translate --mlir-to-ptx goes on with it";
  if (progress.madeFor != MadeFor::Any && (progress.madeFor == MadeFor::GPU) != target.isGpu)
    return takes(stage, target) + " for " + target.name + ", and this was made for " +
           (target.isGpu ? "the CPU" : "a GPU") + "; give the target that it was made for";
  SmallVector<Stage> stages = stagesOf(target);
  if (stage < progress.first)
    return takes(stage, target) + ", and this comes after that; attn-opt --" +
           flagName(*llvm::lower_bound(stages, progress.next)) + " goes on with it";
  if (stage <= progress.last)
    return "";
  SmallVector<std::string> missing;
  for (Stage each : stages)
    if (progress.next <= each && each < stage)
      missing.push_back(flagName(each));
  return takes(stage, target) + ", and this comes before that; run " + llvm::join(missing, ", ") +
         " first";
}

/// Why the target cannot run the schedule of a problem or of a tile program, or nothing.
static std::string scheduleFault(Operation *op, const TargetInfo &target) {
  ScheduleAttr schedule;
  if (auto forward = dyn_cast<ForwardOp>(op))
    schedule = forward.getScheduleAttr();
  else
    schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  if (!schedule || !target.isGpu || !schedule.usesWgmma() || target.hasWgmma())
    return "";
  return "has a schedule of wgmma, which " + target.name +
         " does not have; give the target that it was made for";
}

LogicalResult attn::checkStage(ModuleOp module, Stage stage, const TargetInfo &target) {
  auto refuse = [](Operation *op, const std::string &fault) {
    if (fault.empty())
      return WalkResult::advance();
    op->emitOpError() << fault;
    return WalkResult::interrupt();
  };
  auto result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<Progress> progress = progressOf(op, target);
    WalkResult result = refuse(op, progress ? faultOf(*progress, stage, target) : "");
    // Problems with a schedule that does not fit are refused by stage 2.
    if (!result.wasInterrupted() && stage > Stage::Configure)
      result = refuse(op, scheduleFault(op, target));
    return result;
  });
  if (result.wasInterrupted())
    return failure();
  // Instructions of another generation.
  return stage == Stage::Lower && target.isGpu ? verifyChip(module, target.name) : success();
}

namespace {

struct CheckStage : PassWrapper<CheckStage, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckStage)
  CheckStage(Stage stage, const TargetInfo &target) : stage(stage), target(target) {}
  StringRef getArgument() const override { return "attn-check-stage"; }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkStage(getOperation(), stage, target)))
      signalPassFailure();
  }

  Stage stage;
  const TargetInfo &target;
};

} // namespace

std::unique_ptr<Pass> attn::createCheckStagePass(Stage stage, const TargetInfo &target) {
  return std::make_unique<CheckStage>(stage, target);
}
