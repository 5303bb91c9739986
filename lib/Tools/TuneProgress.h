//===- TuneProgress.h - How far a search is ---------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_TUNEPROGRESS_H
#define ATTN_LIB_TOOLS_TUNEPROGRESS_H

#include "TuneTrial.h"

#include <chrono>

namespace attn {

/// Writes to stderr: one line that changes on a terminal, else a line for each schedule.
class TuneProgress {
public:
  TuneProgress();
  ~TuneProgress() { clear(); }

  /// How many schedules there are, and the seconds that they may take.
  void begin(size_t total, double budgetSeconds);
  /// One more is done.
  void step(const std::string &what, const TrialResult &result, double bestUs, double defaultUs);
  /// A line that stays.
  void note(const std::string &text);
  double secondsSinceBegin() const;

private:
  void clear();
  double secondsLeft() const;

  bool isTerminal;
  bool hasBar = false;
  size_t done = 0, total = 0;
  double budget = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace attn

#endif // ATTN_LIB_TOOLS_TUNEPROGRESS_H
