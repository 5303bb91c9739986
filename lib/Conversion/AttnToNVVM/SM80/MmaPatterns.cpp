//===- MmaPatterns.cpp - Products with ldmatrix and mma.sync --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Patterns.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

using namespace mlir;
using namespace attn;

namespace {

/// Which of the four matrices that ldmatrix.x4 reads from a 16x16 block comes second: the
/// lower eight rows or the right eight columns. mma.sync wants the registers of an operand
/// in consecutive registers, and ptxas would have to move them there.
enum class MatrixOrder {
  RowsFirst,    ///< Operand a, and (transposed) operand b of P V.
  ColumnsFirst, ///< Operand b of Q K^T, whose rows are keys.
};

/// Reads 16x16 blocks of a 16-bit tile in shared memory with ldmatrix.x4: lane l gives the
/// address of row l mod 8 of matrix l / 8.
class MatrixReader {
public:
  MatrixReader(ThreadBuilder &t, TileType tile, Value tileOffset, Value firstRow, MatrixOrder order)
      : t(t), layout(cast<SharedLayoutAttr>(tile.getLayout())) {
    Value lane = t.lane();
    Value inMatrix = t.bitAnd(lane, 7);
    Value bit0 = t.bitAnd(t.div(lane, 8), 1), bit1 = t.div(lane, 16);
    bool rowsFirst = order == MatrixOrder::RowsFirst;
    Value row = t.add(inMatrix, t.mul(rowsFirst ? bit0 : bit1, 8));
    rowOffset = t.mul(row, layout.getPitch());
    // The lane's part of an address is apart from the warp's: tiles share the first, and
    // the second is uniform.
    this->tileOffset = t.add(tileOffset, t.mul(firstRow, layout.getPitch()));
    swizzle = rowsFirst ? bit1 : bit0;
    // Blocks start at multiples of 16 rows, so row & 7 is the lane's own.
    if (layout.getXorMask())
      swizzle = t.bitXor(swizzle, t.bitAnd(inMatrix, layout.getXorMask()));
    swizzle = t.mul(swizzle, kChunkBytes);
  }

