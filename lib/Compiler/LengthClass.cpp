//===- LengthClass.cpp - Specs by the length of sequences -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/LengthClass.h"

using namespace attn;

/// Bounds of rows of schedule tables are powers of two between these, which a test holds them to.
constexpr int64_t kShortestBound = 128, kLongestBound = 8192;

std::optional<int64_t> attn::lengthBound(int64_t seqLen) {
  if (seqLen > kLongestBound)
    return std::nullopt;
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max(seqLen, kShortestBound))));
}

static unsigned elementSet(rt::ElementType type) {
  switch (type) {
  case rt::ElementType::F16:
    return elements::F16;
  case rt::ElementType::BF16:
    return elements::BF16;
  default:
    return elements::F32;
  }
}

static unsigned maskSet(MaskKind mask) {
  switch (mask) {
  case MaskKind::None:
    return masks::Full;
  case MaskKind::Causal:
  case MaskKind::CausalTopLeft:
    return masks::Causal;
  case MaskKind::Window:
  case MaskKind::WindowTopLeft:
    return masks::Window;
  }
  llvm_unreachable("all masks are handled");
}

RowFacts attn::rowFacts(const KernelSpec &spec) {
  return {.headDimQK = *spec.headDim,
          .headDimV = *spec.headDimV,
          .alignmentBytes = spec.alignment,
          .element = elementSet(spec.dtype),
          .masks = maskSet(spec.mask),
          .phase = spec.phase == Phase::Decode ? phases::Decode : phases::Prefill,
          .maxSeqLen = spec.maxSeqLen};
}

KernelSpec attn::withLengthClass(KernelSpec spec, const TargetInfo &target) {
  spec.maxSeqLen = lengthClass(rowFacts(spec), target);
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
