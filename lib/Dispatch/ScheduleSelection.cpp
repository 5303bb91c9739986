//===- ScheduleSelection.cpp - Chooses a schedule, with reasons -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dispatch/ScheduleSelection.h"

using namespace mlir;
using namespace attn;

namespace {

/// The search through one table for one problem.
class RowSearch {
public:
  RowSearch(ForwardOp op, const TargetInfo &target, const SchedulePins &pins)
      : context(op.getContext()), target(target), pins(pins), facts(describeProblem(op)) {}

  Selection run();

private:
  /// Why the row is not taken and how far it got, or nothing; sets `schedule`.
  std::optional<RowMismatch> tryRow(const ScheduleRow &row, ScheduleAttr &schedule);
  void reject(const ScheduleRow &row, RowMismatch mismatch, Selection &selection);
  std::string noRowMessage() const;

  MLIRContext *context;
  const TargetInfo &target;
  const SchedulePins &pins;
  ProblemFacts facts;
  /// The rejected row that got furthest, and of those the first: its reason says most.
  RowMismatch closest{-1, ""};
  StringRef closestRow;
};

} // namespace

std::optional<RowMismatch> RowSearch::tryRow(const ScheduleRow &row, ScheduleAttr &schedule) {
  if (std::optional<RowMismatch> mismatch = matchRow(row, facts))
    return mismatch;
  if (pins.instruction && *pins.instruction != row.schedule.instruction && target.isGpu)
    return RowMismatch{kNumMatchSteps, "instruction: the row computes with " +
                                           fieldText(row.schedule.instruction) + ", pinned is " +
                                           fieldText(*pins.instruction)};
  ScheduleValues values = row.schedule;
  // Rows of Q near the end see most keys: started last, they would run alone.
  if (facts.masks & (masks::Causal | masks::Window))
    values.order = TileOrder::LongestFirst;
  // Other algorithms have no product of a neighbour to run beside.
  if (pins.algorithm.value_or(values.algorithm) != Algorithm::FA2)
    values.overlap = false;
  schedule = toAttr(context, mergePins(values, pins));
  std::string fault = checkSchedule(facts, target, schedule);
  if (!fault.empty())
    return RowMismatch{kNumMatchSteps + 1, fault};
  int64_t bytes =
      row.ctasPerSM * (sharedMemoryUse(facts, schedule).total() + target.reservedSharedBytesPerCta);
  if (target.isGpu && bytes > target.sharedBytesPerSM)
    return RowMismatch{
        kNumMatchSteps + 1,
        llvm::formatv("shared memory: {0} CTAs of the row take {1} bytes, an SM of {2} has {3}",
                      row.ctasPerSM, bytes, target.name, target.sharedBytesPerSM)};
  return std::nullopt;
}

void RowSearch::reject(const ScheduleRow &row, RowMismatch mismatch, Selection &selection) {
  selection.rejected.push_back({row.name.str(), mismatch.reason});
  // Why the generic rows fail is no reason for having come to them.
  if (row.isGeneric && !closestRow.empty())
    return;
  if (mismatch.step > closest.step) {
    closest = mismatch;
    closestRow = row.name;
  }
}

std::string RowSearch::noRowMessage() const {
  std::string message = "no row of the schedule table of " + target.name + " takes this problem";
  std::string pinned = toText(pins);
  if (!pinned.empty())
    message += " with the pinned fields " + pinned;
  return message + "; the closest, " + closestRow.str() + ", says " + closest.reason;
}

Selection RowSearch::run() {
  Selection selection;
  selection.error = checkPins(context, pins);
  if (!selection.error.empty())
    return selection;
  for (const ScheduleRow &row : scheduleTable(target).forward) {
    ScheduleAttr schedule;
    if (std::optional<RowMismatch> mismatch = tryRow(row, schedule)) {
      reject(row, *mismatch, selection);
      continue;
    }
    selection.row = row.name;
    selection.schedule = schedule;
    if (row.isGeneric && !pins.instruction) {
      selection.isFallback = true;
      selection.fallbackReason = closest.reason;
    }
    return selection;
  }
  selection.error = noRowMessage();
  return selection;
}

Selection attn::selectSchedule(ForwardOp op, const TargetInfo &target, const SchedulePins &pins) {
  return RowSearch(op, target, pins).run();
}

/// A schedule that stood on an op, if it fits.
static Selection keepSchedule(ScheduleAttr schedule, const std::string &fault,
                              const TargetInfo &target) {
  Selection selection;
  selection.row = kPinnedRow;
  if (fault.empty())
    selection.schedule = schedule;
  else
    selection.error = "schedule does not fit " + target.name + ": " + fault;
  return selection;
}

Selection attn::chooseSchedule(ForwardOp op, const TargetInfo &target) {
  Selection selection;
  Attribute pinsAttr = op->getAttr(kPinsAttr);
  if (ScheduleAttr schedule = op.getScheduleAttr()) {
    if (!pinsAttr)
      return keepSchedule(schedule, checkSchedule(describeProblem(op), target, schedule), target);
    selection.error = "expected a schedule or '" + kPinsAttr.str() +
                      "', got both; a schedule "
                      "leaves no field to choose";
    return selection;
  }
  SchedulePins pins;
  if (pinsAttr) {
    auto dictionary = dyn_cast<DictionaryAttr>(pinsAttr);
    std::string error =
        dictionary ? parsePins(dictionary, pins) : "expected a dictionary of schedule fields";
    if (!error.empty()) {
      selection.error = "'" + kPinsAttr.str() + "': " + error;
      return selection;
    }
  }
  return selectSchedule(op, target, pins);
}

Selection attn::chooseSchedule(MergeStatesOp op, const TargetInfo &target) {
  if (ScheduleAttr schedule = op.getScheduleAttr())
    return keepSchedule(schedule, checkMergeSchedule(op, target, schedule), target);
  Selection selection;
  selection.row = "merge";
  ScheduleAttr schedule = toAttr(op.getContext(), scheduleTable(target).merge);
  selection.error = checkMergeSchedule(op, target, schedule);
  if (selection.error.empty())
    selection.schedule = schedule;
  return selection;
}
