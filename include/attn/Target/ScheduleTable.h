//===- ScheduleTable.h - From problems to schedules -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_SCHEDULETABLE_H
#define ATTN_TARGET_SCHEDULETABLE_H

#include "attn/Target/Schedule.h"
#include "attn/Target/TargetInfo.h"

namespace attn {

// Sets that a row of a schedule table names.
namespace elements {
enum Set : unsigned { F32 = 1, F16 = 2, BF16 = 4, SixteenBit = F16 | BF16, Any = F32 | F16 | BF16 };
} // namespace elements
namespace masks {
/// A composition is the union of its members; Other is any mask not named here.
enum Set : unsigned { Full = 1, Causal = 2, Window = 4, Other = 8, Any = 15 };
} // namespace masks
namespace phases {
/// Decode is a problem of one query for each sequence, known when the kernel is compiled.
enum Set : unsigned { Prefill = 1, Decode = 2, Any = 3 };
} // namespace phases

/// What the conditions of rows ask of a problem.
struct RowFacts {
  int64_t headDimQK = 0, headDimV = 0;
  int64_t alignmentBytes = 0;
  unsigned element = 0;                            ///< One member of elements::Set.
  unsigned masks = 0;                              ///< A masks::Set.
  unsigned phase = 0;                              ///< One member of phases::Set.
  std::optional<int64_t> maxSeqLen = std::nullopt; ///< Of the sequences to choose for.
  bool operator==(const RowFacts &) const = default;
};

/// What schedules depend on: the facts of an attn.forward that rows and budgets ask for.
struct ProblemFacts : RowFacts {
  mlir::Type elementType, outType;
  bool hasLse = false;
  bool canPackGqa = false; ///< See ForwardOp.

  int64_t elementBytes() const { return elementType.getIntOrFloatBitWidth() / 8; }
  int64_t outElementBytes() const { return outType.getIntOrFloatBitWidth() / 8; }
};

ProblemFacts describeProblem(ForwardOp op);

/// Inclusive bounds of a head dim.
struct DimRange {
  int64_t min = 8;
  int64_t max = 512;
};

/// The problems that a row takes.
struct RowCondition {
  unsigned elements = elements::Any;
  DimRange headDimQK = {};
  DimRange headDimV = {};
  unsigned masks = masks::Any;
  unsigned phases = phases::Any;
  int64_t minAlignment = 1;
  /// Takes only problems that promise sequences of at most that length; 0 takes all.
  int64_t maxSeqLen = 0;
};

/// One row of a schedule table: the problems it takes, and their schedule.
struct ScheduleRow {
  llvm::StringLiteral name;
  RowCondition takes = {};
  /// CTAs that an SM's shared memory must have room for; where it has not, a row below may
  /// do better with less.
  int64_t ctasPerSM = 1;
  /// The row of last resort of a target that has faster ones.
  bool isGeneric = false;
  /// `order` is set by selection, which knows the mask.
  ScheduleValues schedule;
};

/// Rows are tried from top to bottom.
struct ScheduleTable {
  llvm::ArrayRef<ScheduleRow> forward;
  ScheduleValues merge;
};

const ScheduleTable &scheduleTableCPU();
const ScheduleTable &scheduleTableSM80();
const ScheduleTable &scheduleTableSM90();
const ScheduleTable &scheduleTable(const TargetInfo &target);

/// Why the condition of a row does not take a problem, and how far the row got: the
/// rejection at the highest step says most about the problem, and of those the closest.
struct RowMismatch {
  int step = 0;
  std::string reason;
  int64_t closeness = 0; ///< Among rejections at one step.
};
std::optional<RowMismatch> matchRow(const RowCondition &takes, const RowFacts &facts);
/// One more than any step of a RowMismatch.
constexpr int kNumMatchSteps = 7;

/// The least bound of sequence lengths that dispatch tells from `facts.maxSeqLen`: that of a row
/// for short sequences which takes the problem, or nothing where no row asks for lengths.
std::optional<int64_t> lengthClass(const RowFacts &facts, const TargetInfo &target);

} // namespace attn

#endif // ATTN_TARGET_SCHEDULETABLE_H