  /// The four registers of the block at (16 rowBlock, 16 colBlock).
  SmallVector<Value> read(int64_t rowBlock, int64_t colBlock, bool transpose) {
    // Chunk 2 colBlock + right half, XORed by row: 2 colBlock is even, so the XOR splits into
    // the lane's part and a constant, and whole lines of 8 chunks are plain offsets.
    int64_t chunk = 2 * colBlock;
    int64_t phase = layout.getXorMask() ? chunk % 8 : 0;
    Value &address = phaseAddress[phase];
    if (!address) {
      Value bytes = t.bitXor(swizzle, t.i32(phase * kChunkBytes));
      address = sharedPointer(t, t.add(rowOffset, bytes), tileOffset);
    }
    Value pointer =
        t.offset(address, 16 * rowBlock * layout.getPitch() + (chunk - phase) * kChunkBytes);
    MLIRContext *context = t.b.getContext();
    Type i32 = t.b.getI32Type();
    auto type = LLVM::LLVMStructType::getLiteral(context, {i32, i32, i32, i32});
    Value matrices = NVVM::LdMatrixOp::create(
        t.b, t.loc, type, pointer, t.b.getI32IntegerAttr(4),
        NVVM::MMALayoutAttr::get(context, transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row),
        NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
        NVVM::LdStMatrixEltTypeAttr::get(context, NVVM::LdStMatrixEltType::B16));
    SmallVector<Value> registers;
    for (int64_t i = 0; i < 4; ++i)
      registers.push_back(LLVM::ExtractValueOp::create(t.b, t.loc, matrices, i));
    return registers;
  }

private:
  ThreadBuilder &t;
  SharedLayoutAttr layout;
  Value tileOffset, rowOffset, swizzle;
  std::array<Value, 8> phaseAddress;
};

struct LowerLocalLoad : TileOpPattern<LocalLoadOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(LocalLoadOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    if (!isa<SharedLayoutAttr>(op.getTile().getType().getLayout()))
      return failure();
    FragmentMap map(op.getResult().getType());
    MatrixReader reader(t, op.getTile().getType(), single(adaptor.getTile()), map.warpRow(t),
                        MatrixOrder::RowsFirst);
    SmallVector<Value> registers;
    for (unsigned rowBlock = 0; rowBlock < map.rowBlocks; ++rowBlock)
      for (unsigned block = 0; block < map.colBlocks; ++block)
        registers.append(reader.read(rowBlock, block, /*transpose=*/false));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct LowerTileMma : TileOpPattern<TileMmaOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(TileMmaOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    TileType aType = op.getA().getType(), bType = op.getB().getType();
    FragmentMap acc(op.getAcc().getType());
    Type elementType = aType.getElementType();
    if (!elementType.isF16() && !elementType.isBF16())
      return op.emitOpError() << "expected f16 or bf16 operands for mma.sync, got " << elementType
                              << "; use a schedule with instruction = fma";
    bool aInShared = isa<SharedLayoutAttr>(aType.getLayout());
    bool transposeB = op.getTransposeB();

    // Where the split is by keys, a warp multiplies by its own rows of K, or of V.
    Value firstKey = t.i32(0);
    int64_t steps = aType.getCols() / 16;
    if (transposeB) {
      firstKey = acc.warpCol(t);
    } else {
      FragmentMap a(aType);
      firstKey = a.warpCol(t);
      steps = a.colBlocks;
    }
    MatrixReader bReader(t, bType, single(adaptor.getB()), firstKey,
                         transposeB ? MatrixOrder::ColumnsFirst : MatrixOrder::RowsFirst);
    std::optional<MatrixReader> aReader;
    if (aInShared)
      aReader.emplace(t, aType, single(adaptor.getA()), acc.warpRow(t), MatrixOrder::RowsFirst);

    SmallVector<Value> result(adaptor.getAcc());
    for (int64_t k = 0; k < steps; ++k) {
      SmallVector<SmallVector<Value>> a(acc.rowBlocks);
      for (unsigned rowBlock = 0; rowBlock < acc.rowBlocks; ++rowBlock)
        a[rowBlock] = aInShared
                          ? aReader->read(rowBlock, k, /*transpose=*/false)
                          : SmallVector<Value>(adaptor.getA().slice((rowBlock * steps + k) * 4, 4));
      for (unsigned pair = 0; pair < acc.colBlocks / 2; ++pair) {
        SmallVector<Value> b = transposeB ? bReader.read(pair, k, /*transpose=*/false)
                                          : bReader.read(k, pair, /*transpose=*/true);
        for (unsigned half = 0; half < 2; ++half)
          for (unsigned rowBlock = 0; rowBlock < acc.rowBlocks; ++rowBlock)
            multiply(
                t, elementType, a[rowBlock], ValueRange(b).slice(2 * half, 2),
                MutableArrayRef<Value>(result).slice(acc.index(rowBlock, 2 * pair + half, 0), 4));
      }
    }
    rewriter.replaceOpWithMultiple(op, {result});
    return success();
  }

private:
  /// c += a b for one m16n8k16 block.
  static void multiply(ThreadBuilder &t, Type elementType, ValueRange a, ValueRange b,
                       MutableArrayRef<Value> c) {
    auto operands = [&](ValueRange registers) {
      SmallVector<Value> values(registers);
      if (elementType.isF16())
        for (Value &value : values)
          value = LLVM::BitcastOp::create(t.b, t.loc, VectorType::get({2}, elementType), value);
      return values;
    };
    NVVM::MMATypes type = elementType.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    Type f32 = t.b.getF32Type();
    auto resultType = LLVM::LLVMStructType::getLiteral(t.b.getContext(), {f32, f32, f32, f32});
    Value d = NVVM::MmaOp::create(
        t.b, t.loc, resultType, operands(a), operands(b), ValueRange(SmallVector<Value>(c)),
        ArrayRef<int64_t>{16, 8, 16}, std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{type, type},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (int64_t i = 0; i < 4; ++i)
      c[i] = LLVM::ExtractValueOp::create(t.b, t.loc, d, i);
  }
};

} // namespace

void attn::populateSM80MmaPatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerLocalLoad, LowerTileMma>(converter, patterns.getContext());
}
