//===- TuneSearch.cpp - Looks for a faster schedule -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneSearch.h"

#include <cmath>

using namespace attn;
using llvm::StringRef;

/// Schedules that are measured again beside the default, and how often.
static constexpr size_t kFinalists = 3;
static constexpr size_t kRounds = 5;
static constexpr size_t kLastTrials = kRounds * (kFinalists + 1);

std::string attn::differences(const ScheduleValues &schedule, const ScheduleValues &from) {
  SchedulePins pins;
  visitSchedule(
      [](StringRef, auto &pin, const auto &value, const auto &other) {
        if (value != other)
          pin = value;
      },
      pins, schedule, from);
  std::string text = toText(pins);
  return text.empty() ? "the default" : text;
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

size_t TunePlan::numSwitchTrials() const {
  size_t count = 0;
  // The value that the best tiles have is measured already.
  for (const auto &[field, candidates] : switches)
    count += candidates.size() - 1;
  return count;
}

/// A field that the CPU has no use for is an error, as a pin of it is, whatever the rest of its
/// list.
static rt::Status checkGiven(const Compiler &compiler, const TuneProblem &problem) {
  if (compiler.target().isGpu)
    return {};
  rt::Status status;
  KernelSpec pinned = problem.spec;
  visitSchedule(
      [&](StringRef name, const auto &choices, auto &pin) {
        // Tile sizes that do not fit are listed with the reason.
        if (name == "q_tile" || name == "kv_tile")
          return;
        for (const auto &choice : choices) {
          pin = choice;
          if (rt::Expected<ChosenSchedule> chosen = compiler.choose(pinned); !chosen && status)
            status = rt::fail(chosen.error());
        }
        pin.reset();
      },
      problem.given, pinned.pins);
  return status;
}

rt::Expected<TunePlan> attn::planSearch(const Compiler &compiler, const TuneProblem &problem) {
  if (rt::Status status = checkGiven(compiler, problem); !status)
    return rt::fail(status.error());
  rt::Expected<ChosenSchedule> byDefault = compiler.choose(problem.spec);
  if (!byDefault)
    return rt::fail(byDefault.error());
  const ScheduleValues &base = byDefault->schedule;
  rt::Expected<CandidateList> list =
      compiler.candidates(problem.spec, tileSpaces(compiler.target(), base, problem.given),
                          problem.callShape(), RegisterSplits::FirstThatFits);
  if (!list)
    return rt::fail(list.error());
  TunePlan plan;
  plan.byDefault = *byDefault;
  plan.rejected = std::move(list->rejected);
  plan.takes = list->takes;
  // What is known to be good has good neighbours; a doubled estimate weighs as much as two fields.
  auto cost = [&](const Candidate &candidate) {
    return distance(candidate.schedule, base) + 2 * std::log2(candidate.estimateUs + 1e-9);
  };
  std::multimap<double, Candidate> ranked;
  for (Candidate &candidate : list->admitted)
    if (candidate.schedule != base)
      ranked.emplace(cost(candidate), candidate);
  for (auto &[rank, candidate] : ranked)
    plan.tiles.push_back(std::move(candidate));
  if (plan.tiles.empty() && !isWithin(base, problem.given))
    return plan;
  plan.center = isWithin(base, problem.given) ? base : plan.tiles.front().schedule;
  for (const auto &[field, space] : switchSpaces(compiler.target(), plan.center, problem.given)) {
    list = compiler.candidates(problem.spec, space, problem.callShape(), RegisterSplits::All);
    if (!list)
      return rt::fail(list.error());
    llvm::append_range(plan.rejected, list->rejected);
    if (list->admitted.size() > 1)
      plan.switches.emplace_back(field, std::move(list->admitted));
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

bool TuneSearch::hasTime(size_t numToCome) const {
  double spent = progress.secondsSinceBegin();
  double each = numMeasured > 0 ? spent / static_cast<double>(numMeasured) : 0;
  // What comes after gets half of the budget at most.
  double toCome = std::min(each * static_cast<double>(numToCome), limits.budgetSeconds / 2);
  return spent + toCome < limits.budgetSeconds;
}

const ScheduleValues *TuneSearch::best() const {
  for (const auto &[time, schedule] : ranking)
    if (isWithin(schedule, problem.given))
      return &schedule;
  return nullptr;
}

rt::Status TuneSearch::measureDefault(const TunePlan &plan) {
  base = plan.byDefault.schedule;
  rt::Expected<TrialResult> result = runner.checkAndTime(base);
  if (!result)
    return rt::fail(result.error());
  ++numMeasured;
  if (!result->passed())
    return rt::fail(rt::ErrorCode::BadInput,
                    "the default schedule, row '" + plan.byDefault.row + "', " +
                        (result->status == TrialStatus::TimedOut
                             ? "is " + result->detail + "; raise --timeout or take a smaller shape"
                             : toText(result->status).str() + ": " + result->detail));
  baseUs = result->medianUs;
  ranking.emplace(baseUs, base);
  return {};
}

rt::Status TuneSearch::tryOne(const ScheduleValues &schedule) {
  TrialResult result;
  if (const TrialResult *before = journal.find(schedule)) {
    result = *before;
  } else {
    rt::Expected<TrialResult> measured = runner.checkAndTime(schedule);
    if (!measured)
      return rt::fail(measured.error());
    ++numMeasured;
    result = *measured;
    if (rt::Status status = journal.add(schedule, result); !status)
      return status;
  }
  ++outcome.counts[toText(result.status).str()];
  if (result.passed())
    ranking.emplace(result.medianUs, schedule);
  progress.step(differences(schedule, base), result, ranking.begin()->first, baseUs);
  return {};
}

rt::Status TuneSearch::tryTiles(const TunePlan &plan) {
  for (const Candidate &candidate : plan.tiles) {
    if (!hasTime(plan.numSwitchTrials() + kLastTrials)) {
      outcome.isOutOfTime = true;
      return {};
    }
    if (rt::Status status = tryOne(candidate.schedule); !status)
      return status;
  }
  return {};
}

rt::Status TuneSearch::trySwitches() {
  const ScheduleValues *first = best();
  if (!first)
    return {};
  // Which fields there are depends on the instruction, which is that of all that follow.
  size_t numFields = switchSpaces(compiler.target(), *first, problem.given).size();
  for (size_t field = 0; field < numFields; ++field) {
    ScheduleValues center = *best();
    auto spaces = switchSpaces(compiler.target(), center, problem.given);
    rt::Expected<CandidateList> list = compiler.candidates(
        problem.spec, spaces[field].second, problem.callShape(), RegisterSplits::All);
    if (!list)
      return rt::fail(list.error());
    for (const Candidate &candidate : list->admitted) {
      if (candidate.schedule == center)
        continue;
      if (!hasTime(kLastTrials)) {
        outcome.isOutOfTime = true;
        return {};
      }
      if (rt::Status status = tryOne(candidate.schedule); !status)
        return status;
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The best few again
//===----------------------------------------------------------------------===//

static double quantile(std::vector<double> times, double fraction) {
  llvm::sort(times);
  return times[static_cast<size_t>(std::lround(fraction * static_cast<double>(times.size() - 1)))];
}

/// The gain that chance may account for, relative to the old time: as much as the quartiles that
/// face each other are nearer than the medians.
static double noiseOf(const std::vector<double> &oldTimes, const std::vector<double> &newTimes) {
  return (quantile(oldTimes, 0.5) - quantile(oldTimes, 0.25) + quantile(newTimes, 0.75) -
          quantile(newTimes, 0.5)) /
         quantile(oldTimes, 0.5);
}

rt::Status TuneSearch::measureAgain() {
  if (ranking.size() == 1) {
    outcome.byDefault = {base, baseUs};
    return {};
  }
  progress.note(llvm::formatv("measuring the best {0} and the default again, {1} times in turns",
                              std::min(kFinalists, ranking.size() - 1), kRounds));
  struct Finalist {
    ScheduleValues schedule;
    std::vector<double> times;
  };
  std::vector<Finalist> finalists = {{base, {}}};
  for (const auto &[time, schedule] : ranking)
    if (schedule != base && finalists.size() <= kFinalists)
      finalists.push_back({schedule, {}});
  for (size_t round = 0; round < kRounds; ++round) {
    // Forth and back, so that a machine that gets slower treats all alike.
    std::vector<Finalist *> order;
    for (Finalist &finalist : finalists)
      order.push_back(&finalist);
    if (round % 2 == 1)
      std::reverse(order.begin(), order.end());
    for (Finalist *finalist : order) {
      rt::Expected<TrialResult> result = runner.time(finalist->schedule);
      if (!result)
        return rt::fail(result.error());
      if (result->passed())
        finalist->times.push_back(result->medianUs);
      else
        progress.note(differences(finalist->schedule, base) + ": " + toText(result->status).str() +
                      " when measured again: " + result->detail);
    }
  }
  // What failed once is no winner.
  llvm::erase_if(finalists, [](const Finalist &f) { return f.times.size() < kRounds; });
  if (finalists.empty() || finalists.front().schedule != base)
    return rt::fail(rt::ErrorCode::BadInput,
                    "the default schedule failed when it was measured again; see above");
  auto median = [](const Finalist &f) { return quantile(f.times, 0.5); };
  outcome.byDefault = {base, median(finalists.front())};
  std::sort(finalists.begin() + 1, finalists.end(),
            [&](const Finalist &a, const Finalist &b) { return median(a) < median(b); });
  if (finalists.size() > 1) {
    outcome.best = {finalists[1].schedule, median(finalists[1])};
    outcome.gain = 1 - outcome.best->medianUs / outcome.byDefault.medianUs;
    outcome.noise = noiseOf(finalists[0].times, finalists[1].times);
  }
  if (finalists.size() > 2)
    outcome.secondBest = {finalists[2].schedule, median(finalists[2])};
  return {};
}

rt::Expected<TuneOutcome> TuneSearch::run(const TunePlan &plan) {
  progress.begin(plan.numTrials(), limits.budgetSeconds);
  rt::Status status = measureDefault(plan);
  if (status)
    status = tryTiles(plan);
  if (status)
    status = trySwitches();
  if (status)
    status = measureAgain();
  if (!status)
    return rt::fail(status.error());
  outcome.isImproved = outcome.best && outcome.gain > std::max(limits.minGain, outcome.noise);
  return outcome;
}
