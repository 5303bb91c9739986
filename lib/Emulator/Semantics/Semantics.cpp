//===- Semantics.cpp - The table of instructions -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

using namespace attn::emu;

const InstructionTable &InstructionTable::get() {
  static const InstructionTable table = [] {
    InstructionTable all;
    registerSpecialRegisters(all);
    registerArithmetic(all);
    registerMatrix(all);
    registerCopies(all);
    registerSynchronization(all);
    registerWarpExchange(all);
    registerBulkCopies(all);
    registerConversions(all);
    registerHopper(all);
    registerMbarriers(all);
    registerStMatrix(all);
    registerTensorCopies(all);
    registerWgmma(all);
    registerWgmmaGroups(all);
    return all;
  }();
  return table;
}
