//===- TensorMap.cpp - What a tensor map says -----------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/TensorMap.h"

using namespace attn::emu;

size_t attn::emu::elementBytes(TensorElement element) {
  constexpr size_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return kBytes[static_cast<int>(element)];
}

size_t TensorMap::boxBytes() const {
  size_t bytes = innerBytes();
  for (unsigned dim = 1; dim < rank; ++dim)
    bytes *= count(dim);
  return bytes;
}

// Limits of cuTensorMapEncodeTiled in the CUDA driver API's reference.
static constexpr int64_t kMaxSize = int64_t(1) << 32;
static constexpr int64_t kStrideLimit = int64_t(1) << 40;
static constexpr uint32_t kMaxBox = 256, kMaxStep = 8;
static constexpr size_t kUnit = 16;

/// What is wrong with a number of a dim; empty when nothing is.
static std::string checkRange(const std::string &what, unsigned dim, int64_t value, int64_t least,
                              int64_t most) {
  if (value >= least && value <= most)
    return {};
  return what + " of dim " + std::to_string(dim) + " is " + std::to_string(value) + ", not in [" +
         std::to_string(least) + ", " + std::to_string(most) + "]";
}

static std::string checkDim(const TensorMap &map, unsigned dim) {
  std::string fault = checkRange("the size", dim, map.sizes[dim], 1, kMaxSize);
  if (fault.empty())
    fault = checkRange("the box", dim, map.box[dim], 1, kMaxBox);
  if (dim == 0 || !fault.empty())
    return fault;
  fault = checkRange("the step", dim, map.steps[dim], 1, kMaxStep);
  int64_t stride = map.strides[dim - 1];
  if (fault.empty())
    fault = checkRange("the stride", dim, stride, 0, kStrideLimit - 1);
  if (fault.empty() && stride % kUnit != 0)
    fault = "the stride of dim " + std::to_string(dim) + " is " + std::to_string(stride) +
            " bytes, no multiple of 16";
  return fault;
}

static std::string checkWidth(const TensorMap &map) {
  size_t width = map.innerBytes(), span = swizzleSpan(map.swizzle);
  std::string box = "the box is " + std::to_string(width) + " bytes wide";
  if (width % kUnit != 0)
    return box + ", no multiple of 16";
  if (map.swizzle == Swizzle::None || width == span)
    return {};
  if (width > span)
    return box + ", more than the " + std::to_string(span) + " of its swizzle";
  return box + "; the emulator knows the " + std::to_string(span) +
         "-byte swizzle of boxes that wide alone";
}

std::string TensorMap::check() const {
  if (magic != kMagic)
    return "holds no tensor map";
  if (rank < 1 || rank > kMaxRank)
    return "rank " + std::to_string(rank) + " is not in [1, 5]";
  if (element > TensorElement::BF16 || swizzle > Swizzle::Bytes128)
    return "its element type or swizzle does not exist";
  bool isFloat = element == TensorElement::F16 || element == TensorElement::BF16 ||
                 element == TensorElement::F32 || element == TensorElement::F64;
  if (fillNaN && !isFloat)
    return "only floating-point elements can be filled with NaN";
  if (reinterpret_cast<uintptr_t>(base) % kUnit != 0)
    return "the tensor does not start at a multiple of 16 bytes";
  for (unsigned dim = 0; dim < rank; ++dim)
    if (std::string fault = checkDim(*this, dim); !fault.empty())
      return fault;
  return checkWidth(*this);
}
