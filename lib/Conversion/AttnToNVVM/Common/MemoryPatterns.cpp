//===- MemoryPatterns.cpp - Tiles between global memory and registers -----===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

#include <mlir/Dialect/MemRef/IR/MemRef.h>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

GlobalTensor::GlobalTensor(ThreadBuilder &t, Value memref)
    : memref(memref), type(cast<MemRefType>(memref.getType())) {
  auto metadata = memref::ExtractStridedMetadataOp::create(t.b, t.loc, memref);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(t.b, t.loc, memref);
  Value bytes = t.mul(t.toI64(metadata.getOffset()), elementBytes());
  base = LLVM::IntToPtrOp::create(t.b, t.loc, t.globalPtrType(), t.toI64(address));
  base = t.offset(base, bytes);
  strides.assign(metadata.getStrides().begin(), metadata.getStrides().end());
}

Value GlobalTensor::rowPointer(ThreadBuilder &t, Value batch, Value row, Value head) {
  Value elements = t.mul(t.toI64(batch), t.toI64(strides[0]));
  unsigned headDim = type.getRank() == 4 ? 2 : 1;
  elements = t.add(elements, t.mul(t.toI64(head), t.toI64(strides[headDim])));
  elements = t.add(elements, t.mul(t.toI64(row), t.toI64(strides[rowDim()])));
  return t.offset(base, t.mul(elements, elementBytes()));
}

Value GlobalTensor::rowStride(ThreadBuilder &t) {
  return t.mul(t.toI64(strides[rowDim()]), elementBytes());
}

Value GlobalTensor::numRows(ThreadBuilder &t) {
  return memref::DimOp::create(t.b, t.loc, memref, rowDim());
}

Value attn::sharedPointer(ThreadBuilder &t, Value byteOffset) {
  Value base = LLVM::AddressOfOp::create(t.b, t.loc, t.sharedPtrType(), kSharedMemorySymbol);
  return t.offset(base, byteOffset);
}

Value attn::sharedPointer(ThreadBuilder &t, Value laneOffset, Value tileOffset) {
  return t.offset(sharedPointer(t, laneOffset), tileOffset);
}

