//===- Report.cpp - What is wrong with a program -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Report.h"

llvm::StringRef attn::emu::toString(ReportKind kind) {
  static constexpr llvm::StringLiteral names[] = {"deadlock",
                                                  "instruction limit",
                                                  "race",
                                                  "data in flight",
                                                  "missing proxy fence",
                                                  "missing wgmma fence",
                                                  "accumulator in flight",
                                                  "shared memory out of bounds",
                                                  "global memory out of bounds",
                                                  "misaligned address",
                                                  "uninitialized read",
                                                  "bad descriptor",
                                                  "barrier misuse",
                                                  "divergent collective",
                                                  "bad operand",
                                                  "access after the end of a CTA",
                                                  "out of host memory"};
  return names[static_cast<size_t>(kind)];
}
