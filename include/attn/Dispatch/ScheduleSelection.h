//===- ScheduleSelection.h - Chooses a schedule, with reasons ---*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISPATCH_SCHEDULESELECTION_H
#define ATTN_DISPATCH_SCHEDULESELECTION_H

#include "attn/Target/ScheduleBudget.h"
#include "attn/Target/ScheduleFile.h"

namespace attn {

/// A row of the table that was tried and not taken.
struct RejectedRow {
  std::string row;
  std::string reason;
  std::string file = {}; ///< That the row stands in; empty for the target's table.
};

/// "row", or "row (from FILE)".
std::string rowText(llvm::StringRef row, llvm::StringRef file);

/// Row name of a selection whose schedule stood on the op.
constexpr llvm::StringLiteral kPinnedRow = "pinned";

struct Selection {
  std::string row;
  std::string file;      ///< That the row stands in; empty for the target's table.
  ScheduleAttr schedule; ///< Null when there is none: `error` says why.
  std::vector<RejectedRow> rejected;
  /// The generic path was taken although the target has a faster one that nobody ruled out.
  bool isFallback = false;
  std::string fallbackReason;
  std::string error;

  explicit operator bool() const { return static_cast<bool>(schedule); }
};

/// The first row that takes the problem and, with the pinned fields, fits the target: of a
/// schedule file if there is one, else of the target's table.
Selection selectSchedule(ForwardOp op, const TargetInfo &target, const SchedulePins &pins = {},
                         const FileSchedules &files = {});

/// What `attn-select-schedule` decides for an op: a schedule on the op is kept after
/// verification, the fields in `attn.pins` are kept, the rest comes from the file or the table.
Selection chooseSchedule(ForwardOp op, const TargetInfo &target, const FileSchedules &files = {});
Selection chooseSchedule(MergeStatesOp op, const TargetInfo &target);

} // namespace attn

#endif // ATTN_DISPATCH_SCHEDULESELECTION_H
