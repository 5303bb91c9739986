//===- Buffers.cpp - Which buffer a tile lives in -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value KernelEmitter::allocate(ArrayRef<int64_t> shape) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(allocationPoint);
  // Whole cache lines, so that no vector straddles two.
  allocations.push_back(
      memref::AllocOp::create(b, MemRefType::get(shape, b.getF32Type()), b.getI64IntegerAttr(64)));
  return allocations.back();
}

/// Elements from one row to the next. Rows a multiple of 512 bytes apart would share few sets
/// of the first-level cache, so that a block of columns would not stay in it.
int64_t KernelEmitter::rowPitch(int64_t cols) const {
  int64_t pitch = padded(cols);
  return pitch % 128 == 0 ? pitch + 16 : pitch;
}

SmallVector<TileBuffer, 2> KernelEmitter::allocateFor(Type type) {
  if (auto state = dyn_cast<SoftmaxStateType>(type)) {
    int64_t rows = state.getRows();
    return {{allocate(padded(rows)), 1, rows}, {allocate(padded(rows)), 1, rows}};
  }
  auto tile = cast<TileType>(type);
  if (tile.getRank() == 1)
    return {{allocate(padded(tile.getRows())), 1, tile.getRows()}};
  return {{allocate({tile.getRows(), rowPitch(tile.getCols())}), tile.getRows(), tile.getCols()}};
}

void KernelEmitter::bind(Value value, ArrayRef<TileBuffer> buffers) {
  storage[value] = SmallVector<TileBuffer, 2>(buffers);
}

static float roundedTo(Type type, APFloat value) {
  bool lost;
  value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToFloat();
}

/// Constants are written out anew for each use, which may then overwrite them.
SmallVector<TileBuffer, 2> KernelEmitter::buffersOf(Value value) {
  if (auto constant = value.getDefiningOp<FillOp>()) {
    SmallVector<TileBuffer, 2> buffers = allocateFor(value.getType());
    fill(buffers[0],
         roundedTo(constant.getResult().getType().getElementType(), constant.getValue()));
    return buffers;
  }
  if (value.getDefiningOp<SoftmaxInitOp>()) {
    SmallVector<TileBuffer, 2> buffers = allocateFor(value.getType());
    fill(buffers[0], -std::numeric_limits<float>::infinity());
    fill(buffers[1], 0.0f);
    return buffers;
  }
  return storage[value];
}

static bool isConstantTile(Value value) {
  return value.getDefiningOp<FillOp>() || value.getDefiningOp<SoftmaxInitOp>();
}

/// A value from outside the block of its use may be needed in the next iteration.
bool KernelEmitter::isLastUse(OpOperand &operand) {
  Value value = operand.get();
  return value.hasOneUse() && value.getParentBlock() == operand.getOwner()->getBlock();
}

SmallVector<TileBuffer, 2> KernelEmitter::reuse(OpOperand &operand, ArrayRef<TileBuffer> buffers) {
  if (isConstantTile(operand.get()) || isLastUse(operand))
    return SmallVector<TileBuffer, 2>(buffers);
  return allocateFor(operand.get().getType());
}

SmallVector<TileBuffer, 2> KernelEmitter::own(OpOperand &operand) {
  SmallVector<TileBuffer, 2> from = buffersOf(operand.get()), to = reuse(operand, from);
  for (auto [source, target] : llvm::zip_equal(from, to))
    if (source.memref != target.memref)
      copy(source, target);
  return to;
}

void KernelEmitter::copy(const TileBuffer &from, const TileBuffer &to) {
  forEachVector(from, [&](ValueRange at) { store(load(from.memref, at), to.memref, at); });
}
