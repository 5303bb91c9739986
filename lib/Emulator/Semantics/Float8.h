//===- Float8.h - 8-bit floating point on the host --------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_FLOAT8_H
#define ATTN_LIB_EMULATOR_SEMANTICS_FLOAT8_H

#include <cstdint>

namespace attn::emu {

enum class Float8 { E4M3, E5M2 };

float decodeF8(Float8 format, uint8_t bits);
/// Rounds to nearest even; values past the largest finite one become that one (.satfinite).
uint8_t encodeF8(Float8 format, float value);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_FLOAT8_H
