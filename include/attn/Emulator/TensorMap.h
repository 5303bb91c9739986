//===- TensorMap.h - What a tensor map says ---------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU the driver encodes a tensor map into 128 opaque bytes. An emulated launch passes
// this struct in their place.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_TENSORMAP_H
#define ATTN_EMULATOR_TENSORMAP_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace attn::emu {

/// Numbered as CUtensorMapDataType.
enum class TensorElement : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16 };

/// How 16-byte chunks are permuted within lines of shared memory; numbered as
/// CUtensorMapSwizzle.
enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

/// Where the byte at a shared-memory address really lies. The patterns repeat every 256, 512 and
/// 1024 bytes of the address space.
constexpr uint64_t swizzled(Swizzle mode, uint64_t address) {
  constexpr uint64_t kMasks[] = {0, 1, 3, 7};
  return address ^ ((address >> 7 & kMasks[static_cast<int>(mode)]) << 4);
}

/// Bytes of a line of a swizzle pattern.
constexpr size_t swizzleSpan(Swizzle mode) { return size_t(16) << static_cast<int>(mode); }

size_t elementBytes(TensorElement element);

/// A strided tensor in global memory and the box that one copy moves. Dim 0 is contiguous.
struct TensorMap {
  static constexpr unsigned kMaxRank = 5;
  static constexpr uint64_t kMagic = 0x70616d2d6e747461;

  uint64_t magic = kMagic;
  std::byte *base = nullptr;
  std::array<int64_t, kMaxRank - 1> strides = {}; ///< In bytes, of dims 1 and up.
  std::array<int64_t, kMaxRank> sizes = {};
  std::array<uint32_t, kMaxRank> box = {};
  /// Every so manieth element of the box is moved; dim 0 knows no steps.
  std::array<uint8_t, kMaxRank> steps = {1, 1, 1, 1, 1};
  uint8_t rank = 0;
  TensorElement element = TensorElement::BF16;
  Swizzle swizzle = Swizzle::None;
  bool fillNaN = false; ///< What elements outside the tensor read as; else zero.

  size_t innerBytes() const { return box[0] * elementBytes(element); }
  /// Elements that are moved along a dim other than 0.
  size_t count(unsigned dim) const { return (box[dim] + steps[dim] - 1) / steps[dim]; }
  /// What a copy moves, in shared memory.
  size_t boxBytes() const;
  /// What the driver would refuse when it encodes the map (cuTensorMapEncodeTiled, tensors without
  /// interleave), or the emulator; empty when all is well.
  std::string check() const;
};
static_assert(sizeof(TensorMap) <= 128, "must fit in the place of a CUtensorMap");

} // namespace attn::emu

#endif // ATTN_EMULATOR_TENSORMAP_H
