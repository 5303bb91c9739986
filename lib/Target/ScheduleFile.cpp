//===- ScheduleFile.cpp - Schedule rows that a file holds -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ScheduleFile.h"

#include <llvm/Support/GlobPattern.h>

using namespace mlir;
using namespace attn;

std::optional<RowMismatch> attn::matchRow(const FileRow &row, StringRef device,
                                          const ProblemFacts &facts) {
  if (row.device.empty())
    return matchRow(row.takes, facts);
  if (device.empty())
    return RowMismatch{0, "device: takes '" + row.device + "', the device is not known here"};
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(row.device);
  if (!pattern)
    return RowMismatch{0, "device: '" + row.device +
                              "' is no pattern: " + llvm::toString(pattern.takeError())};
  if (!pattern->match(device))
    return RowMismatch{0, ("device: takes '" + row.device + "', this is '" + device + "'").str()};
  return matchRow(row.takes, facts);
}

ScheduleValues attn::scheduleOf(const FileRow &row, MLIRContext *context) {
  return mergePins(defaultSchedule(context), row.schedule);
}
