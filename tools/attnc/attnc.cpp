//===- attnc.cpp - The compiler driver ------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Tools/Attnc.h"

int main(int argc, char **argv) {
  return attn::runAttnc(std::vector<std::string>(argv + 1, argv + argc));
}
