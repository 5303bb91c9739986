//===- Pipelines.cpp - The order of passes --------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "DumpStage.h"
#include "attn/Conversion/AttnToCPU/AttnToCPU.h"
#include "attn/Conversion/AttnToNVVM/AttnToNVVM.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dispatch/Passes.h"

#include <mlir/Transforms/Passes.h>

using namespace mlir;
using namespace attn;

ArrayRef<Stage> attn::allStages() {
  static constexpr Stage stages[] = {Stage::Normalize, Stage::Configure, Stage::Split,
                                     Stage::Tile,      Stage::Schedule,  Stage::Place,
                                     Stage::Convert,   Stage::Lower};
  return stages;
}

StringRef attn::stageName(Stage stage) {
  static constexpr llvm::StringLiteral names[] = {"normalize", "configure", "split",   "tile",
                                                  "schedule",  "place",     "convert", "lower"};
  return names[static_cast<size_t>(stage)];
}

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// From L0 to L1, one function for each kernel: the same on every target.
static void buildTileStage(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAttnLowerToTiles());
  pm.addNestedPass<func::FuncOp>(createAttnVerifyNoProblemOps());
  pm.addPass(createAttnOutlineKernels());
  // Before mask ranges are split, so that equal bounds are one value there.
  cleanUp(pm);
  pm.addNestedPass<func::FuncOp>(createAttnSplitMaskRanges());
  cleanUp(pm);
}

/// The vector width of a target in f32 elements.
static unsigned vectorWidth(const PipelineOptions &options, const TargetInfo &target) {
  return options.vectorWidth ? options.vectorWidth : target.vectorBits / 32;
}

static void buildCPUStage(OpPassManager &pm, Stage stage, const PipelineOptions &options,
                          const TargetInfo &target) {
  if (stage == Stage::Convert) {
    ConvertAttnToCPUOptions convert;
    convert.vectorWidth = vectorWidth(options, target);
    pm.addPass(createConvertAttnToCPU(convert));
  } else if (stage == Stage::Lower) {
    buildCPUToLLVMPipeline(pm);
  }
}

static void buildGPUStage(OpPassManager &pm, Stage stage) {
  switch (stage) {
  case Stage::Schedule:
    // While loads and products are values, moving them is easy: pipes and waits come after.
    pm.addNestedPass<func::FuncOp>(createAttnOrderKeys());
    pm.addNestedPass<func::FuncOp>(createAttnOverlapSoftmax());
    pm.addNestedPass<func::FuncOp>(createAttnPersist());
    pm.addNestedPass<func::FuncOp>(createAttnStartProducts());
    pm.addNestedPass<func::FuncOp>(createAttnPingpong());
    pm.addNestedPass<func::FuncOp>(createAttnInsertPipes());
    // Last, because it needs to see who fills a pipe and who waits for it in one place.
    pm.addNestedPass<func::FuncOp>(createAttnAssignRoles());
    pm.addNestedPass<func::FuncOp>(createAttnVerifyPipes());
    pm.addNestedPass<func::FuncOp>(createAttnWaitAhead());
    pm.addNestedPass<func::FuncOp>(createAttnOverlapStores());
    cleanUp(pm);
    // The numbers of first rounds are constants now.
    pm.addNestedPass<func::FuncOp>(createAttnTrimPipes());
    break;
  case Stage::Place:
    pm.addNestedPass<func::FuncOp>(createAttnAssignLayouts());
    pm.addNestedPass<func::FuncOp>(createAttnAllocateSmem());
    pm.addNestedPass<func::FuncOp>(createAttnAssignTensorMaps());
    break;
  case Stage::Convert:
    pm.addPass(createConvertAttnToNVVM());
    pm.addPass(createAttnVerifyNoAttnOps());
    pm.addNestedPass<func::FuncOp>(createAttnNarrowPositions());
    // Unrolled code repeats itself: CSE alone, because canonicalizing thousands of ops takes
    // longer than all other passes and LLVM does it again.
    pm.addPass(createCSEPass());
    break;
  case Stage::Lower:
    // LLVM's own CSE comes next.
    buildGPUToLLVMPipeline(pm);
    break;
  default:
    break;
  }
}

void attn::buildStage(OpPassManager &pm, Stage stage, const PipelineOptions &options,
                      const TargetInfo &target) {
  switch (stage) {
  case Stage::Normalize:
    pm.addNestedPass<func::FuncOp>(createAttnNormalizeProblem());
    cleanUp(pm);
    break;
  case Stage::Configure:
    pm.addNestedPass<func::FuncOp>(createAttnSelectSchedule({target.name}, options.schedules));
    pm.addNestedPass<func::FuncOp>(createAttnVerifySchedule({target.name}));
    break;
  case Stage::Split:
    pm.addNestedPass<func::FuncOp>(createAttnSplitKV());
    break;
  case Stage::Tile:
    buildTileStage(pm);
    break;
  default:
    if (target.isGpu)
      buildGPUStage(pm, stage);
    else
      buildCPUStage(pm, stage, options, target);
  }
}

void attn::buildStages(OpPassManager &pm, Stage first, Stage last, const PipelineOptions &options,
                       const TargetInfo &target) {
  for (Stage stage : allStages())
    if (first <= stage && stage <= last)
      buildStage(pm, stage, options, target);
}

void attn::buildPipeline(OpPassManager &pm, const PipelineOptions &options,
                         const TargetInfo &target, StringRef dumpDirectory) {
  for (Stage stage : allStages()) {
    buildStage(pm, stage, options, target);
    if (!dumpDirectory.empty())
      pm.addPass(createDumpStagePass(dumpDirectory, stage));
  }
  if (!dumpDirectory.empty() && target.isGpu)
    pm.addPass(createDumpPTXPass(dumpDirectory, target));
}
