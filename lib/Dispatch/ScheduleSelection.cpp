//===- ScheduleSelection.cpp - Chooses a schedule, with reasons -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dispatch/ScheduleSelection.h"

using namespace mlir;
using namespace attn;

// Before the steps of RowMismatch: what the user asks for is another row, by its instruction or by
// fields that kernels of its instruction do not have.
constexpr int kOtherInstruction = -2, kOtherFields = -1;

namespace {

struct ClosestRow {
  StringRef name;
  RowMismatch mismatch = {kOtherInstruction - 1, ""};

  void offer(const ScheduleRow &row, const RowMismatch &other) {
    if (std::pair(other.step, other.closeness) > std::pair(mismatch.step, mismatch.closeness))
      *this = {row.name, other};
  }
};

/// The search through the rows of a file and a table for one problem.
class RowSearch {
public:
  RowSearch(ForwardOp op, const TargetInfo &target, const SchedulePins &pins)
      : context(op.getContext()), target(target), pins(pins), facts(describeProblem(op)) {}

  Selection run(const FileSchedules &files);

private:
  /// Each says why the row is not taken and how far it got, or nothing, and sets `schedule`.
  std::optional<RowMismatch> tryRow(const ScheduleRow &row, ScheduleAttr &schedule);
  std::optional<RowMismatch> tryRow(const FileRow &row, StringRef device, ScheduleAttr &schedule);
  std::optional<RowMismatch> checkInstruction(const ScheduleValues &values) const;
  /// Why no kernel of a row's instruction has the pinned fields.
  std::string checkPinnedFields(const ScheduleValues &values) const;
  /// The same for a row that takes the problem. `setsOrder`: whether `order` is the row's to say.
  std::optional<RowMismatch> trySchedule(ScheduleValues values, bool setsOrder,
                                         ScheduleAttr &schedule);
  /// Whether a row of the file was taken.
  bool searchFile(const FileSchedules &files, Selection &selection);
  void reject(const ScheduleRow &row, RowMismatch mismatch, Selection &selection);
  std::string noRowMessage() const;

  MLIRContext *context;
  const TargetInfo &target;
  const SchedulePins &pins;
  ProblemFacts facts;
  /// The rejected rows that got furthest, and of those the first: their reasons say most. Why the
  /// generic rows fail is no reason for having come to them.
  ClosestRow closest, closestFast;
};

} // namespace

std::optional<RowMismatch> RowSearch::checkInstruction(const ScheduleValues &values) const {
  if (!pins.instruction || *pins.instruction == values.instruction || !target.isGpu)
    return std::nullopt;
  return RowMismatch{kOtherInstruction, "instruction: the row computes with " +
                                            fieldText(values.instruction) + ", pinned is " +
                                            fieldText(*pins.instruction)};
}

std::string RowSearch::checkPinnedFields(const ScheduleValues &values) const {
  ScheduleValues merged = mergePins(values, pins);
  if (!target.isGpu || !checkPins(context, toPins(merged)).empty())
    return {};
  return checkFieldsOfInstruction(toAttr(context, merged));
}

std::optional<RowMismatch> RowSearch::tryRow(const ScheduleRow &row, ScheduleAttr &schedule) {
  if (std::optional<RowMismatch> mismatch = checkInstruction(row.schedule))
    return mismatch;
  std::optional<RowMismatch> mismatch = matchRow(row.takes, facts);
  // A row that would take the problem is the one to name where no row has the field.
  if (std::string fault = checkPinnedFields(row.schedule); !fault.empty())
    return RowMismatch{kOtherFields, fault, mismatch ? mismatch->step : kNumMatchSteps};
  if (mismatch)
    return mismatch;
  mismatch = trySchedule(row.schedule, /*setsOrder=*/false, schedule);
  if (mismatch)
    return mismatch;
  int64_t bytes =
      row.ctasPerSM * (sharedMemoryUse(facts, schedule).total() + target.reservedSharedBytesPerCta);
  if (target.isGpu && bytes > target.sharedBytesPerSM)
    return RowMismatch{
        kNumMatchSteps,
        llvm::formatv("shared memory: {0} CTAs of the row take {1} bytes, an SM of {2} has {3}",
                      row.ctasPerSM, bytes, target.name, target.sharedBytesPerSM)};
  return std::nullopt;
}

