//===- SelectSchedule.cpp - Gives each problem its schedule ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetOption.h"
#include "attn/Dispatch/Passes.h"
#include "attn/Dispatch/ScheduleSelection.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNSELECTSCHEDULE
#include "attn/Dispatch/Passes.h.inc"
} // namespace attn

namespace {

struct SelectSchedulePass : attn::impl::AttnSelectScheduleBase<SelectSchedulePass> {
  using AttnSelectScheduleBase::AttnSelectScheduleBase;
  SelectSchedulePass(AttnSelectScheduleOptions options, FileSchedules files)
      : AttnSelectScheduleBase(std::move(options)), files(std::move(files)) {}

  LogicalResult initialize(MLIRContext *context) override {
    info = resolveTarget(target, getArgument(), context);
    return success(info);
  }

  void runOnOperation() override {
    // All ops get their schedule or none does.
    SmallVector<std::pair<Operation *, Selection>, 1> selections;
    auto result = getOperation().walk([&](Operation *op) {
      if (auto forward = dyn_cast<ForwardOp>(op))
        return choose(forward, selections);
      if (auto merge = dyn_cast<MergeStatesOp>(op))
        return choose(merge, selections);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto &[op, selection] : selections)
      apply(op, selection);
  }

  template <typename ProblemOp>
  WalkResult choose(ProblemOp op, SmallVectorImpl<std::pair<Operation *, Selection>> &selections) {
    Selection selection = select(op);
    if (!selection) {
      InFlightDiagnostic diagnostic = op.emitOpError() << selection.error;
      for (const RejectedRow &row : selection.rejected)
        diagnostic.attachNote(op.getLoc()) << rowText(row.row, row.file) << " " << row.reason;
      return WalkResult::interrupt();
    }
    selections.emplace_back(op, std::move(selection));
    return WalkResult::advance();
  }

  Selection select(ForwardOp op) { return chooseSchedule(op, *info, files); }
  Selection select(MergeStatesOp op) { return chooseSchedule(op, *info); }

  void apply(Operation *op, const Selection &selection) {
    if (selection.isFallback)
      op->emitRemark() << "no fast path of " << info->name << " takes this problem ("
                       << selection.fallbackReason << "): taking the generic path, row '"
                       << selection.row << "'";
    op->removeAttr(kPinsAttr);
    if (auto forward = dyn_cast<ForwardOp>(op)) {
      forward.setScheduleAttr(selection.schedule);
      // It has served: problems with one schedule become one kernel.
      forward.removeMaxSeqLenAttr();
    } else
      cast<MergeStatesOp>(op).setScheduleAttr(selection.schedule);
  }

  const TargetInfo *info = nullptr;
  FileSchedules files;
};

} // namespace

std::unique_ptr<Pass> attn::createAttnSelectSchedule(AttnSelectScheduleOptions options,
                                                     FileSchedules files) {
  return std::make_unique<SelectSchedulePass>(std::move(options), std::move(files));
}
