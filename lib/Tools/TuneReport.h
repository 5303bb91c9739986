//===- TuneReport.h - What a search says ------------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_TUNEREPORT_H
#define ATTN_LIB_TOOLS_TUNEREPORT_H

#include "TuneSearch.h"
#include "attn/Compiler/ScheduleFileText.h"

namespace attn {

/// Where a search runs.
struct TuneDevice {
  std::string text;   ///< "cuda:0"
  std::string name;   ///< As the driver calls it; empty when there is none.
  std::string driver; ///< Empty on the CPU.
  std::string target;
};

/// What was to be tried and what not, and why.
std::string toText(const TunePlan &plan);
llvm::json::Value toJson(const TunePlan &plan);

/// How a search ended. `row` is what was written, or would be with --out; null when the default
/// stays.
std::string toText(const TuneOutcome &outcome, const TunePlan &plan, const FileRow *row,
                   const std::string &file);
llvm::json::Value toJson(const TuneOutcome &outcome, const TunePlan &plan, const TuneDevice &device,
                         const TuneProblem &problem, const FileRow *row, const std::string &file);

/// The row of a search that found something better. It takes what the problem is, on the device.
FileRow makeRow(const TuneOutcome &outcome, const TunePlan &plan, const TuneDevice &device,
                const TuneProblem &problem);

/// Puts a row before those of a file, in place of one of its name. A file that is not there is
/// made.
rt::Status writeRow(const FileRow &row, const std::string &path);

} // namespace attn

#endif // ATTN_LIB_TOOLS_TUNEREPORT_H
