//===- Numbers.h - 16-bit floating point on the host -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_NUMBERS_H
#define ATTN_LIB_EMULATOR_SEMANTICS_NUMBERS_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace attn::emu {

inline float fromBF16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

inline float fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

/// Rounds to nearest even; NaN becomes the canonical one, as cvt gives it.
inline uint16_t toBF16(float value) {
  if (std::isnan(value))
    return 0x7fff;
  auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rounds to nearest even; NaN becomes the canonical one, as cvt gives it.
inline uint16_t toF16(float value) {
  if (std::isnan(value))
    return 0x7fff;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f)
    return sign | 0x7c00;
  if (magnitude < 0x1p-14f)
    // Subnormal: a multiple of 2^-24, which may round up to the smallest normal number.
    return sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24f));
  auto bits = std::bit_cast<uint32_t>(magnitude);
  bits += 0xfff + (bits >> 13 & 1);
  return sign | static_cast<uint16_t>((bits - (uint32_t(112) << 23)) >> 13);
}

/// Subnormal numbers as zeros of their sign (.ftz).
inline float flushToZero(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_NUMBERS_H
