//===- CandidateSpace.h - The schedules that a search may try ---*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A space is a list of values for each field of the schedule; its candidates are all combinations
// that checkSchedule admits. What a schedule may be is the budgets' business alone.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISPATCH_CANDIDATESPACE_H
#define ATTN_DISPATCH_CANDIDATESPACE_H

#include "attn/Dispatch/Explanation.h"

namespace attn {

template <class T> using FieldChoices = llvm::SmallVector<T, 2>;

/// The values to try for each field; an empty list leaves a field to whoever completes the space.
using CandidateSpace = ScheduleFields<FieldChoices>;

/// The space of one schedule.
CandidateSpace spaceOf(const ScheduleValues &schedule);

/// Whether every field has a value that the space lists, or that it leaves open.
bool isWithin(const ScheduleValues &schedule, const CandidateSpace &given);

/// `given`, with the fields that it leaves empty filled in: those that shape a tile with the values
/// worth trying on the target, the others with those of `base`, or of the target's table where an
/// instruction is not that of `base`. One space for each instruction. The fields of switchSpaces
/// have one value.
std::vector<CandidateSpace> tileSpaces(const TargetInfo &target, const ScheduleValues &base,
                                       const CandidateSpace &given);

/// For each field, or pair of fields, that a tile's shape does not depend on: the values to try for
/// it alone beside `schedule`; fields with one value are left out. `given` is as in tileSpaces.
std::vector<std::pair<std::string, CandidateSpace>>
switchSpaces(const TargetInfo &target, const ScheduleValues &schedule, const CandidateSpace &given);

struct Candidate {
  ScheduleValues schedule;
  /// A lower bound of the time of a call by peak rates, whole tiles and whole waves of CTAs; 0
  /// where the target has no rates.
  double estimateUs = 0;
};

struct RejectedCandidate {
  ScheduleValues schedule;
  std::string reason;
};

struct CandidateList {
  std::vector<Candidate> admitted; ///< In the order of the spaces.
  std::vector<RejectedCandidate> rejected;
  RowCondition takes; ///< What a row that takes problems of this kind alone says.
};

/// Which of a space's register splits are listed with each combination of the other fields: all, or
/// the first in the order of the space that the budgets admit.
enum class RegisterSplits { All, FirstThatFits };

/// Tries every combination. A candidate whose estimate is several times the least one is rejected
/// as well. The op must have been verified.
CandidateList listCandidates(ForwardOp op, const TargetInfo &target,
                             llvm::ArrayRef<CandidateSpace> spaces, const ProblemShape &shape,
                             RegisterSplits splits);

/// How far a schedule is from another: doublings of tile sizes and counts, and one for each other
/// field that differs.
double distance(const ScheduleValues &a, const ScheduleValues &b);

} // namespace attn

#endif // ATTN_DISPATCH_CANDIDATESPACE_H
