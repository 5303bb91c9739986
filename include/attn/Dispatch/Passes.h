//===- Passes.h - Passes that choose and check schedules --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISPATCH_PASSES_H
#define ATTN_DISPATCH_PASSES_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Target/ScheduleFile.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Pass/Pass.h>

namespace attn {

#define GEN_PASS_DECL
#include "attn/Dispatch/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attn/Dispatch/Passes.h.inc"

/// attn-select-schedule with rows that are tried before the table's. They are no option of the
/// pass: what they choose stands in the IR.
std::unique_ptr<mlir::Pass> createAttnSelectSchedule(AttnSelectScheduleOptions options,
                                                     FileSchedules files);

} // namespace attn

#endif // ATTN_DISPATCH_PASSES_H
