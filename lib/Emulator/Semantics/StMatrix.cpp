//===- StMatrix.cpp - Warp-wide stores of matrices ------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Semantics.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

/// stmatrix of 8x8 matrices of 16-bit elements: lane 8 m + r gives the address of row r of
/// matrix m; lane l holds columns 2 (l % 4) and the next of row l / 4, or with .trans the
/// transposed elements.
class StMatrix : public Instruction {
public:
  StMatrix(unsigned numMatrices, bool transposed)
      : numMatrices(numMatrices), transposed(transposed) {}
  Scope scope() const override { return Scope::Warp; }
  bool takesWholeUnit() const override { return true; }

  void execute(Warp &warp, const Site &site, llvm::ArrayRef<Lane> lanes) const override {
    constexpr size_t kRowBytes = 16;
    for (size_t matrix = 0; matrix != numMatrices; ++matrix)
      for (size_t row = 0; row != 8; ++row) {
        const Lane &owner = lanes[8 * matrix + row];
        auto *address = pointerAt(owner.args, 0);
        SharedMemory *memory = owner.thread->ownSharedAt(address);
        if (!memory || !memory->access(warp.accessor(*owner.thread, site), AccessKind::Write,
                                       address, kRowBytes, kRowBytes))
          return;
        for (size_t column = 0; column != 8; ++column) {
          size_t r = transposed ? column : row, c = transposed ? row : column;
          const Lane &holder = lanes[4 * r + c / 2];
          put(address, 2 * column, get<uint16_t>(holder.args, 8 * (1 + matrix) + 2 * (c % 2)));
        }
      }
  }

  static DecodeResult decode(NVVM::StMatrixOp op) {
    if (op.getEltType() != NVVM::LdStMatrixEltType::B16)
      return op.emitError() << "the emulator has semantics for 16-bit elements of '"
                            << op->getName() << "' alone";
    return makeInstruction<StMatrix>(op.getSources().size(),
                                     op.getLayout() == NVVM::MMALayout::col);
  }

private:
  unsigned numMatrices;
  bool transposed;
};

} // namespace

void attn::emu::registerStMatrix(InstructionTable &table) {
  addOp<NVVM::StMatrixOp, StMatrix::decode>(table);
}
