//===- LengthClass.h - Specs by the length of sequences ---------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lengths are arguments of a kernel; only the schedule may be one for short sequences
// (max_seq_len of a spec). What follows keeps the kernels of one problem few: calls name
// a power of two, and a target tells as many apart as its schedule table does.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_LENGTHCLASS_H
#define ATTN_COMPILER_LENGTHCLASS_H

#include "attn/Compiler/KernelSpec.h"
#include "attn/Target/ScheduleTable.h"

#include <vector>

namespace attn {

/// The max_seq_len that a call on sequences of up to `seqLen` asks with: a power of two, or none
/// where they are long.
std::optional<int64_t> lengthBound(int64_t seqLen);

/// What describeProblem says of the op of a canonical spec, without making one: calls ask.
RowFacts rowFacts(const KernelSpec &spec);

/// A canonical spec as a target's dispatch sees it: max_seq_len is the bound of the shortest row
/// that takes it, or absent where no row asks.
KernelSpec withLengthClass(KernelSpec spec, const TargetInfo &target);

/// What calls of a canonical spec come to on a target, whatever their lengths. A spec that says
/// max_seq_len is alone.
std::vector<KernelSpec> lengthVariants(const KernelSpec &spec, const TargetInfo &target);

} // namespace attn

#endif // ATTN_COMPILER_LENGTHCLASS_H
