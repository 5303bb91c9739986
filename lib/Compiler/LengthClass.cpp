//===- LengthClass.cpp - Specs by the length of sequences -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/LengthClass.h"

#include "attn/Target/ScheduleTable.h"

using namespace attn;

/// Bounds of rows of schedule tables are powers of two between these, which a test holds them to.
constexpr int64_t kShortestBound = 128, kLongestBound = 4096;

std::optional<int64_t> attn::lengthBound(int64_t seqLen) {
  if (seqLen > kLongestBound)
    return std::nullopt;
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max(seqLen, kShortestBound))));
}

/// The facts that rows of a schedule table ask for.
static ProblemFacts factsOf(const KernelSpec &spec) {
  ProblemFacts facts;
  facts.headDimQK = *spec.headDim;
  facts.headDimV = *spec.headDimV;
  facts.alignmentBytes = spec.alignment;
  facts.maxSeqLen = spec.maxSeqLen;
  facts.phase = spec.phase == Phase::Decode ? phases::Decode : phases::Prefill;
  switch (spec.dtype) {
  case rt::ElementType::F16:
    facts.element = elements::F16;
    break;
  case rt::ElementType::BF16:
    facts.element = elements::BF16;
    break;
  default:
    facts.element = elements::F32;
  }
  switch (spec.mask) {
  case MaskKind::None:
    facts.masks = masks::Full;
    break;
  case MaskKind::Causal:
  case MaskKind::CausalTopLeft:
    facts.masks = masks::Causal;
    break;
  case MaskKind::Window:
  case MaskKind::WindowTopLeft:
    facts.masks = masks::Window;
    break;
  }
  return facts;
}

KernelSpec attn::withLengthClass(KernelSpec spec, const TargetInfo &target) {
  spec.maxSeqLen = lengthClass(factsOf(spec), target);
  return spec;
}

std::vector<KernelSpec> attn::lengthVariants(const KernelSpec &spec, const TargetInfo &target) {
  std::vector<KernelSpec> variants = {withLengthClass(spec, target)};
  if (spec.maxSeqLen)
    return variants;
  KernelSpec bounded = spec;
  for (int64_t bound = kShortestBound; bound <= kLongestBound; bound *= 2) {
    bounded.maxSeqLen = bound;
    KernelSpec variant = withLengthClass(bounded, target);
    if (!llvm::is_contained(variants, variant))
      variants.push_back(std::move(variant));
  }
  return variants;
}
