//===- MemoryOps.cpp - Loads, stores and conversions of tiles -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// How many vectors make up a row is part of the code.
LogicalResult KernelEmitter::checkTensor(Operation *op, Value tensor) {
  auto type = cast<MemRefType>(tensor.getType());
  if (type.getRank() == 4 && type.isDynamicDim(3))
    return op->emitOpError() << "expected a static head dim, got " << type;
  return success();
}

/// Rows of [row, row + rows) below `limit`.
Value KernelEmitter::validRows(Value limit, Value row, int64_t rows) {
  Value left = arith::SubIOp::create(b, limit, row);
  left = arith::MaxSIOp::create(b, left, index(0));
  return arith::MinSIOp::create(b, left, index(rows));
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static bool isPackedOperand(Value tile) {
  return !tile.use_empty() && llvm::all_of(tile.getUses(), [](OpOperand &use) {
    auto mma = dyn_cast<TileMmaOp>(use.getOwner());
    return mma && mma.getTransposeB() && &use == &mma.getBMutable();
  });
}

/// Columns [col, col + width) of a tensor's row as one vector of f32, `pad` behind them.
Value KernelEmitter::loadTensorVector(Value tensor, ValueRange at, int64_t width, float pad) {
  Type element = cast<MemRefType>(tensor.getType()).getElementType();
  Value vector = vector::LoadOp::create(b, VectorType::get(width, element), tensor, at);
  if (!element.isF32())
    vector = arith::ExtFOp::create(b, VectorType::get(width, b.getF32Type()), vector);
  if (width == vectorWidth)
    return vector;
  return vector::InsertStridedSliceOp::create(b, vector, splat(pad), ArrayRef<int64_t>{0},
                                              ArrayRef<int64_t>{1});
}

static bool isLoopVariable(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<scf::ForOp>(argument.getOwner()->getParentOp());
}

/// Asks for a row that the next iteration will load. Rows of one head lie a power of two
/// apart in many tensors, which the hardware's own prefetching handles badly.
void KernelEmitter::prefetchRow(Value tensor, Value batch, Value row, Value head, int64_t cols) {
  Type element = cast<MemRefType>(tensor.getType()).getElementType();
  int64_t elementsPerLine = 64 * 8 / element.getIntOrFloatBitWidth();
  for (int64_t col = 0; col < cols; col += elementsPerLine)
    memref::PrefetchOp::create(b, tensor, ValueRange{batch, row, head, index(col)},
                               /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
}

void KernelEmitter::loadMatrix(LoadTileOp op, Value limit, const TileBuffer &to) {
  float pad = op.getPad() ? op.getPad()->convertToFloat() : 0.0f;
  bool prefetch = isLoopVariable(op.getRow());
  Value operands[] = {mapping.lookupOrDefault(op.getSource()),
                      mapping.lookupOrDefault(op.getBatch()),
                      mapping.lookupOrDefault(op.getRow()),
                      mapping.lookupOrDefault(op.getHead()),
                      limit,
                      to.memref};
  callShared("load " + Twine(to.cols) + " " + Twine(llvm::bit_cast<uint32_t>(pad)) +
                 (prefetch ? " prefetch" : ""),
             operands, [&](ValueRange args) {
               loadMatrixRows(args[0], args[1], args[2], args[3], args[4], pad, prefetch,
                              {args[5], to.rows, to.cols});
             });
}

void KernelEmitter::loadMatrixRows(Value tensor, Value batch, Value first, Value head, Value limit,
                                   float pad, bool prefetch, const TileBuffer &to) {
  int64_t tensorCols = cast<MemRefType>(tensor.getType()).getDimSize(3);
  int64_t cols = std::min(to.cols, tensorCols);
  Value valid = validRows(limit, first, to.rows);
  Value lastRow = arith::SubIOp::create(b, limit, index(1));
  forRange(index(0), valid, 1, [&](Value row) {
    Value tensorRow = arith::AddIOp::create(b, first, row);
    if (prefetch)
      prefetchRow(tensor, batch, arith::MinSIOp::create(b, offset(tensorRow, to.rows), lastRow),
                  head, cols);
    forColumns(cols, {}, [&](Value col, Value lanes, ValueRange) -> SmallVector<Value> {
      int64_t width = lanes ? cols % vectorWidth : vectorWidth;
      Value vector = loadTensorVector(tensor, {batch, tensorRow, head, col}, width, pad);
      store(vector, to.memref, {row, col});
      return {};
    });
    for (int64_t col = padded(cols); col < to.cols; col += vectorWidth)
      store(splat(pad), to.memref, {row, index(col)});
  });
  forRange(valid, index(to.rows), 1, [&](Value row) {
    forColumns(to.cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
      store(splat(pad), to.memref, {row, col});
      return {};
    });
  });
}

void KernelEmitter::loadRow(LoadTileOp op, Value limit, const TileBuffer &to) {
  Value tensor = mapping.lookupOrDefault(op.getSource());
  Value batch = mapping.lookupOrDefault(op.getBatch()),
        head = mapping.lookupOrDefault(op.getHead());
  Value first = mapping.lookupOrDefault(op.getRow());
  fill(to, op.getPad() ? op.getPad()->convertToFloat() : 0.0f);
  forRange(index(0), validRows(limit, first, to.cols), 1, [&](Value i) {
    Value row = arith::AddIOp::create(b, first, i);
    Value element = memref::LoadOp::create(b, tensor, ValueRange{batch, head, row});
    if (!element.getType().isF32())
      element = arith::ExtFOp::create(b, b.getF32Type(), element);
    memref::StoreOp::create(b, element, to.memref, i);
  });
}

LogicalResult KernelEmitter::emitOp(LoadTileOp op) {
  if (failed(checkTensor(op, op.getSource())))
    return failure();
  TileType type = op.getResult().getType();
  Value tensor = mapping.lookupOrDefault(op.getSource());
  // Whatever the program says, nothing outside the tensor is read.
  Value limit = memref::DimOp::create(b, tensor, index(type.getRank() == 2 ? 1 : 2));
  if (op.getLimit())
    limit = arith::MinSIOp::create(b, limit, mapping.lookupOrDefault(op.getLimit()));
  TileBuffer buffer = allocateFor(type).front();
  if (type.getRank() == 1)
    loadRow(op, limit, buffer);
  else
    loadMatrix(op, limit, buffer);
  if (isPackedOperand(op.getResult()))
    packed[op.getResult()] = packTransposed(buffer);
  else
    bind(op.getResult(), buffer);
  return success();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitOp(StoreTileOp op) {
  if (failed(checkTensor(op, op.getDest())))
    return failure();
  TileBuffer from = bufferOf(op.getTile());
  Value tensor = mapping.lookupOrDefault(op.getDest());
  Value batch = mapping.lookupOrDefault(op.getBatch()),
        head = mapping.lookupOrDefault(op.getHead());
  Value first = mapping.lookupOrDefault(op.getRow());
  auto tensorType = cast<MemRefType>(tensor.getType());
  Type element = tensorType.getElementType();
  bool isMatrix = op.getTile().getType().getRank() == 2;
  Value limit = memref::DimOp::create(b, tensor, index(isMatrix ? 1 : 2));

  if (!isMatrix) {
    forRange(index(0), validRows(limit, first, from.cols), 1, [&](Value i) {
      Value value = memref::LoadOp::create(b, from.memref, i);
      if (!element.isF32())
        value = arith::TruncFOp::create(b, element, value);
      Value row = arith::AddIOp::create(b, first, i);
      memref::StoreOp::create(b, value, tensor, ValueRange{batch, head, row});
    });
    return success();
  }
  int64_t cols = std::min(from.cols, tensorType.getDimSize(3));
  forRange(index(0), validRows(limit, first, from.rows), 1, [&](Value row) {
    Value tensorRow = arith::AddIOp::create(b, first, row);
    forColumns(cols, {}, [&](Value col, Value lanes, ValueRange) -> SmallVector<Value> {
      Value vector = load(from.memref, {row, col});
      int64_t width = lanes ? cols % vectorWidth : vectorWidth;
      if (lanes)
        vector = vector::ExtractStridedSliceOp::create(
            b, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
      if (!element.isF32())
        vector = arith::TruncFOp::create(b, VectorType::get(width, element), vector);
      store(vector, tensor, {batch, tensorRow, head, col});
      return {};
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Constants and conversions
//===----------------------------------------------------------------------===//

void KernelEmitter::fill(const TileBuffer &to, float value) {
  Value constant = splat(value);
  forEachVector(to, [&](ValueRange at) { store(constant, to.memref, at); });
}

/// Constants become buffers, or starting values of products, where they are used.
LogicalResult KernelEmitter::emitOp(FillOp) { return success(); }
LogicalResult KernelEmitter::emitOp(SoftmaxInitOp) { return success(); }

/// x = extend(round(x)): the buffer holds the values of the narrow type as f32.
LogicalResult KernelEmitter::emitOp(ConvertOp op) {
  SmallVector<TileBuffer, 2> from = buffersOf(op.getTile()), to = reuse(op.getTileMutable(), from);
  Type element = op.getResult().getType().getElementType();
  bool isExact = element.isF32() || element == op.getTile().getType().getElementType();
  if (!isExact || from[0].memref != to[0].memref)
    forEachVector(from[0], [&](ValueRange at) {
      Value vector = load(from[0].memref, at);
      if (!isExact) {
        vector = arith::TruncFOp::create(b, vectorType(element), vector);
        vector = arith::ExtFOp::create(b, vectorType(b.getF32Type()), vector);
      }
      store(vector, to[0].memref, at);
    });
  bind(op.getResult(), to);
  return success();
}
