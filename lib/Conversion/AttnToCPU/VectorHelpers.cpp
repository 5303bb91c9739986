//===- VectorHelpers.cpp - Vectors and loops that all emitters use --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Vectors of a row up to which their loop is written out.
static constexpr int64_t kMaxUnrolledVectors = 4;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

VectorType KernelEmitter::vectorType(Type element) const {
  return VectorType::get(vectorWidth, element);
}

Value KernelEmitter::index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

Value KernelEmitter::scalar(float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value KernelEmitter::splat(float value) {
  return arith::ConstantOp::create(
      b, SplatElementsAttr::get(vectorType(b.getF32Type()), b.getF32FloatAttr(value)));
}

Value KernelEmitter::splat(Value scalar) {
  return vector::BroadcastOp::create(b, vectorType(scalar.getType()), scalar);
}

/// (first, first + 1, ...)
Value KernelEmitter::iota(Value first) {
  SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(vectorWidth));
  Value steps =
      arith::ConstantOp::create(b, DenseIntElementsAttr::get(vectorType(b.getIndexType()), lanes));
  return arith::AddIOp::create(b, splat(first), steps);
}

Value KernelEmitter::load(Value memref, ValueRange indices) {
  return vector::LoadOp::create(b, vectorType(b.getF32Type()), memref, indices);
}

void KernelEmitter::store(Value vector, Value memref, ValueRange indices) {
  vector::StoreOp::create(b, vector, memref, indices);
}

/// a where a > b, else b: one instruction on every host. A NaN in a is dropped here; it
/// comes back through the exponential.
Value KernelEmitter::max(Value a, Value b_) {
  Value greater = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, a, b_);
  return arith::SelectOp::create(b, greater, a, b_);
}

Value KernelEmitter::equals(Value a, float value) {
  Value constant = isa<VectorType>(a.getType()) ? splat(value) : scalar(value);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, a, constant);
}

Value KernelEmitter::offset(Value i, int64_t constant) {
  return b.createOrFold<arith::AddIOp>(i, index(constant));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelEmitter::forRange(Value begin, Value end, int64_t step, IndexFn body) {
  scf::ForOp::create(b, begin, end, index(step), ValueRange{},
                     [&](OpBuilder &, Location, Value i, ValueRange) {
                       body(i);
                       scf::YieldOp::create(b);
                     });
}

void KernelEmitter::forRows(int64_t rows, IndexFn body) {
  if (rows == 1)
    return body(index(0));
  forRange(index(0), index(rows), 1, body);
}

SmallVector<Value> KernelEmitter::forColumns(int64_t cols, ValueRange init, ColumnsFn body) {
  SmallVector<Value> carried(init);
  int64_t whole = cols / vectorWidth * vectorWidth;
  if (whole / vectorWidth <= kMaxUnrolledVectors) {
    for (int64_t col = 0; col < whole; col += vectorWidth)
      carried = body(index(col), Value(), carried);
  } else {
    auto loop = scf::ForOp::create(b, index(0), index(whole), index(vectorWidth), carried,
                                   [&](OpBuilder &, Location, Value col, ValueRange args) {
                                     scf::YieldOp::create(b, body(col, Value(), args));
                                   });
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (whole == cols)
    return carried;
  SmallVector<bool> inside(vectorWidth);
  std::fill_n(inside.begin(), cols - whole, true);
  Value lanes = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorType(b.getI1Type()), ArrayRef<bool>(inside)));
  return body(index(whole), lanes, carried);
}

void KernelEmitter::forEachVector(const TileBuffer &buffer,
                                  llvm::function_ref<void(ValueRange)> body) {
  bool isRow = cast<MemRefType>(buffer.memref.getType()).getRank() == 1;
  forRows(buffer.rows, [&](Value row) {
    forColumns(buffer.cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
      body(isRow ? ArrayRef<Value>{col} : ArrayRef<Value>{row, col});
      return {};
    });
  });
}

void KernelEmitter::forBlocks(int64_t count, int64_t size,
                              llvm::function_ref<void(Value, int64_t)> body) {
  int64_t whole = count / size * size;
  if (whole == size)
    body(index(0), size);
  else if (whole > 0)
    forRange(index(0), index(whole), size, [&](Value first) { body(first, size); });
  if (whole < count)
    body(index(whole), count - whole);
}
