//===- MatrixDescriptor.cpp - Operands of wgmma in shared memory ----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixDescriptor.h"

using namespace attn::emu;

static constexpr uint32_t kChunk = 16, kAddressMask = 0x3FFFF;

/// The descriptor's numbering: none, 128, 64, 32 bytes.
static Swizzle swizzleOf(uint64_t bits) {
  constexpr Swizzle kModes[] = {Swizzle::None, Swizzle::Bytes128, Swizzle::Bytes64,
                                Swizzle::Bytes32};
  return kModes[bits >> 62];
}

MatrixDescriptor::MatrixDescriptor(uint64_t bits, unsigned numRows, bool mnMajor)
    : bits(bits), numRows(numRows), mnMajor(mnMajor), swizzle(swizzleOf(bits)) {}

uint32_t MatrixDescriptor::address(unsigned chunk) const {
  uint32_t leading = field(16), stride = field(32);
  auto line = static_cast<uint32_t>(swizzleSpan(swizzle));
  uint32_t offset;
  if (!mnMajor) {
    // Groups of 8 rows are `stride` apart; the two halves of a row are neighbours in a line of
    // the swizzle, or `leading` apart without one.
    uint32_t row = chunk / 2, half = chunk % 2;
    offset = row / 8 * stride + row % 8 * line;
    offset += half * (swizzle == Swizzle::None ? leading : kChunk);
  } else {
    // Lines of 8 K indices. Within a line chunks are neighbours; the next line along M or N is
    // `leading` away and the next 8 of K `stride`; without a swizzle the other way round.
    uint32_t block = chunk / 16, k = chunk % 16;
    uint32_t blocksPerLine = line / kChunk;
    uint32_t acrossLines = block / blocksPerLine, acrossK = k / 8;
    offset = k % 8 * line + block % blocksPerLine * kChunk;
    offset += swizzle == Swizzle::None ? acrossLines * stride + acrossK * leading
                                       : acrossLines * leading + acrossK * stride;
  }
  return static_cast<uint32_t>(swizzled(swizzle, field(0) + offset)) & kAddressMask;
}
