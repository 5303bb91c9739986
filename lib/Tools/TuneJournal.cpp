//===- TuneJournal.cpp - What a search has measured so far ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneJournal.h"

#include "attn/Compiler/ScheduleFileText.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace attn;
using llvm::StringRef;
namespace json = llvm::json;

/// Calls visit(key, field) for each field.
template <class Header, class Visitor> static void visitHeader(Header &header, Visitor visit) {
  visit("build", header.build);
  visit("device", header.device);
  visit("driver", header.driver);
  visit("target", header.target);
  visit("problem", header.problem);
  visit("shape", header.shape);
  visit("repeat", header.repeat);
  visit("timeout", header.timeout);
}

static std::string headerLine(const JournalHeader &header) {
  json::Object object{{"attn_tune_journal", 1}};
  visitHeader(header, [&](StringRef key, const std::string &value) { object[key] = value; });
  return llvm::formatv("{0}\n", json::Value(std::move(object)));
}

static std::string keyOf(const SchedulePins &schedule) {
  return llvm::formatv("{0}", json::Value(toJson(schedule)));
}

/// The object on a line, or null.
static std::optional<json::Object> parseLine(StringRef line) {
  llvm::Expected<json::Value> value = parseJson(line);
  if (json::Object *object = value ? value->getAsObject() : nullptr)
    return std::move(*object);
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

size_t TuneJournal::load(StringRef text, const JournalHeader &header, std::string &note) {
  size_t end = text.find('\n');
  std::optional<json::Object> first = parseLine(text.take_front(end));
  if (end == StringRef::npos || !first || first->getInteger("attn_tune_journal") != 1) {
    note = "it is no journal of this version";
    return 0;
  }
  visitHeader(header, [&](StringRef key, const std::string &value) {
    StringRef before = first->getString(key).value_or("");
    if (before != value && note.empty())
      note = ("its " + key + " is '" + before + "', now it is '" + value + "'").str();
  });
  if (!note.empty())
    return 0;
  size_t valid = end + 1;
  while ((end = text.find('\n', valid)) != StringRef::npos) {
    std::optional<json::Object> line = parseLine(text.slice(valid, end));
    const json::Object *fields = line ? line->getObject("schedule") : nullptr;
    std::optional<TrialStatus> status =
        line ? parseTrialStatus(line->getString("status").value_or("")) : std::nullopt;
    rt::Expected<SchedulePins> schedule =
        fields ? parseSchedule(*fields) : rt::Expected<SchedulePins>(SchedulePins{});
    if (!fields || !status || !schedule)
      break;
    results[keyOf(*schedule)] = {*status, line->getNumber("median_us").value_or(0),
                                 line->getString("detail").value_or("").str()};
    valid = end + 1;
  }
  return valid;
}

static rt::Error cannotWrite(const std::string &path, std::error_code error) {
  return {rt::ErrorCode::BadInput, path + ": cannot write: " + error.message()};
}

rt::Expected<TuneJournal> TuneJournal::open(const std::string &path, const JournalHeader &header,
                                            bool resume, std::string &note) {
  TuneJournal journal;
  journal.path = path;
  size_t kept = 0;
  if (resume) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (buffer)
      kept = journal.load((*buffer)->getBuffer(), header, note);
    else
      note = "cannot read it: " + buffer.getError().message();
  }
  int descriptor;
  std::error_code error =
      llvm::sys::fs::openFileForWrite(path, descriptor, llvm::sys::fs::CD_OpenAlways);
  if (error)
    return rt::fail(cannotWrite(path, error));
  journal.file = std::make_unique<llvm::raw_fd_ostream>(descriptor, /*shouldClose=*/true);
  // Whole lines alone, so that what is added does not follow on a torn one.
  error = llvm::sys::fs::resize_file(descriptor, kept);
  if (error)
    return rt::fail(cannotWrite(path, error));
  journal.file->seek(kept);
  rt::Status status = kept == 0 ? journal.write(headerLine(header)) : rt::Status();
  if (!status)
    return rt::fail(status.error());
  return journal;
}

rt::Status TuneJournal::write(StringRef line) {
  if (!file)
    return {};
  *file << line;
  file->flush();
  if (!file->has_error())
    return {};
  std::error_code error = file->error();
  file->clear_error();
  return rt::fail(cannotWrite(path, error));
}

const TrialResult *TuneJournal::find(const ScheduleValues &schedule) const {
  auto found = results.find(keyOf(toPins(schedule)));
  return found == results.end() ? nullptr : &found->second;
}

rt::Status TuneJournal::add(const ScheduleValues &schedule, const TrialResult &result) {
  SchedulePins pins = toPins(schedule);
  results[keyOf(pins)] = result;
  json::Object line{{"schedule", toJson(pins)}, {"status", toText(result.status)}};
  if (result.passed())
    line["median_us"] = result.medianUs;
  if (!result.detail.empty())
    line["detail"] = llvm::json::fixUTF8(result.detail);
  return write(llvm::formatv("{0}\n", json::Value(std::move(line))).str());
}
