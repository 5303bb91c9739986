//===- Instruction.cpp - What an instruction does -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Instruction.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

using namespace mlir;
using namespace attn::emu;

HostSize attn::emu::hostSize(Type type) {
  if (type.isIntOrFloat()) {
    size_t bytes = llvm::PowerOf2Ceil(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
    return {bytes, bytes};
  }
  if (isa<LLVM::LLVMPointerType>(type))
    return {8, 8};
  if (auto vector = dyn_cast<VectorType>(type)) {
    HostSize element = hostSize(vector.getElementType());
    // Vectors of i1 are packed bits.
    if (vector.getRank() != 1 || vector.isScalable() || element.bytes == 0 ||
        vector.getElementType().isInteger(1))
      return {};
    size_t bytes = llvm::PowerOf2Ceil(element.bytes * vector.getNumElements());
    return {bytes, bytes};
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    HostSize element = hostSize(array.getElementType());
    return {element.bytes * array.getNumElements(), element.alignment};
  }
  auto structure = dyn_cast<LLVM::LLVMStructType>(type);
  if (!structure || structure.isOpaque())
    return {};
  HostSize result{0, 1};
  for (Type member : structure.getBody()) {
    HostSize size = hostSize(member);
    if (size.alignment == 0)
      return {};
    if (structure.isPacked())
      size.alignment = 1;
    result.bytes = llvm::alignTo(result.bytes, size.alignment) + size.bytes;
    result.alignment = std::max(result.alignment, size.alignment);
  }
  result.bytes = llvm::alignTo(result.bytes, result.alignment);
  return result;
}

ValueLayout::ValueLayout(TypeRange types) {
  for (Type type : types) {
    offsets.push_back(total);
    total += llvm::alignTo(hostSize(type).bytes, 8);
  }
}

void Instruction::execute(Thread &, const std::byte *, std::byte *) const {
  llvm_unreachable("not an instruction of one thread");
}
void Instruction::execute(Warp &, const Site &, ArrayRef<Lane>) const {
  llvm_unreachable("not an instruction of a warp");
}
void Instruction::execute(Warpgroup &, const Site &, ArrayRef<Lane>) const {
  llvm_unreachable("not an instruction of a warpgroup");
}

StringRef InstructionTable::nameOf(Operation *op) {
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin();
  return op->getName().getStringRef();
}

Decoder InstructionTable::lookup(Operation *op) const { return decoders.lookup(nameOf(op)); }
