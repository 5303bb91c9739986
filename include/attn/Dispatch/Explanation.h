//===- Explanation.h - Why a problem runs as it does ------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISPATCH_EXPLANATION_H
#define ATTN_DISPATCH_EXPLANATION_H

#include "attn/Dispatch/ScheduleSelection.h"

#include <llvm/Support/JSON.h>

namespace attn {

/// The sizes of one call.
struct ProblemShape {
  int64_t batch = 1;
  int64_t seqLenQ = 0;
  int64_t seqLenKV = 0;
  /// Values of the mask's run-time parameters, if known.
  llvm::SmallVector<int64_t> maskParams = {};
};

/// What a GPU kernel takes of an SM.
struct Resources {
  RegisterUse registers;
  int64_t registerLimit = 0;
  SharedMemoryUse shared;
  int64_t sharedLimit = 0;
  int64_t ctasPerSM = 0;
  /// What allows no more CTAs on an SM: "registers", "shared memory", "warps" or "CTAs".
  std::string limitedBy;
};

/// The least time of a call by the peak rates of one device.
struct Roofline {
  PeakRates rates;
  double computeUs = 0;
  double memoryUs = 0;
  double boundUs = 0;
  double tflops = 0; ///< The rate at which the bound is met.
  bool isMemoryBound = false;
};

/// The work of one call, whatever the schedule.
struct Work {
  ProblemShape shape;
  double pairs = 0; ///< (query, key) pairs over all heads and sequences.
  bool pairsAreExact = true;
  double flops = 0;  ///< 2 (d_qk + d_v) for each pair.
  double bytes = 0;  ///< Each tensor moved once.
  int64_t tiles = 0; ///< What CTAs of a persistent grid share; else each CTA, or task, has one.
  int64_t ctas = 0;  ///< CTAs that are launched, or tasks on the CPU.
  bool isPersistent = false;
  double waves = 0; ///< Tiles over the CTAs that the device runs at once.
  llvm::SmallVector<Roofline, 2> rooflines;

  double tilesPerCta() const {
    return ctas > 0 ? static_cast<double>(tiles) / static_cast<double>(ctas) : 0;
  }
};

/// Everything that `attnc explain` says about one problem.
struct Explanation {
  std::string problem;
  std::string target;
  Selection selection;
  std::optional<Resources> resources; ///< Of a GPU kernel.
  std::optional<Work> work;           ///< When a shape was given.

  std::string toText() const;
  llvm::json::Value toJson() const;
};

/// Explains what `attn-select-schedule` decides for an op. The op must have been verified.
Explanation explainForward(ForwardOp op, const TargetInfo &target,
                           const std::optional<ProblemShape> &shape = std::nullopt,
                           const FileSchedules &files = {});

/// What a GPU kernel of this schedule takes of an SM.
Resources estimateResources(const ProblemFacts &facts, const TargetInfo &target,
                            ScheduleAttr schedule);

/// The work of one call, without a grid.
Work describeWork(ForwardOp op, const TargetInfo &target, const ProblemShape &shape);

/// Sets the grid that a schedule gives the work; `resources` are those of a GPU kernel.
void addGrid(Work &work, ForwardOp op, const TargetInfo &target, ScheduleAttr schedule,
             const std::optional<Resources> &resources);

} // namespace attn

#endif // ATTN_DISPATCH_EXPLANATION_H
