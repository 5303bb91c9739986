//===- TuneTrial.cpp - Measures a schedule in another process -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneTrial.h"

#include "Commands.h"
#include "attn/Compiler/ScheduleFileText.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/Signals.h>

using namespace attn;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr std::pair<TrialStatus, llvm::StringLiteral> kStatusNames[] = {
    {TrialStatus::Passed, "passed"},
    {TrialStatus::Wrong, "wrong"},
    {TrialStatus::Failed, "failed"},
    {TrialStatus::Crashed, "crashed"},
    {TrialStatus::TimedOut, "timed_out"}};

StringRef attn::toText(TrialStatus status) {
  for (const auto &[value, name] : kStatusNames)
    if (value == status)
      return name;
  llvm_unreachable("all states are named");
}

std::optional<TrialStatus> attn::parseTrialStatus(StringRef text) {
  for (const auto &[value, name] : kStatusNames)
    if (name == text)
      return value;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Files of one trial
//===----------------------------------------------------------------------===//

namespace {

/// A temporary file that goes with the object, or with the process.
class TempFile {
public:
  TempFile() = default;
  TempFile(TempFile &&) = delete;
  ~TempFile() {
    if (path.empty())
      return;
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }

  rt::Status create(StringRef suffix, StringRef contents) {
    int descriptor;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("attn-tune", suffix, descriptor, path))
      return rt::fail(rt::ErrorCode::Unavailable,
                      "cannot make a temporary file: " + error.message() + "; set TMPDIR");
    llvm::sys::RemoveFileOnSignal(path);
    llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
    file << contents;
    file.close();
    if (std::error_code error = file.error()) {
      file.clear_error();
      return rt::fail(rt::ErrorCode::Unavailable,
                      "cannot write " + path.str().str() + ": " + error.message());
    }
    return {};
  }

  StringRef name() const { return path; }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  llvm::SmallString<128> path;
};

} // namespace

/// A small call whose last tiles of rows and of keys are partial, and in which every stage and part
/// is used more than once.
static RunShape checkShape(const TuneProblem &problem, const ScheduleValues &schedule) {
  RunShape shape = problem.shape;
  shape.batch = 2;
  if (problem.spec.phase == Phase::Prefill)
    shape.seqQ = 2 * schedule.qTile + 5;
  int64_t tiles = std::max(2 * schedule.stages, schedule.splitKV) + 1;
  shape.seqKV = tiles * schedule.kvTile + 3;
  return shape;
}

/// A line of `attnc run --batch`.
static std::string requestLine(const TuneProblem &problem, const RunShape &shape, unsigned repeat,
                               bool check) {
  json::Object request{{"repeat", repeat}, {"check", check}};
  std::string words = toText(problem.spec) + " " + toText(shape);
  for (StringRef word : llvm::split(words, ' ')) {
    auto [key, value] = word.split('=');
    request[key] = value;
  }
  return llvm::formatv("{0}\n", json::Value(std::move(request)));
}

static std::string candidateFile(const ScheduleValues &schedule, const std::string &target) {
  FileRow row;
  row.name = "candidate";
  row.target = target;
  row.schedule = toPins(schedule);
  return toText(row);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static std::string lastLine(StringRef text) {
  auto [before, last] = text.rtrim().rsplit('\n');
  return (last.empty() ? before : last).str();
}

/// What an answer's line says is wrong, or nothing.
static std::optional<TrialResult> faultOf(const json::Object &answer) {
  if (answer.getBoolean("passed").value_or(false))
    return std::nullopt;
  if (std::optional<StringRef> message = answer.getString("message"))
    return TrialResult{TrialStatus::Failed, 0, message->split('\n').first.str()};
  const json::Object *error = answer.getObject("error");
  std::optional<StringRef> failure = error ? error->getString("failure") : std::nullopt;
  return TrialResult{TrialStatus::Wrong, 0, failure.value_or("wrong result").str()};
}

/// The result of a process that ended by itself, from what it wrote.
static TrialResult readAnswers(const std::string &output, const std::string &errors,
                               size_t expected) {
  llvm::SmallVector<StringRef> lines;
  StringRef(output).split(lines, '\n', -1, /*KeepEmpty=*/false);
  double medianMs = 0;
  for (StringRef line : lines) {
    llvm::Expected<json::Value> value = parseJson(line);
    const json::Object *answer = value ? value->getAsObject() : nullptr;
    if (!answer) {
      llvm::consumeError(value.takeError());
      return {TrialStatus::Failed, 0, "unreadable answer: " + line.take_front(80).str()};
    }
    if (std::optional<TrialResult> fault = faultOf(*answer))
      return *fault;
    medianMs = answer->getNumber("median_ms").value_or(0);
  }
  if (lines.size() != expected || medianMs <= 0)
    return {TrialStatus::Failed, 0, errors.empty() ? "no answer" : lastLine(errors)};
  return {TrialStatus::Passed, medianMs * 1000, ""};
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

rt::Expected<TrialResult> TrialRunner::run(const ScheduleValues &schedule, bool check) const {
  std::string lines = requestLine(problem, problem.shape, options.repeat, false);
  if (check)
    lines = requestLine(problem, checkShape(problem, schedule), 1, true) + lines;
  TempFile requests, rows, output, errors;
  rt::Status status = requests.create("jsonl", lines);
  if (status)
    status = rows.create("json", candidateFile(schedule, options.target));
  if (status)
    status = output.create("out", "");
  if (status)
    status = errors.create("err", "");
  if (!status)
    return rt::fail(status.error());

  std::string program = programPath();
  std::string parent = std::to_string(llvm::sys::Process::getProcessId());
  llvm::SmallVector<StringRef> arguments = {
      program,    "run",          "--batch",     requests.name(), "--device", options.device,
      "--target", options.target, "--schedules", rows.name(),     "--parent", parent};
  if (!options.cacheDir.empty())
    arguments.append({"--cache-dir", options.cacheDir});
  std::optional<StringRef> redirects[] = {StringRef(), output.name(), errors.name()};
  std::string message;
  bool didNotStart = false;
  int code =
      llvm::sys::ExecuteAndWait(program, arguments, /*Env=*/std::nullopt, redirects,
                                options.timeoutSeconds, /*MemoryLimit=*/0, &message, &didNotStart);
  if (didNotStart || code == -1)
    return rt::fail(rt::ErrorCode::Internal, "cannot start " + program + ": " + message);
  if (code == -2 && StringRef(message).contains("timed out"))
    return TrialResult{TrialStatus::TimedOut, 0,
                       "not done after " + std::to_string(options.timeoutSeconds) + " s"};
  if (code < 0)
    return TrialResult{TrialStatus::Crashed, 0, message};
  return readAnswers(output.read(), errors.read(), check ? 2 : 1);
}

rt::Expected<TrialResult> TrialRunner::checkAndTime(const ScheduleValues &schedule) const {
  return run(schedule, /*check=*/true);
}

rt::Expected<TrialResult> TrialRunner::time(const ScheduleValues &schedule) const {
  return run(schedule, /*check=*/false);
}
