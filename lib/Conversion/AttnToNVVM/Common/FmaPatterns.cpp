//===- FmaPatterns.cpp - Products without tensor cores --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generic path: any element type, both operands in shared memory, accumulators in
// the registers where mma.sync would have them, so that all other ops are lowered as on
// the fast path.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

using namespace mlir;
using namespace attn;

namespace {

/// Reads elements of a tile in shared memory as f32.
class SharedTile {
public:
  SharedTile(ThreadBuilder &t, TileType tile, Value base)
      : t(t), layout(cast<SharedLayoutAttr>(tile.getLayout())), elementType(tile.getElementType()),
        base(base) {}

  int64_t elementBytes() const { return elementType.getIntOrFloatBitWidth() / 8; }
  int64_t elementsPerChunk() const { return kChunkBytes / elementBytes(); }

  /// Address of the element at (row, col).
  Value pointer(Value row, Value col) {
    Value chunk = t.div(col, elementsPerChunk());
    Value inChunk = t.mul(t.rem(col, elementsPerChunk()), elementBytes());
    return sharedPointer(t, t.add(sharedChunkOffset(t, layout, row, chunk), inChunk), base);
  }
  /// The elements of chunk `chunk` of row `row`.
  SmallVector<Value> readChunk(Value row, Value chunk) {
    Value address = sharedPointer(t, sharedChunkOffset(t, layout, row, chunk), base);
    return read(address, elementsPerChunk(), kChunkBytes);
  }
  /// The elements at columns `col` (even) and `col` + 1.
  SmallVector<Value> readPair(Value row, Value col) {
    return read(pointer(row, col), 2, 2 * elementBytes());
  }

private:
  SmallVector<Value> read(Value address, int64_t count, unsigned alignment) {
    Value data = t.load(VectorType::get({count}, elementType), address, alignment);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i) {
      Value element = LLVM::ExtractElementOp::create(t.b, t.loc, data, t.i32(i));
      if (!elementType.isF32())
        element = LLVM::FPExtOp::create(t.b, t.loc, t.b.getF32Type(), element);
      elements.push_back(element);
    }
    return elements;
  }

  ThreadBuilder &t;
  SharedLayoutAttr layout;
  Type elementType;
  Value base;
};

struct LowerLocalStore : TileOpPattern<LocalStoreOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(LocalStoreOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    if (!op.getOffset())
      return op.emitOpError() << "has no offset; run attn-allocate-smem first";
    FragmentMap map(op.getTile().getType());
    TileType result = op.getResult().getType();
    Type elementType = result.getElementType();
    Value base = t.i32(*op.getOffset());
    SharedTile tile(t, result, base);
    ValueRange values = adaptor.getTile();
    // The warp's reads of the tile before are done.
    t.warpBarrier();
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value tileRow = map.tileRow(t, row);
      for (unsigned block = 0; block < map.colBlocks; ++block) {
        unsigned first = map.index(row / 2, block, 2 * (row % 2));
        Value address = tile.pointer(tileRow, map.tileCol(t, block, 0));
        if (elementType.isF32()) {
          t.store(values[first], address, 4);
          t.store(values[first + 1], t.offset(address, 4), 4);
        } else {
          t.store(t.pack16(values[first], values[first + 1], elementType), address, 4);
        }
      }
    }
    t.warpBarrier();
    rewriter.replaceOp(op, base);
    return success();
  }
};

struct LowerTileMmaToFma : TileOpPattern<TileMmaOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(TileMmaOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    TileType aType = op.getA().getType(), bType = op.getB().getType();
    if (!isa<SharedLayoutAttr>(aType.getLayout()))
      return op.emitOpError() << "expected a in shared memory with instruction = fma, got "
                              << aType;
    FragmentMap acc(op.getAcc().getType());
    SharedTile a(t, aType, single(adaptor.getA())), b(t, bType, single(adaptor.getB()));
    int64_t depth = aType.getCols(), step = a.elementsPerChunk();

    // for chunk in depth: acc += a[:, chunk] b[chunk, :]
    SmallVector<Value> init(adaptor.getAcc());
    auto loop = scf::ForOp::create(t.b, t.loc, arith::ConstantIndexOp::create(t.b, t.loc, 0),
                                   arith::ConstantIndexOp::create(t.b, t.loc, depth / step),
                                   arith::ConstantIndexOp::create(t.b, t.loc, 1), init);
    {
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> sums(loop.getRegionIterArgs());
      Value chunk = t.toI32(loop.getInductionVar());
      if (op.getTransposeB())
        accumulateRows(t, acc, a, b, chunk, sums);
      else
        accumulateColumns(t, acc, a, b, chunk, sums);
      t.b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(t.b, t.loc, sums);
    }
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(loop.getResults())});
    return success();
  }

private:
  /// The chunk of each row of `a` that the thread accumulates.
  static SmallVector<SmallVector<Value>> readRows(ThreadBuilder &t, const FragmentMap &acc,
                                                  SharedTile &a, Value chunk) {
    SmallVector<SmallVector<Value>> rows;
    for (unsigned row = 0; row < acc.numRows(); ++row)
      rows.push_back(a.readChunk(acc.tileRow(t, row), chunk));
    return rows;
  }

  /// sum[r, c] += sum_k a[r, k] b[c, k] over one chunk of k.
  static void accumulateRows(ThreadBuilder &t, const FragmentMap &acc, SharedTile &a, SharedTile &b,
                             Value chunk, SmallVectorImpl<Value> &sums) {
    SmallVector<SmallVector<Value>> rows = readRows(t, acc, a, chunk);
    for (unsigned block = 0; block < acc.colBlocks; ++block)
      for (unsigned e = 0; e < 2; ++e) {
        SmallVector<Value> column = b.readChunk(acc.tileCol(t, block, e), chunk);
        for (unsigned row = 0; row < acc.numRows(); ++row) {
          Value &sum = sums[acc.index(row / 2, block, 2 * (row % 2) + e)];
          for (auto [x, y] : llvm::zip(rows[row], column))
            sum = t.fma(x, y, sum);
        }
      }
  }

  /// sum[r, c] += sum_k a[r, k] b[k, c] over one chunk of k.
  static void accumulateColumns(ThreadBuilder &t, const FragmentMap &acc, SharedTile &a,
                                SharedTile &b, Value chunk, SmallVectorImpl<Value> &sums) {
    SmallVector<SmallVector<Value>> rows = readRows(t, acc, a, chunk);
    Value firstKey = t.mul(chunk, a.elementsPerChunk());
    for (int64_t k = 0; k < a.elementsPerChunk(); ++k) {
      Value key = t.add(firstKey, k);
      for (unsigned block = 0; block < acc.colBlocks; ++block) {
        SmallVector<Value> pair = b.readPair(key, acc.tileCol(t, block, 0));
        for (unsigned row = 0; row < acc.numRows(); ++row)
          for (unsigned e = 0; e < 2; ++e) {
            Value &sum = sums[acc.index(row / 2, block, 2 * (row % 2) + e)];
            sum = t.fma(rows[row][k], pair[e], sum);
          }
      }
    }
  }
};

} // namespace

void attn::populateFmaPatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerLocalStore, LowerTileMmaToFma>(converter, patterns.getContext());
}
