//===- Matrix.cpp - mma.sync and ldmatrix -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "Semantics.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

#include <array>

using namespace mlir;
using namespace attn::emu;

namespace {

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// D = A B + C for one block of 16 rows, 8 columns and `depth` 16-bit products, in f32. Sums
/// are exact up to one rounding at the end; hardware truncates along the way.
class Mma : public Instruction {
public:
  Mma(bool isBF16, unsigned depth) : isBF16(isBF16), depth(depth) {}
  Scope scope() const override { return Scope::Warp; }
  unsigned cycles() const override { return 16; }
  bool takesWholeUnit() const override { return true; }

  void execute(Warp &, const Site &, ArrayRef<Lane> lanes) const override {
    double a[16][16], b[16][8], c[16][8];
    unsigned halves = depth / 8;
    // Lane l holds pairs of row l / 4 and columns 2 (l % 4); registers of A go down eight rows
    // first, then right eight columns.
    for (unsigned l = 0; l != kLanes; ++l) {
      const std::byte *args = lanes[l].args;
      unsigned group = l / 4, pair = 2 * (l % 4);
      for (unsigned i = 0; i != 2 * halves; ++i)
        for (unsigned e = 0; e != 2; ++e)
          a[group + 8 * (i % 2)][pair + 8 * (i / 2) + e] = element(args, i, e);
      for (unsigned i = 0; i != halves; ++i)
        for (unsigned e = 0; e != 2; ++e)
          b[pair + 8 * i + e][group] = element(args, 2 * halves + i, e);
      for (unsigned i = 0; i != 4; ++i)
        c[group + 8 * (i / 2)][pair + i % 2] = get<float>(args, 8 * (3 * halves + i));
    }
    for (unsigned row = 0; row != 16; ++row)
      for (unsigned k = 0; k != depth; ++k)
        for (unsigned col = 0; col != 8; ++col)
          c[row][col] += a[row][k] * b[k][col];
    for (unsigned l = 0; l != kLanes; ++l) {
      std::array<float, 4> result;
      for (unsigned i = 0; i != 4; ++i)
        result[i] = static_cast<float>(c[l / 4 + 8 * (i / 2)][2 * (l % 4) + i % 2]);
      put(lanes[l].results, 0, result);
    }
  }

private:
  /// Element `e` of the pair in register `i`.
  double element(const std::byte *args, unsigned i, unsigned e) const {
    auto bits = get<uint16_t>(args, 8 * i + 2 * e);
    return isBF16 ? fromBF16(bits) : fromF16(bits);
  }

  bool isBF16;
  unsigned depth;
};

DecodeResult decodeMma(NVVM::MmaOp op) {
  auto a = op.getMultiplicandAPtxType(), b = op.getMultiplicandBPtxType();
  bool isBF16 = a == NVVM::MMATypes::bf16;
  bool takesTypes = a == b && (isBF16 || a == NVVM::MMATypes::f16);
  auto result = dyn_cast<LLVM::LLVMStructType>(op.getRes().getType());
  bool isF32 = result && llvm::all_of(result.getBody(), [](Type type) { return type.isF32(); });
  int64_t depth = op.getShape().getK();
  if (!takesTypes || !isF32 || op.getShape().getM() != 16 || op.getShape().getN() != 8 ||
      (depth != 8 && depth != 16) || op.getLayoutA() != NVVM::MMALayout::row ||
      op.getLayoutB() != NVVM::MMALayout::col)
    return op.emitError() << "the emulator's mma.sync takes m16n8k8 and m16n8k16 of f16 or bf16 "
                             "with f32 accumulators, a in rows and b in columns";
  return makeInstruction<Mma>(isBF16, depth);
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Loads 8x8 matrices of 16-bit elements: lane l gives the address of row l % 8 of matrix
/// l / 8 and gets two neighbours of row l / 4 of each, or of column l / 4 when transposed.
class LoadMatrix : public Instruction {
public:
  LoadMatrix(unsigned number, bool transpose) : number(number), transpose(transpose) {}
  Scope scope() const override { return Scope::Warp; }
  unsigned cycles() const override { return 16; }
  bool takesWholeUnit() const override { return true; }

  void execute(Warp &warp, const Site &site, ArrayRef<Lane> lanes) const override {
    std::array<std::array<std::array<uint16_t, 8>, 8>, 4> matrices;
    for (unsigned l = 0; l != 8 * number; ++l) {
      Thread &thread = *lanes[l].thread;
      auto *row = get<const std::byte *>(lanes[l].args, 0);
      SharedMemory *memory = thread.ownSharedAt(row);
      if (!memory || !memory->access(warp.accessor(thread, site), AccessKind::Read, row, 16, 16))
        return;
      std::memcpy(matrices[l / 8][l % 8].data(), row, 16);
    }
    for (unsigned l = 0; l != kLanes; ++l)
      for (unsigned m = 0; m != number; ++m)
        for (unsigned e = 0; e != 2; ++e) {
          unsigned outer = l / 4, inner = 2 * (l % 4) + e;
          put(lanes[l].results, 4 * m + 2 * e,
              transpose ? matrices[m][inner][outer] : matrices[m][outer][inner]);
        }
  }

private:
  unsigned number;
  bool transpose;
};

DecodeResult decodeLoadMatrix(NVVM::LdMatrixOp op) {
  if (op.getShape().getM() != 8 || op.getShape().getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return op.emitError() << "the emulator's ldmatrix takes 8x8 matrices of b16";
  return makeInstruction<LoadMatrix>(op.getNum(), op.getLayout() == NVVM::MMALayout::col);
}

} // namespace

void attn::emu::registerMatrix(InstructionTable &table) {
  addOp<NVVM::MmaOp, decodeMma>(table);
  addOp<NVVM::LdMatrixOp, decodeLoadMatrix>(table);
}
