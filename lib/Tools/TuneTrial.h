//===- TuneTrial.h - Measures a schedule in another process -----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_TUNETRIAL_H
#define ATTN_LIB_TOOLS_TUNETRIAL_H

#include "TuneProblem.h"

namespace attn {

enum class TrialStatus { Passed, Wrong, Failed, Crashed, TimedOut };

/// "passed", "wrong", "failed", "crashed", "timed_out".
llvm::StringRef toText(TrialStatus status);
std::optional<TrialStatus> parseTrialStatus(llvm::StringRef text);

struct TrialResult {
  TrialStatus status = TrialStatus::Failed;
  double medianUs = 0; ///< Of a call of the asked shape, when passed.
  std::string detail;  ///< What went wrong when not.

  bool passed() const { return status == TrialStatus::Passed; }
};

struct TrialOptions {
  std::string device, target, cacheDir;
  unsigned timeoutSeconds = 60;
  unsigned repeat = 10;
};

/// Runs `attnc run` in a process of its own, so that a hang, a crash or a device error that sticks
/// to its process costs one schedule.
class TrialRunner {
public:
  TrialRunner(TrialOptions options, const TuneProblem &problem)
      : options(std::move(options)), problem(problem) {}

  /// Compares with float64 at a small shape that has tile edges in it, then times the asked shape.
  rt::Expected<TrialResult> checkAndTime(const ScheduleValues &schedule) const;
  rt::Expected<TrialResult> time(const ScheduleValues &schedule) const;

private:
  rt::Expected<TrialResult> run(const ScheduleValues &schedule, bool check) const;

  TrialOptions options;
  const TuneProblem &problem;
};

} // namespace attn

#endif // ATTN_LIB_TOOLS_TUNETRIAL_H
