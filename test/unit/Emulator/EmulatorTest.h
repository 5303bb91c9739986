//===- EmulatorTest.h - Runs small L3 programs ------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_EMULATOR_EMULATORTEST_H
#define ATTN_TEST_UNIT_EMULATOR_EMULATORTEST_H

#include "attn/Emulator/Program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attn::test {

/// One kernel `@k(%x: !llvm.ptr<1>)` whose parameter is the tensor 'x' of 64 i32.
struct Trial {
  unsigned threads = 32;
  unsigned grid = 1;
  size_t sharedBytes = 1024;
  emu::LaunchOptions options = {};
  std::string target = "sm_90a";
  std::vector<int32_t> x = std::vector<int32_t>(64);
  rt::ErrorCode faultCode = rt::ErrorCode::BadInput;
  std::optional<rt::ErrorCode> code = {}; ///< Of the last launch's error.

  /// Runs a body that may use %x, %smem (dynamic shared memory), %tid, and the constants %c0,
  /// %c1, %c31 and %all (i32). Line 1 of locations is the body's first. "" or the error.
  std::string run(const std::string &body);
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_EMULATOR_EMULATORTEST_H
