//===- TuneReport.cpp - What a search says --------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneReport.h"

#include "attn/Dispatch/ScheduleSelection.h"

#include <llvm/Support/Chrono.h>
#include <llvm/Support/FileSystem.h>

using namespace attn;
using llvm::formatv;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// Rejected schedules that text lists for each kind of reason; JSON lists all.
static constexpr size_t kListedOfAKind = 10;

/// A reason begins with the field or the budget that is at fault.
static std::string kindOf(const RejectedCandidate &candidate) {
  return StringRef(candidate.reason).split(':').first.str();
}

std::string attn::toText(const TunePlan &plan) {
  const ScheduleValues &base = plan.byDefault.schedule;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "default    row " << rowText(plan.byDefault.row, plan.byDefault.file) << ": "
     << toText(toOwnPins(base)) << "\n";
  auto list = [&](const Candidate &candidate, const ScheduleValues &from) {
    os << "candidate  " << differences(candidate.schedule, from);
    if (candidate.estimateUs > 0)
      os << formatv(" (at least {0:F1} us)", candidate.estimateUs);
    os << "\n";
  };
  for (const Candidate &candidate : plan.tiles)
    list(candidate, base);
  for (const auto &[field, candidates] : plan.switches) {
    os << "then       " << field << ", around the best of these\n";
    for (const Candidate &candidate : candidates)
      if (candidate.schedule != plan.center)
        list(candidate, plan.center);
  }
  std::map<std::string, size_t> counts;
  for (const RejectedCandidate &candidate : plan.rejected)
    if (++counts[kindOf(candidate)] <= kListedOfAKind)
      os << "rejected   " << differences(candidate.schedule, base) << ": " << candidate.reason
         << "\n";
  for (const auto &[kind, count] : counts)
    if (count > kListedOfAKind)
      os << "rejected   " << count - kListedOfAKind << " more by " << kind
         << "; --json lists them\n";
  os << plan.numTrials() << " to try, " << plan.rejected.size() << " rejected\n";
  return text;
}

static json::Object toJson(const Candidate &candidate) {
  return json::Object{{"schedule", toJson(toPins(candidate.schedule))},
                      {"estimate_us", candidate.estimateUs}};
}

json::Value attn::toJson(const TunePlan &plan) {
  json::Array candidates, switches, rejected;
  for (const Candidate &candidate : plan.tiles)
    candidates.push_back(::toJson(candidate));
  for (const auto &[field, choices] : plan.switches) {
    json::Array values;
    for (const Candidate &candidate : choices)
      values.push_back(::toJson(candidate));
    switches.push_back(json::Object{{"field", field}, {"candidates", std::move(values)}});
  }
  for (const RejectedCandidate &candidate : plan.rejected)
    rejected.push_back(json::Object{{"schedule", toJson(toPins(candidate.schedule))},
                                    {"reason", candidate.reason}});
  return json::Object{
      {"default", json::Object{{"row", rowText(plan.byDefault.row, plan.byDefault.file)},
                               {"schedule", toJson(toPins(plan.byDefault.schedule))}}},
      {"candidates", std::move(candidates)},
      {"then", std::move(switches)},
      {"rejected", std::move(rejected)}};
}

//===----------------------------------------------------------------------===//
// Outcome
//===----------------------------------------------------------------------===//

std::string attn::toText(const TuneOutcome &outcome, const TunePlan &plan, const FileRow *row,
                         const std::string &file) {
  const ScheduleValues &base = plan.byDefault.schedule;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "tried      ";
  size_t tried = 0;
  std::string kinds;
  for (const auto &[kind, count] : outcome.counts) {
    tried += count;
    kinds += formatv("{0}{1} {2}", kinds.empty() ? "" : ", ", count, kind).str();
  }
  os << tried << (kinds.empty() ? "" : ": " + kinds)
     << (outcome.isOutOfTime ? "; the budget ran out before the rest" : "") << "\n";
  os << formatv("default    {0:F1} us, row {1}\n", outcome.byDefault.medianUs,
                rowText(plan.byDefault.row, plan.byDefault.file));
  if (outcome.best)
    os << formatv("best       {0:F1} us, {1:F1} % less, noise {2:F1} %: {3}\n",
                  outcome.best->medianUs, outcome.gain * 100, outcome.noise * 100,
                  differences(outcome.best->schedule, base));
  if (outcome.secondBest)
    os << formatv("second     {0:F1} us: {1}\n", outcome.secondBest->medianUs,
                  differences(outcome.secondBest->schedule, base));
  if (!row && outcome.isOutOfTime && tried == 0)
    os << "the default stays: measuring it took the budget, so nothing else was tried; raise "
          "--budget\n";
  else if (!row)
    os << "the default stays: nothing is faster by more than the noise and --min-gain\n";
  else if (file.empty())
    os << "row        not written; --out FILE writes it\n" << toText(*row);
  else
    os << "row        " << row->name << " written to " << file << "\n";
  return text;
}

