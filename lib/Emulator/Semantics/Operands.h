//===- Operands.h - Where operands lie --------------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_OPERANDS_H
#define ATTN_LIB_EMULATOR_SEMANTICS_OPERANDS_H

#include "attn/Emulator/Instruction.h"

#include <optional>

namespace attn::emu {

/// Offsets of an op's operands in its argument buffer. A group is one operand of the op's
/// definition, counted from 0, which may stand for several values or none.
template <typename OpTy> class Operands {
public:
  explicit Operands(OpTy op) : op(op), layout(op->getOperandTypes()) {}

  size_t at(unsigned group, unsigned i = 0) {
    return layout.offset(op.getODSOperandIndexAndLength(group).first + i);
  }
  unsigned count(unsigned group) { return op.getODSOperandIndexAndLength(group).second; }
  std::optional<size_t> optional(unsigned group) {
    if (count(group) == 0)
      return std::nullopt;
    return at(group);
  }
  llvm::SmallVector<size_t, 5> all(unsigned group) {
    llvm::SmallVector<size_t, 5> offsets;
    for (unsigned i = 0, e = count(group); i != e; ++i)
      offsets.push_back(at(group, i));
    return offsets;
  }

private:
  OpTy op;
  ValueLayout layout;
};

/// A pointer operand.
inline std::byte *pointerAt(const std::byte *args, size_t offset) {
  return get<std::byte *>(args, offset);
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_OPERANDS_H
