//===- ScheduleFileText.h - Schedule files as JSON --------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One object: the version of the format, and the rows, of which each says which problems it takes
// and what schedule they get. docs/tuning.md tells the keys.
//
//   {"attn_schedules": 1,
//    "rows": [{"name": "d128", "target": "sm_90a", "device": "NVIDIA H200",
//              "elements": ["bf16"], "head_dim": [128, 128], "masks": ["causal"],
//              "schedule": {"q_tile": 128, "kv_tile": 112}}]}
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_SCHEDULEFILETEXT_H
#define ATTN_COMPILER_SCHEDULEFILETEXT_H

#include "attn/Runtime/Error.h"
#include "attn/Target/ScheduleFile.h"

#include <llvm/Support/JSON.h>

namespace attn {

/// Version of the format that is read and written.
inline constexpr int64_t kScheduleFileVersion = 1;

/// Reads the text of a schedule file; `name` is what messages call it. BadInput names the file,
/// the row, the key, and what was expected there.
rt::Expected<ScheduleFile> parseScheduleFile(llvm::StringRef text, llvm::StringRef name);

/// Reads a schedule file.
rt::Expected<ScheduleFile> readScheduleFile(const std::string &path);

/// The text of a file of these rows; reads back as the same rows.
std::string toText(llvm::ArrayRef<FileRow> rows);

/// The members of a masks::Set as files spell them, joined by underscores.
std::string maskNames(unsigned masks);

/// The fields of a schedule that are set, spelled as in #attn.schedule.
llvm::json::Object toJson(const SchedulePins &schedule);

/// Reads what toJson wrote; BadInput names the field and its limit.
rt::Expected<SchedulePins> parseSchedule(const llvm::json::Object &object);

} // namespace attn

#endif // ATTN_COMPILER_SCHEDULEFILETEXT_H