static json::Value toJson(const std::optional<MeasuredSchedule> &measured) {
  if (!measured)
    return nullptr;
  return json::Object{{"schedule", toJson(toPins(measured->schedule))},
                      {"median_us", measured->medianUs}};
}

json::Value attn::toJson(const TuneOutcome &outcome, const TunePlan &plan, const TuneDevice &device,
                         const TuneProblem &problem, const FileRow *row, const std::string &file) {
  json::Object counts;
  for (const auto &[kind, count] : outcome.counts)
    counts[kind] = count;
  return json::Object{{"problem", toText(problem.spec)},
                      {"shape", toText(problem.shape)},
                      {"device", device.text},
                      {"device_name", device.name},
                      {"target", device.target},
                      {"default_row", rowText(plan.byDefault.row, plan.byDefault.file)},
                      {"default", ::toJson(std::optional(outcome.byDefault))},
                      {"best", ::toJson(outcome.best)},
                      {"second_best", ::toJson(outcome.secondBest)},
                      {"gain", outcome.gain},
                      {"noise", outcome.noise},
                      {"improved", outcome.isImproved},
                      {"out_of_time", outcome.isOutOfTime},
                      {"tried", std::move(counts)},
                      {"rejected", plan.rejected.size()},
                      {"row", row ? json::Value(row->name) : json::Value(nullptr)},
                      {"file", row && !file.empty() ? json::Value(file) : json::Value(nullptr)}};
}

//===----------------------------------------------------------------------===//
// Row
//===----------------------------------------------------------------------===//

/// Letters and digits of a text, in words joined by underscores.
static std::string asWord(StringRef text) {
  std::string word;
  for (char c : text)
    if (llvm::isAlnum(c))
      word += llvm::toLower(c);
    else if (!word.empty() && word.back() != '_')
      word += '_';
  return word;
}

/// The device's name as a pattern that matches itself alone.
static std::string escapePattern(StringRef name) {
  std::string pattern;
  for (char c : name) {
    if (StringRef("*?[]{}\\").contains(c))
      pattern += '\\';
    pattern += c;
  }
  return pattern;
}

FileRow attn::makeRow(const TuneOutcome &outcome, const TunePlan &plan, const TuneDevice &device,
                      const TuneProblem &problem) {
  const KernelSpec &spec = problem.spec;
  FileRow row;
  std::string dims = "d" + std::to_string(*spec.headDim);
  if (*spec.headDimV != *spec.headDim)
    dims += "_v" + std::to_string(*spec.headDimV);
  row.takes = plan.takes;
  row.name = asWord(StringRef(device.target + " " + device.name).take_front(80)) + "_" +
             std::string(rt::toString(spec.dtype)) + "_" + dims + "_" + maskNames(row.takes.masks) +
             "_" + (spec.phase == Phase::Decode ? "decode" : "prefill");
  row.target = device.target;
  row.device = escapePattern(device.name);
  row.schedule = toPins(outcome.best->schedule);
  row.provenance = {.device = device.name,
                    .driver = device.driver,
                    .attn = compilerBuildId(),
                    .problem = toText(spec),
                    .shape = toText(problem.shape),
                    .date =
                        formatv("{0:%Y-%m-%d %H:%M} UTC", llvm::sys::toUtcTime(std::time(nullptr))),
                    .medianUs = outcome.best->medianUs,
                    .secondBestUs = outcome.secondBest ? outcome.secondBest->medianUs : 0,
                    .defaultUs = outcome.byDefault.medianUs};
  return row;
}

rt::Status attn::writeRow(const FileRow &row, const std::string &path) {
  std::vector<FileRow> rows = {row};
  if (llvm::sys::fs::exists(path)) {
    rt::Expected<ScheduleFile> file = readScheduleFile(path);
    if (!file)
      return rt::fail(rt::ErrorCode::BadInput, "--out " + file.error().message);
    for (FileRow &old : file->rows)
      if (old.name != row.name)
        rows.push_back(std::move(old));
  }
  // Written beside and renamed, so that a reader sees the old rows or the new ones.
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
    os << toText(rows);
    return llvm::Error::success();
  });
  if (error)
    return rt::fail(rt::ErrorCode::BadInput,
                    "--out " + path + ": cannot write: " + llvm::toString(std::move(error)));
  return {};
}
