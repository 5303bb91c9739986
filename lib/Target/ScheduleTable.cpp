//===- ScheduleTable.cpp - From problems to schedules ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ScheduleTable.h"

using namespace mlir;
using namespace attn;

const ScheduleTable &attn::scheduleTable(const TargetInfo &target) {
  switch (target.scheduleFamily) {
  case ScheduleFamily::CPU:
    return scheduleTableCPU();
  case ScheduleFamily::SM80:
    return scheduleTableSM80();
  case ScheduleFamily::SM90:
    return scheduleTableSM90();
  }
  llvm_unreachable("all families are handled");
}

static unsigned elementSet(Type type) {
  if (type.isF32())
    return elements::F32;
  return type.isF16() ? elements::F16 : elements::BF16;
}

static unsigned maskSet(MaskAttrInterface mask) {
  auto members = [](ArrayRef<Attribute> masks) {
    unsigned set = 0;
    for (Attribute member : masks)
      set |= maskSet(cast<MaskAttrInterface>(member));
    // A full member leaves the kind of the others.
    return set & ~masks::Full ? set & ~masks::Full : set;
  };
  if (mask.keepsAll())
    return masks::Full;
  return llvm::TypeSwitch<Attribute, unsigned>(mask)
      .Case([](CausalMaskAttr) { return masks::Causal; })
      .Case([](WindowMaskAttr) { return masks::Window; })
      .Case([&](AllOfMaskAttr composed) { return members(composed.getMasks()); })
      .Case([&](AnyOfMaskAttr composed) { return members(composed.getMasks()); })
      .Default([](Attribute) { return masks::Other; });
}

ProblemFacts attn::describeProblem(ForwardOp op) {
  ProblemFacts facts;
  facts.elementType = op.getElementType();
  facts.outType = cast<MemRefType>(op.getO().getType()).getElementType();
  facts.hasLse = static_cast<bool>(op.getLse());
  facts.headDimQK = op.getHeadDimQK();
  facts.headDimV = op.getHeadDimV();
  facts.alignmentBytes = op.getAlignmentBytes();
  facts.element = elementSet(facts.elementType);
  facts.masks = maskSet(op.getMask());
  facts.maxSeqLen = op.getMaxSeqLen();
  bool oneQuery = cast<MemRefType>(op.getQ().getType()).getDimSize(1) == 1;
  facts.phase = oneQuery ? phases::Decode : phases::Prefill;
  facts.canPackGqa = op.canPackGqa();
  return facts;
}

static std::string setText(unsigned set, ArrayRef<StringRef> names) {
  SmallVector<StringRef> members;
  for (auto [bit, name] : llvm::enumerate(names))
    if (set >> bit & 1)
      members.push_back(name);
  return llvm::join(members, ", ");
}

/// Why a head dim is outside of a row's range; the nearer it is, the closer.
static std::optional<RowMismatch> checkRange(int step, StringRef what, int64_t value,
                                             DimRange range) {
  int64_t distance = std::max({range.min - value, value - range.max, int64_t(0)});
  if (distance == 0)
    return std::nullopt;
  return RowMismatch{step,
                     llvm::formatv("{0}: takes {1} to {2}, the problem has {3}", what, range.min,
                                   range.max, value),
                     -distance};
}

std::optional<RowMismatch> attn::matchRow(const RowCondition &takes, const RowFacts &facts) {
  auto mismatch = [](StringRef what, const std::string &takes, const std::string &has) {
    return llvm::formatv("{0}: takes {1}, the problem has {2}", what, takes, has).str();
  };
  // What no choice of tile sizes changes comes first.
  const StringRef elementNames[] = {"f32", "f16", "bf16"};
  if (!(takes.elements & facts.element))
    return RowMismatch{0, mismatch("element type", setText(takes.elements, elementNames),
                                   setText(facts.element, elementNames))};
  if (facts.alignmentBytes < takes.minAlignment)
    return RowMismatch{1, llvm::formatv("alignment: takes {0} bytes or more, the problem promises "
                                        "{1}; say alignment({0}) if all strides and pointers allow",
                                        takes.minAlignment, facts.alignmentBytes)};
  const StringRef phaseNames[] = {"prefill", "decode (one query, known at compile time)"};
  if (!(takes.phases & facts.phase))
    return RowMismatch{
        2, mismatch("phase", setText(takes.phases, phaseNames), setText(facts.phase, phaseNames))};
  const StringRef maskNames[] = {"full", "causal", "window", "other masks"};
  if (facts.masks & ~takes.masks)
    return RowMismatch{
        3, mismatch("mask", setText(takes.masks, maskNames), setText(facts.masks, maskNames))};
  if (auto mismatch = checkRange(4, "head_dim", facts.headDimQK, takes.headDimQK))
    return mismatch;
  if (auto mismatch = checkRange(5, "head_dim_v", facts.headDimV, takes.headDimV))
    return mismatch;
  if (takes.maxSeqLen != 0 && (!facts.maxSeqLen || *facts.maxSeqLen > takes.maxSeqLen))
    return RowMismatch{6, llvm::formatv("max_seq_len: takes at most {0}, the problem has {1}",
                                        takes.maxSeqLen,
                                        facts.maxSeqLen ? llvm::Twine(*facts.maxSeqLen).str()
                                                        : std::string("sequences of any length"))};
  return std::nullopt;
}

std::optional<int64_t> attn::lengthClass(const RowFacts &facts, const TargetInfo &target) {
  std::optional<int64_t> least;
  if (!facts.maxSeqLen)
    return least;
  for (const ScheduleRow &row : scheduleTable(target).forward)
    if (row.takes.maxSeqLen != 0 && !matchRow(row.takes, facts))
      least = std::min(least.value_or(row.takes.maxSeqLen), row.takes.maxSeqLen);
  return least;
}