/// row * pitch + (chunk ^ (row & mask)) * 16
Value attn::sharedChunkOffset(ThreadBuilder &t, SharedLayoutAttr layout, Value row, Value chunk) {
  if (layout.getXorMask())
    chunk = t.bitXor(chunk, t.bitAnd(row, layout.getXorMask()));
  return t.add(t.mul(row, layout.getPitch()), t.mul(chunk, kChunkBytes));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// A copy of 0 source bytes fills with zeros.
static void copyAsync(ThreadBuilder &t, Value source, Value target, Value valid, int64_t bytes) {
  auto cache =
      bytes == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  Value sourceBytes = t.select(valid, t.i32(bytes), t.i32(0));
  NVVM::CpAsyncOp::create(t.b, t.loc, target, source, t.b.getI32IntegerAttr(bytes),
                          NVVM::LoadCacheModifierKindAttr::get(t.b.getContext(), cache),
                          sourceBytes);
}

static void copyElement(ThreadBuilder &t, Value source, Value target, Value valid) {
  Type element = t.b.getI16Type();
  auto ifOp = scf::IfOp::create(t.b, t.loc, TypeRange{element}, valid, true);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(t.b, t.loc, t.load(element, source, 2));
  t.b.setInsertionPointToStart(ifOp.elseBlock());
  Value zero = arith::ConstantOp::create(t.b, t.loc, t.b.getI16IntegerAttr(0));
  scf::YieldOp::create(t.b, t.loc, zero);
  t.b.setInsertionPointAfter(ifOp);
  t.store(ifOp.getResult(0), target, 2);
}

void attn::copyToShared(ThreadBuilder &t, Value source, Value target, Value valid, int64_t bytes,
                        int64_t alignment) {
  int64_t unit = std::min(alignment, kChunkBytes);
  bool isAsync = unit >= kMinAsyncBytes;
  for (int64_t byte = 0; byte < bytes; byte += isAsync ? unit : 2) {
    Value from = t.offset(source, t.i64(byte)), to = t.offset(target, byte);
    if (isAsync)
      copyAsync(t, from, to, valid, unit);
    else
      copyElement(t, from, to, valid);
  }
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Where a tile lies in a tensor.
struct TilePlace {
  GlobalTensor tensor;
  Value row;   ///< The tile's first.
  Value base;  ///< Address of that row.
  Value limit; ///< Rows of the tensor that the tile reaches (i32), counted from its first.

  template <typename Adaptor>
  TilePlace(ThreadBuilder &t, Value memref, Adaptor adaptor)
      : tensor(t, memref), row(adaptor.getRow().front()),
        base(tensor.rowPointer(t, adaptor.getBatch().front(), row, adaptor.getHead().front())),
        limit(t.toI32(t.sub(t.toI64(tensor.numRows(t)), t.toI64(row)))) {}

  /// The address of row `tileRow` of the tile.
  Value rowPointer(ThreadBuilder &t, Value tileRow) {
    return t.offset(base, t.mul(t.toI64(tileRow), tensor.rowStride(t)));
  }
};

struct LowerStoreTile : TileOpPattern<StoreTileOp> {
  LowerStoreTile(TypeConverter &converter, MLIRContext *context, int64_t alignment, bool ownScratch)
      : TileOpPattern(converter, context), alignment(alignment), ownScratch(ownScratch) {}

  LogicalResult lower(StoreTileOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    TileType tile = op.getTile().getType();
    FragmentMap map(tile);
    TilePlace place(t, op.getDest(), adaptor);
    ValueRange values = adaptor.getTile();
    bool is16Bit = place.tensor.elementBytes() == 2;
    if (tile.getRank() == 1)
      storeRows(t, map, values, place);
    else if (is16Bit && ownScratch && alignment >= kChunkBytes)
      storeThroughShared(op, t, map, values, place);
    else
      storePairs(op, t, map, values, place);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// One value for each row; a quad holds four copies.
  void storeRows(ThreadBuilder &t, const FragmentMap &map, ValueRange values,
                 TilePlace &place) const {
    Value writes = t.equal(t.bitAnd(t.lane(), 3), t.i32(0));
    if (map.split != FragmentSplit::Rows)
      writes = arith::AndIOp::create(t.b, t.loc, writes, t.equal(t.warp(), t.i32(0)));
    t.emitIf(writes, [&] {
      for (unsigned row = 0; row < map.numRows(); ++row) {
        Value tileRow = map.tileRow(t, row);
        t.emitIf(t.lessThan(tileRow, place.limit),
                 [&] { t.store(values[row], place.rowPointer(t, tileRow), 4); });
      }
    });
  }

  /// Pairs of neighbouring columns straight from registers: 32-byte segments for f32.
  void storePairs(StoreTileOp op, ThreadBuilder &t, const FragmentMap &map, ValueRange values,
                  TilePlace &place) const {
    int64_t headDim = cast<MemRefType>(op.getDest().getType()).getShape().back();
    int64_t elementBytes = place.tensor.elementBytes();
    Type stored = cast<MemRefType>(op.getDest().getType()).getElementType();
    bool asPair = alignment >= 2 * elementBytes;
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value tileRow = map.tileRow(t, row);
      t.emitIf(t.lessThan(tileRow, place.limit), [&] {
        Value rowBase = place.rowPointer(t, tileRow);
        for (unsigned colBlock = 0; colBlock < map.colBlocks; ++colBlock) {
          unsigned first = map.index(row / 2, colBlock, 2 * (row % 2));
          Value col = map.tileCol(t, colBlock, 0);
          // Head dims are multiples of 8: a block of 8 columns is inside or outside.
          t.emitIf(t.lessThan(col, t.i32(headDim)), [&] {
            Value pointer = t.offset(rowBase, t.mul(col, elementBytes));
            storePair(t, values[first], values[first + 1], stored, pointer, asPair);
          });
        }
      });
    }
  }

  static void storePair(ThreadBuilder &t, Value low, Value high, Type stored, Value pointer,
                        bool asPair) {
    int64_t bytes = stored.getIntOrFloatBitWidth() / 8;
    if (!asPair) {
      auto convert = [&](Value value) -> Value {
        if (stored.isF32())
          return value;
        return arith::TruncFOp::create(t.b, t.loc, stored, value);
      };
      t.store(convert(low), pointer, bytes);
      t.store(convert(high), t.offset(pointer, bytes), bytes);
      return;
    }
    if (!stored.isF32()) {
      t.store(t.pack16(low, high, stored), pointer, 4);
      return;
    }
    auto vectorType = VectorType::get({2}, stored);
    Value pair = LLVM::UndefOp::create(t.b, t.loc, vectorType);
    pair = LLVM::InsertElementOp::create(t.b, t.loc, pair, low, t.i32(0));
    pair = LLVM::InsertElementOp::create(t.b, t.loc, pair, high, t.i32(1));
    t.store(pair, pointer, 8);
  }

  /// 16-bit tiles go through shared memory so that each thread stores 16 bytes.
  void storeThroughShared(StoreTileOp op, ThreadBuilder &t, const FragmentMap &map,
                          ValueRange values, TilePlace &place) const {
    auto memref = cast<MemRefType>(op.getDest().getType());
    TileType tile = op.getTile().getType();
    SharedLayoutAttr layout = sharedLayoutFor(t.b.getContext(), tile.getCols(), 2);
    // The scratch overlays the pipes: wait until no warp reads them.
    if (!op.getSynced())
      t.barrier();
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value tileRow = map.tileRow(t, row);
      for (unsigned colBlock = 0; colBlock < map.colBlocks; ++colBlock) {
        unsigned first = map.index(row / 2, colBlock, 2 * (row % 2));
        Value chunk = t.div(map.tileCol(t, colBlock, 0), 8);
        Value bytes =
            t.add(sharedChunkOffset(t, layout, tileRow, chunk), t.mul(t.bitAnd(t.lane(), 3), 4));
        t.store(t.pack16(values[first], values[first + 1], memref.getElementType()),
                sharedPointer(t, bytes), 4);
      }
    }
    // A warp that owns rows stores what it wrote itself.
    bool ownRows = map.split == FragmentSplit::Rows;
    if (ownRows)
      t.warpBarrier();
    else
      t.barrier();
    int64_t rows = ownRows ? map.warpRows : tile.getRows();
    int64_t threads = ownRows ? kWarpSize : kWarpSize * map.warps;
    Value thread = ownRows ? t.lane() : t.thread();
    int64_t chunks = memref.getShape().back() / 8;
    Type chunkType = VectorType::get({4}, t.b.getI32Type());
    for (int64_t first = 0; first < rows * chunks; first += threads) {
      Value index = t.add(thread, first);
      Value rowInShare = t.div(index, chunks), chunk = t.rem(index, chunks);
      Value tileRow = ownRows ? t.add(map.warpRow(t), rowInShare) : rowInShare;
      Value inside = t.lessThan(tileRow, place.limit);
      if (first + threads > rows * chunks)
        inside = arith::AndIOp::create(t.b, t.loc, inside, t.lessThan(index, t.i32(rows * chunks)));
      t.emitIf(inside, [&] {
        Value data =
            t.load(chunkType, sharedPointer(t, sharedChunkOffset(t, layout, tileRow, chunk)), 16);
        Value bytes = t.add(t.mul(t.toI64(tileRow), place.tensor.rowStride(t)),
                            t.toI64(t.mul(chunk, kChunkBytes)));
        t.store(data, t.offset(place.base, bytes), 16);
      });
    }
  }

  int64_t alignment;
  bool ownScratch;
};

/// f32 tiles straight into accumulators (partial results of split-KV).
struct LowerLoadTile : TileOpPattern<LoadTileOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(LoadTileOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    TileType tile = op.getResult().getType();
    FragmentMap map(tile);
    TilePlace place(t, op.getSource(), adaptor);
    Value limit = place.limit;
    if (op.getLimit())
      limit = t.min(limit, t.toI32(t.sub(t.toI64(single(adaptor.getLimit())), t.toI64(place.row))));
    Value pad = t.f32(op.getPad() ? op.getPad()->convertToDouble() : 0.0);
    int64_t headDim =
        tile.getRank() == 2 ? cast<MemRefType>(op.getSource().getType()).getShape().back() : 1;

    SmallVector<Value> registers(map.numRegisters());
    for (unsigned r = 0; r < map.numRows(); ++r) {
      SmallVector<unsigned> indices;
      if (tile.getRank() == 1)
        indices.push_back(r);
      for (unsigned block = 0; block < map.colBlocks; ++block)
        for (unsigned e = 0; e < 2 && tile.getRank() == 2; ++e)
          indices.push_back(map.index(r / 2, block, 2 * (r % 2) + e));
      Value tileRow = map.tileRow(t, r);
      SmallVector<Type> types(indices.size(), t.b.getF32Type());
      auto ifOp = scf::IfOp::create(t.b, t.loc, types, t.lessThan(tileRow, limit), true);
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(ifOp.thenBlock());
      SmallVector<Value> loaded;
      Value rowBase = place.rowPointer(t, tileRow);
      for (unsigned k = 0; k < indices.size(); ++k) {
        if (tile.getRank() == 1) {
          loaded.push_back(t.load(t.b.getF32Type(), rowBase, 4));
          continue;
        }
        int64_t block = k / 2;
        if (8 * block >= headDim) {
          loaded.push_back(pad);
          continue;
        }
        Value col = map.tileCol(t, block, k % 2);
        loaded.push_back(t.load(t.b.getF32Type(), t.offset(rowBase, t.mul(col, 4)), 4));
      }
      scf::YieldOp::create(t.b, t.loc, loaded);
      t.b.setInsertionPointToStart(ifOp.elseBlock());
      scf::YieldOp::create(t.b, t.loc, SmallVector<Value>(indices.size(), pad));
      for (auto [k, index] : llvm::enumerate(indices))
        registers[index] = ifOp.getResult(k);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

void attn::populateMemoryPatterns(TypeConverter &converter, RewritePatternSet &patterns,
                                  int64_t alignment, bool ownScratch) {
  patterns.add<LowerStoreTile>(converter, patterns.getContext(), alignment, ownScratch);
  patterns.add<LowerLoadTile>(converter, patterns.getContext());
}
