//===- TuneSearch.h - Looks for a faster schedule ---------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First the shapes of tiles, those near the default first; then, around the best of them, one
// other field after the other; last the best few and the default again, in turns.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_TUNESEARCH_H
#define ATTN_LIB_TOOLS_TUNESEARCH_H

#include "TuneJournal.h"
#include "TuneProgress.h"

#include <map>

namespace attn {

/// What there is to try, before anything is measured.
struct TunePlan {
  ChosenSchedule byDefault;
  std::vector<Candidate> tiles; ///< In the order in which they are tried.
  std::vector<RejectedCandidate> rejected;
  ScheduleValues center; ///< The default, or the first of the tiles asked for.
  /// Fields that are tried one after the other around the best tiles; here around `center`.
  std::vector<std::pair<std::string, std::vector<Candidate>>> switches;
  RowCondition takes;

  size_t numTrials() const { return tiles.size() + numSwitchTrials(); }
  size_t numSwitchTrials() const;
};

rt::Expected<TunePlan> planSearch(const Compiler &compiler, const TuneProblem &problem);

struct TuneLimits {
  double budgetSeconds = 600;
  double minGain = 0.01; ///< Fraction of the default's time that a winner must save.
};

struct MeasuredSchedule {
  ScheduleValues schedule;
  double medianUs = 0; ///< Of the last measurements, which were taken in turns.
};

struct TuneOutcome {
  MeasuredSchedule byDefault;
  std::optional<MeasuredSchedule> best, secondBest; ///< Other than the default.
  double gain = 0;  ///< Fraction of the default's time that `best` saves.
  double noise = 0; ///< The part of `gain` that chance may account for.
  bool isImproved = false;
  bool isOutOfTime = false;             ///< Schedules were left untried.
  std::map<std::string, size_t> counts; ///< Tried schedules by how it went.
};

class TuneSearch {
public:
  TuneSearch(const Compiler &compiler, const TuneProblem &problem, const TrialRunner &runner,
             TuneJournal &journal, TuneProgress &progress, TuneLimits limits)
      : compiler(compiler), problem(problem), runner(runner), journal(journal), progress(progress),
        limits(limits) {}

  /// BadInput when the default itself does not run.
  rt::Expected<TuneOutcome> run(const TunePlan &plan);

private:
  rt::Status measureDefault(const TunePlan &plan);
  rt::Status tryTiles(const TunePlan &plan);
  rt::Status trySwitches();
  rt::Status tryOne(const ScheduleValues &schedule);
  rt::Status measureAgain();
  /// Whether there is time for one more, and for as many as come after that.
  bool hasTime(size_t numToCome) const;
  /// The best that is one of the schedules asked for, or null.
  const ScheduleValues *best() const;

  const Compiler &compiler;
  const TuneProblem &problem;
  const TrialRunner &runner;
  TuneJournal &journal;
  TuneProgress &progress;
  TuneLimits limits;

  ScheduleValues base; ///< The default.
  double baseUs = 0;
  /// What passed, by time; the default among them.
  std::multimap<double, ScheduleValues> ranking;
  size_t numMeasured = 0;
  TuneOutcome outcome;
};

/// Fields in which a schedule differs from another, as "q_tile = 64, stages = 1".
std::string differences(const ScheduleValues &schedule, const ScheduleValues &from);

} // namespace attn

#endif // ATTN_LIB_TOOLS_TUNESEARCH_H
