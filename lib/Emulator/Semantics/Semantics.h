//===- Semantics.h - The families of instructions ---------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_SEMANTICS_H
#define ATTN_LIB_EMULATOR_SEMANTICS_SEMANTICS_H

#include "attn/Emulator/Machine.h"

namespace attn::emu {

/// What a decoder returns.
using DecodeResult = mlir::FailureOr<std::unique_ptr<Instruction>>;

/// Adds `decode(OpTy) -> DecodeResult` under the op's name.
template <typename OpTy, DecodeResult (*decode)(OpTy)> void addOp(InstructionTable &table) {
  table.add(OpTy::getOperationName(),
            [](mlir::Operation *op) { return decode(mlir::cast<OpTy>(op)); });
}

/// An instruction of class T.
template <typename T, typename... Args> DecodeResult makeInstruction(Args &&...args) {
  return std::unique_ptr<Instruction>(std::make_unique<T>(std::forward<Args>(args)...));
}

// One function per file of this folder; Semantics.cpp calls them all.
void registerSpecialRegisters(InstructionTable &table);
void registerArithmetic(InstructionTable &table);
void registerMatrix(InstructionTable &table);
void registerCopies(InstructionTable &table);
void registerSynchronization(InstructionTable &table);
void registerWarpExchange(InstructionTable &table);
void registerBulkCopies(InstructionTable &table);
void registerConversions(InstructionTable &table);
void registerHopper(InstructionTable &table);
void registerMbarriers(InstructionTable &table);
void registerStMatrix(InstructionTable &table);
void registerTensorCopies(InstructionTable &table);
void registerWgmma(InstructionTable &table);
void registerWgmmaGroups(InstructionTable &table);

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_SEMANTICS_H
