//===- Pipelines.h - The order of passes ------------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place that knows which passes run and in which order; tools, tests and the
// Compiler build their pass managers from it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_PIPELINES_H
#define ATTN_PIPELINES_PIPELINES_H

#include "attn/Target/ScheduleFile.h"

#include <mlir/Pass/PassManager.h>

namespace attn {

enum class Stage { Normalize, Configure, Split, Tile, Schedule, Place, Convert, Lower };

/// All stages, in the order in which they run.
llvm::ArrayRef<Stage> allStages();

/// "normalize", "configure" and so on.
llvm::StringRef stageName(Stage stage);

/// Everything that changes what the passes do.
struct PipelineOptions {
  std::string target = "cpu";
  /// f32 elements in a vector of the CPU target; 0 takes what the host has.
  unsigned vectorWidth = 0;
  /// Rows that are tried before the target's table.
  FileSchedules schedules = {};
};

/// Fails, with a located error that names the stages, unless the module is what the stage takes:
/// neither skipped stages nor is past them, nor was made for a target that this one cannot stand
/// for. The passes themselves leave alone what is not theirs.
llvm::LogicalResult checkStage(mlir::ModuleOp module, Stage stage, const TargetInfo &target);

/// Appends the passes of one stage. A stage that a target does not have is empty.
void buildStage(mlir::OpPassManager &pm, Stage stage, const PipelineOptions &options,
                const TargetInfo &target);

/// Appends the stages from `first` to `last`, both included.
void buildStages(mlir::OpPassManager &pm, Stage first, Stage last, const PipelineOptions &options,
                 const TargetInfo &target);

/// Appends all stages; with a directory, also passes that write the IR after each of
/// them to `1-normalize.mlir` and so on, and last the PTX.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options,
                   const TargetInfo &target, llvm::StringRef dumpDirectory = {});

} // namespace attn

#endif // ATTN_PIPELINES_PIPELINES_H
