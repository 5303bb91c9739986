//===- TuneJournal.h - What a search has measured so far --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON, one value a line: a header that says of what the measurements are, then one result a line,
// each written at once. A line that a kill cut short is dropped when the journal is resumed.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_TUNEJOURNAL_H
#define ATTN_LIB_TOOLS_TUNEJOURNAL_H

#include "TuneTrial.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/JSON.h>

namespace attn {

/// What measurements depend on besides the schedule; those of another one are of no use.
struct JournalHeader {
  std::string build, device, driver, target, problem, shape, repeat, timeout;
};

class TuneJournal {
public:
  /// A journal in memory alone.
  TuneJournal() = default;

  /// Opens a file, anew or with the results of a search of the same header. `note` says why a
  /// search that should go on starts over.
  static rt::Expected<TuneJournal> open(const std::string &path, const JournalHeader &header,
                                        bool resume, std::string &note);

  /// The result of a schedule, or null.
  const TrialResult *find(const ScheduleValues &schedule) const;
  size_t size() const { return results.size(); }

  rt::Status add(const ScheduleValues &schedule, const TrialResult &result);

private:
  /// Takes over the results in the text; how many of its bytes are whole lines of a journal of this
  /// header, or 0 and why.
  size_t load(llvm::StringRef text, const JournalHeader &header, std::string &note);

  rt::Status write(llvm::StringRef line);

  std::string path;
  std::unique_ptr<llvm::raw_fd_ostream> file;
  llvm::StringMap<TrialResult> results;
};

} // namespace attn

#endif // ATTN_LIB_TOOLS_TUNEJOURNAL_H
