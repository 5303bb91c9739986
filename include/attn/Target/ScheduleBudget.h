//===- ScheduleBudget.h - What a schedule costs and may cost ----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_SCHEDULEBUDGET_H
#define ATTN_TARGET_SCHEDULEBUDGET_H

#include "attn/Dialect/Attn/Transforms/SharedMemory.h"
#include "attn/Target/ScheduleTable.h"

namespace attn {

/// Registers of a thread that addresses, loop counters, softmax rows and operand
/// fragments in flight take beside the accumulators; what ptxas was seen to need.
constexpr int64_t kRegisterOverhead = 40;

/// The same beside wgmma, whose operands come from shared memory.
constexpr int64_t kWgmmaRegisterOverhead = 32;

/// Bytes of one cp.async of the mma path, and the unit of tensor maps' strides: the alignment
/// that both need.
constexpr int64_t kMmaAlignmentBytes = 16;

/// Estimated registers of a thread.
struct RegisterUse {
  int64_t o = 0; ///< Output accumulators.
  int64_t s = 0; ///< Score accumulators.
  int64_t q = 0; ///< Fragments of Q, when they stay in registers.
  int64_t p = 0; ///< Fragments of P, when they live beside the next scores.
  int64_t other = kRegisterOverhead;

  int64_t total() const { return o + s + q + p + other; }
};
RegisterUse estimateRegisters(const ProblemFacts &facts, ScheduleAttr schedule);

/// The most registers a thread of this schedule's CTA can have.
int64_t registerLimit(const TargetInfo &target, ScheduleAttr schedule);

/// Shared memory of a CTA of this problem.
SharedMemoryUse sharedMemoryUse(const ProblemFacts &facts, ScheduleAttr schedule);

/// Why the instruction of a schedule leaves no choice of one of its fields, whatever the problem.
/// Empty when it does not.
std::string checkFieldsOfInstruction(ScheduleAttr schedule);

/// Why a field means nothing to the CPU: kernels of GPUs alone have it. Empty when all mean
/// something or say what the CPU does anyway.
std::string checkFieldsOfCPU(const TargetInfo &cpu, const SchedulePins &fields);

/// What is wrong with a schedule for a problem on a target: "<what>: expected ..., got
/// ...; <which field to change>". Empty when the target can run it.
std::string checkSchedule(const ProblemFacts &facts, const TargetInfo &target,
                          ScheduleAttr schedule);
std::string checkMergeSchedule(MergeStatesOp op, const TargetInfo &target, ScheduleAttr schedule);

} // namespace attn

#endif // ATTN_TARGET_SCHEDULEBUDGET_H
