//===- Float8.cpp - 8-bit floating point on the host ----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float8.h"

#include "Numbers.h"

#include <algorithm>
#include <limits>

using namespace attn::emu;

namespace {

struct Format {
  int mantissaBits, bias;
  uint32_t largest; ///< Encoding of the largest finite value.
};

constexpr Format formatOf(Float8 format) {
  return format == Float8::E4M3 ? Format{3, 7, 0x7E} : Format{2, 15, 0x7B};
}

/// The magnitude's encoding, rounded to nearest even; exponents are not limited.
uint32_t encodeMagnitude(Format format, float magnitude) {
  if (magnitude == 0)
    return 0;
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  // In units of the last mantissa bit; scaling by a power of two is exact in double.
  double scaled = std::ldexp(static_cast<double>(magnitude), format.mantissaBits - exponent);
  auto rounded = static_cast<uint32_t>(std::nearbyint(scaled));
  // Subnormals have no implicit bit, and a carry goes into the exponent: both are sums.
  return rounded + ((exponent + format.bias - 1) << format.mantissaBits);
}

} // namespace

float attn::emu::decodeF8(Float8 format, uint8_t bits) {
  // E5M2 is the upper half of an f16.
  if (format == Float8::E5M2)
    return fromF16(static_cast<uint16_t>(bits << 8));
  if ((bits & 0x7F) == 0x7F)
    return std::numeric_limits<float>::quiet_NaN();
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                  : std::ldexp(static_cast<float>(mantissa | 8), exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

uint8_t attn::emu::encodeF8(Float8 kind, float value) {
  constexpr uint8_t kNaN = 0x7F;
  if (std::isnan(value))
    return kNaN;
  Format format = formatOf(kind);
  uint32_t bits = format.largest;
  if (!std::isinf(value))
    bits = std::min(bits, encodeMagnitude(format, std::fabs(value)));
  return static_cast<uint8_t>(bits | (std::signbit(value) ? 0x80 : 0));
}