std::optional<RowMismatch> RowSearch::tryRow(const FileRow &row, StringRef device,
                                             ScheduleAttr &schedule) {
  if (std::optional<RowMismatch> mismatch = checkInstruction(scheduleOf(row, context)))
    return mismatch;
  if (std::optional<RowMismatch> mismatch = matchRow(row, device, facts))
    return mismatch;
  return trySchedule(scheduleOf(row, context), row.schedule.order.has_value(), schedule);
}

std::optional<RowMismatch> RowSearch::trySchedule(ScheduleValues values, bool setsOrder,
                                                  ScheduleAttr &schedule) {
  // Rows of Q near the end see most keys: started last, they would run alone.
  if (!setsOrder && facts.masks & (masks::Causal | masks::Window))
    values.order = TileOrder::LongestFirst;
  values.packGqa &= facts.canPackGqa && pins.algorithm != Algorithm::FA1;
  // f32 output of 16-bit inputs shows how P was rounded: that of a row's largest score must be 1.
  if (target.isGpu && !facts.elementType.isF32() && facts.outType.isF32())
    values.lazyRescale = false;
  // Without lazy rescaling no score is compared with a reference.
  if (!pins.lazyRescale.value_or(values.lazyRescale))
    values.integerMax = false;
  // Other algorithms have no product of a neighbour to run beside.
  if (pins.algorithm.value_or(values.algorithm) != Algorithm::FA2)
    values.overlap = false;
  values = mergePins(values, pins);
  // A row and pins that are each in their ranges may still contradict each other.
  std::string fault = checkPins(context, toPins(values));
  if (fault.empty()) {
    schedule = toAttr(context, values);
    fault = checkSchedule(facts, target, schedule);
  }
  if (!fault.empty())
    return RowMismatch{kNumMatchSteps, fault};
  return std::nullopt;
}

bool RowSearch::searchFile(const FileSchedules &files, Selection &selection) {
  if (!files.file)
    return false;
  for (const FileRow &row : files.file->rows) {
    // Rows of other targets are no choice that could have been made.
    if (row.target != target.name)
      continue;
    ScheduleAttr schedule;
    if (std::optional<RowMismatch> mismatch = tryRow(row, files.device, schedule)) {
      selection.rejected.push_back({row.name, mismatch->reason, files.file->path});
      continue;
    }
    selection.row = row.name;
    selection.file = files.file->path;
    selection.schedule = schedule;
    return true;
  }
  return false;
}

void RowSearch::reject(const ScheduleRow &row, RowMismatch mismatch, Selection &selection) {
  selection.rejected.push_back({row.name.str(), mismatch.reason});
  closest.offer(row, mismatch);
  if (!row.isGeneric)
    closestFast.offer(row, mismatch);
}

std::string RowSearch::noRowMessage() const {
  std::string message = "no row of the schedule table of " + target.name + " takes this problem";
  std::string pinned = toText(pins);
  if (!pinned.empty())
    message += " with the pinned fields " + pinned;
  if (closest.mismatch.step == kOtherInstruction)
    return message + ": none computes with " + fieldText(*pins.instruction);
  return message + "; the closest, " + closest.name.str() + ", says " + closest.mismatch.reason;
}

Selection RowSearch::run(const FileSchedules &files) {
  Selection selection;
  selection.error = checkPins(context, pins);
  if (selection.error.empty() && !target.isGpu)
    selection.error = checkFieldsOfCPU(target, pins);
  if (!selection.error.empty())
    return selection;
  if (searchFile(files, selection))
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
      selection.fallbackReason = closestFast.mismatch.reason;
    }
    return selection;
  }
  selection.error = noRowMessage();
  return selection;
}

std::string attn::rowText(StringRef row, StringRef file) {
  return file.empty() ? row.str() : (row + " (from " + file + ")").str();
}

Selection attn::selectSchedule(ForwardOp op, const TargetInfo &target, const SchedulePins &pins,
                               const FileSchedules &files) {
  return RowSearch(op, target, pins).run(files);
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

Selection attn::chooseSchedule(ForwardOp op, const TargetInfo &target, const FileSchedules &files) {
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
  return selectSchedule(op, target, pins, files);
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
