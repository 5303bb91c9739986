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
    bytes *= box[dim];
  return bytes;
}

std::string TensorMap::check() const {
  auto number = [](auto value) { return std::to_string(value); };
  if (magic != kMagic)
    return "holds no tensor map";
  if (rank < 1 || rank > kMaxRank)
    return "rank " + number(rank) + " is not in [1, 5]";
  bool isFloat = element == TensorElement::F16 || element == TensorElement::BF16 ||
                 element == TensorElement::F32 || element == TensorElement::F64;
  if (fillNaN && !isFloat)
    return "only floating-point elements can be filled with NaN";
  if (reinterpret_cast<uintptr_t>(base) % 16 != 0)
    return "the tensor does not start at a multiple of 16 bytes";
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (sizes[dim] == 0)
      return "dim " + number(dim) + " is empty";
    if (box[dim] == 0 || box[dim] > 256)
      return "box dim " + number(dim) + " has " + number(box[dim]) + " elements, not 1 to 256";
    if (dim != 0 && (strides[dim - 1] % 16 != 0 || strides[dim - 1] < 0))
      return "the stride of dim " + number(dim) + " is " + number(strides[dim - 1]) +
             " bytes, no positive multiple of 16";
  }
  if (innerBytes() % 16 != 0)
    return "the box is " + number(innerBytes()) + " bytes wide, no multiple of 16";
  if (swizzle != Swizzle::None && innerBytes() != swizzleSpan(swizzle))
    return "the box is " + number(innerBytes()) + " bytes wide; the emulator knows the " +
           number(swizzleSpan(swizzle)) + "-byte swizzle of boxes that wide alone";
  return {};
}
