//===- ScheduleFile.h - Schedule rows that a file holds ---------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_SCHEDULEFILE_H
#define ATTN_TARGET_SCHEDULEFILE_H

#include "attn/Target/ScheduleTable.h"

#include <memory>

namespace attn {

/// How a row came about; dispatch does not read it. Times are medians of one call.
struct RowProvenance {
  std::string device, driver, attn, problem, shape, date;
  double medianUs = 0;     ///< Of the row's schedule.
  double secondBestUs = 0; ///< Of the next best one; 0 when there was none.
  double defaultUs = 0;    ///< Of what dispatch chose before.
};

/// One row of a schedule file. Unlike a row of a target's table it names its target, may leave
/// fields of the schedule to the attribute's defaults, and decides `order` when it names it.
struct FileRow {
  std::string name;
  std::string target;
  std::string device; ///< A pattern with * and ?; empty takes every device.
  RowCondition takes;
  SchedulePins schedule;
  RowProvenance provenance;
};

/// Rows are tried from top to bottom, before those of the target's table.
struct ScheduleFile {
  std::string path;   ///< What messages call it.
  std::string digest; ///< SHA-256 of its text.
  std::vector<FileRow> rows;
};

/// The rows that dispatch tries first, and the device that it chooses for.
struct FileSchedules {
  std::shared_ptr<const ScheduleFile> file = nullptr;
  /// Its name, as the driver gives it; empty where not known, and rows that ask for a device do
  /// not match then.
  std::string device = {};
};

/// Why a row of a file does not take a problem, or nothing.
std::optional<RowMismatch> matchRow(const FileRow &row, llvm::StringRef device,
                                    const ProblemFacts &facts);

/// The schedule of a row. `order` is that of a field left out when the row does not name it.
ScheduleValues scheduleOf(const FileRow &row, mlir::MLIRContext *context);

} // namespace attn

#endif // ATTN_TARGET_SCHEDULEFILE_H
