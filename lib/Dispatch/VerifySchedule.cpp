//===- VerifySchedule.cpp - Checks schedules against budgets --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetOption.h"
#include "attn/Dispatch/Passes.h"
#include "attn/Target/ScheduleBudget.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNVERIFYSCHEDULE
#include "attn/Dispatch/Passes.h.inc"
} // namespace attn

namespace {

struct VerifySchedulePass : attn::impl::AttnVerifyScheduleBase<VerifySchedulePass> {
  using AttnVerifyScheduleBase::AttnVerifyScheduleBase;

  LogicalResult initialize(MLIRContext *context) override {
    info = resolveTarget(target, getArgument(), context);
    return success(info);
  }

  void runOnOperation() override {
    bool failedAny = false;
    getOperation().walk([&](ForwardOp op) {
      failedAny |= failed(verify(op, [&](ScheduleAttr schedule) {
        return checkSchedule(describeProblem(op), *info, schedule);
      }));
    });
    getOperation().walk([&](MergeStatesOp op) {
      failedAny |= failed(verify(
          op, [&](ScheduleAttr schedule) { return checkMergeSchedule(op, *info, schedule); }));
    });
    markAllAnalysesPreserved();
    if (failedAny)
      signalPassFailure();
  }

  template <typename ProblemOp, typename Check> LogicalResult verify(ProblemOp op, Check check) {
    ScheduleAttr schedule = op.getScheduleAttr();
    if (!schedule)
      return op.emitOpError() << "has no schedule; run attn-select-schedule first";
    std::string fault = check(schedule);
    if (fault.empty())
      return success();
    return op.emitOpError() << "schedule does not fit " << info->name << ": " << fault;
  }

  const TargetInfo *info = nullptr;
};

} // namespace
