//===- CompilerTestUtils.h - What the compiler's tests share ----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_COMPILER_COMPILERTESTUTILS_H
#define ATTN_TEST_UNIT_COMPILER_COMPILERTESTUTILS_H

#include "attn/Compiler/Compiler.h"

#include <gtest/gtest.h>

namespace attn::test {

/// The spec of words that are known to be good.
inline KernelSpec spec(const std::vector<std::string> &words) {
  auto parsed = parseSpec(words, ShapeWords::Refused);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed->spec;
}

inline Compiler compilerFor(const std::string &target, FileSchedules schedules = {}) {
  auto compiler = Compiler::create({.target = target, .schedules = std::move(schedules)});
  EXPECT_TRUE(compiler) << compiler.error().message;
  return std::move(*compiler);
}

} // namespace attn::test

#endif // ATTN_TEST_UNIT_COMPILER_COMPILERTESTUTILS_H
