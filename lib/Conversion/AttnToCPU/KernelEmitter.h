//===- KernelEmitter.h - Emits the host code of one kernel ------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_KERNELEMITTER_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_KERNELEMITTER_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/IR/IRMapping.h>
#include <mlir/IR/ImplicitLocOpBuilder.h>

namespace attn::cpu {

using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::OpOperand;
using mlir::SmallVector;
using mlir::Value;
using mlir::ValueRange;

/// A tile in memory: f32, row-major, rows padded to whole vectors. A rank-1 tile is
/// one row. What lies in the padding is arbitrary and must not reach the rest.
struct TileBuffer {
  Value memref;
  int64_t rows;
  int64_t cols;
};

/// The two halves of the lanes of two interleaved vectors.
struct InterleaveMasks {
  explicit InterleaveMasks(int64_t width) {
    for (int64_t i = 0; i < width / 2; ++i) {
      low.append({i, width + i});
      high.append({width / 2 + i, width + width / 2 + i});
    }
  }
  SmallVector<int64_t> low, high;
};

/// Where the elements of a product start from.
struct AccumulatorInit {
  /// Starts from a constant where `buffer` is null.
  float constant = 0.0f;
  Value buffer;
  /// Row factors to apply to `buffer`, or null.
  Value factors;
};

/// Walks the tile program of a kernel and emits the loops over vectors that compute it.
/// Tiles have value semantics in the program and are buffers here: an op writes over an
/// operand's buffer when that operand has no other use, else into a buffer of its own.
class KernelEmitter {
public:
  KernelEmitter(mlir::func::FuncOp kernel, int64_t vectorWidth);

  /// Emits the range function and the tile counter in front of the kernel, which stays.
  /// On failure a diagnostic was given and nothing is left behind.
  LogicalResult emit();

private:
  using IndexFn = llvm::function_ref<void(Value index)>;
  /// Body of a loop over the vectors of a row: takes the first column, the lanes that lie
  /// inside the row (null: all), the carried values; returns the next carried values.
  using ColumnsFn =
      llvm::function_ref<SmallVector<Value>(Value col, Value lanes, ValueRange carried)>;

  using CombineFn = llvm::function_ref<Value(Value, Value)>;

  // Functions and control flow (KernelEmitter.cpp).
  LogicalResult checkKernel();
  mlir::func::FuncOp createFunction(llvm::StringRef name, llvm::ArrayRef<mlir::Type> extraInputs,
                                    mlir::TypeRange results);
  SmallVector<Value> emitGridSizes();
  void emitTileCounter();
  LogicalResult emitRangeFunction();
  LogicalResult emitBlock(mlir::Block &block);
  LogicalResult emitOp(Operation &op);
  LogicalResult emitFor(mlir::scf::ForOp loop);
  LogicalResult emitIf(mlir::scf::IfOp op);
  void emitYield(Operation *yield, llvm::ArrayRef<SmallVector<TileBuffer, 2>> targets);

  /// Emits a call of a function with the given body, which loops over buffers alone. Loops
  /// that the program holds several times, as peeled K/V loops do, so become code once. `what`
  /// must tell apart all bodies that take operands of the same types.
  void callShared(const llvm::Twine &what, ValueRange operands,
                  llvm::function_ref<void(ValueRange arguments)> body);

  // Buffers (Buffers.cpp).
  Value allocate(llvm::ArrayRef<int64_t> shape);
  SmallVector<TileBuffer, 2> allocateFor(mlir::Type type);
  SmallVector<TileBuffer, 2> buffersOf(Value value);
  TileBuffer bufferOf(Value tile) { return buffersOf(tile).front(); }
  bool isLastUse(OpOperand &operand);
  /// Buffers for the result of an op that reads `buffers`, those of its operand, element by
  /// element: the same ones where this is the operand's last use.
  SmallVector<TileBuffer, 2> reuse(OpOperand &operand, llvm::ArrayRef<TileBuffer> buffers);
  /// Buffers that hold the operand's value and may be overwritten.
  SmallVector<TileBuffer, 2> own(OpOperand &operand);
  void bind(Value value, llvm::ArrayRef<TileBuffer> buffers);
  void copy(const TileBuffer &from, const TileBuffer &to);

  // Loads, stores and conversions (MemoryOps.cpp).
  LogicalResult emitOp(LoadTileOp op);
  LogicalResult emitOp(StoreTileOp op);
  LogicalResult emitOp(FillOp op);
  LogicalResult emitOp(ConvertOp op);
  Value validRows(Value limit, Value row, int64_t rows);
  LogicalResult checkTensor(Operation *op, Value tensor);
  Value loadTensorVector(Value tensor, ValueRange at, int64_t width, float pad);
  void prefetchRow(Value tensor, Value batch, Value row, Value head, int64_t cols);
  void loadMatrix(LoadTileOp op, Value limit, const TileBuffer &to);
  void loadMatrixRows(Value tensor, Value batch, Value first, Value head, Value limit, float pad,
                      bool prefetch, const TileBuffer &to);
  void loadRow(LoadTileOp op, Value limit, const TileBuffer &to);
  void fill(const TileBuffer &to, float value);

  // Products (Products.cpp).
  LogicalResult emitOp(TileMmaOp op);
  LogicalResult emitOp(RescaleOp op);
  Value packTransposed(const TileBuffer &from);
  void emitProduct(const TileBuffer &a, Value matrix, const AccumulatorInit &init,
                   const TileBuffer &out);
  void emitProductBlock(const TileBuffer &a, Value matrix, const AccumulatorInit &init, Value out,
                        Value row, int64_t numRows, Value col, int64_t numVectors);

  // Score maps and masks (Scores.cpp).
  LogicalResult emitOp(MapScoresOp op);
  LogicalResult emitOp(MaskScoresOp op);
  Value mapVector(MapScoresOp op, Value scores, Value row, Value keys,
                  const llvm::DenseSet<Value> &varying);
  Value mapScalar(MapScoresOp op, Value score, Value row, Value key);

  // Softmax (Softmax.cpp).
  LogicalResult emitOp(SoftmaxInitOp op);
  LogicalResult emitOp(SoftmaxUpdateOp op);
  LogicalResult emitOp(SoftmaxMaxOp op);
  LogicalResult emitOp(SoftmaxSumOp op);
  LogicalResult emitOp(SoftmaxApplyOp op);
  LogicalResult emitOp(FinalizeOp op);
  LogicalResult emitOp(MergeOp op);
  void emitRowMaxLoops(const TileBuffer &scores, Value oldMax, Value newMax, Value partials);
  void emitProbabilityLoops(const TileBuffer &scores, Value m, Value scale, Value p, Value sum,
                            Value partials);
  void combineLanes(Value partials, int64_t rows, Value start, Value out, CombineFn combine);
  void emitRowMax(const TileBuffer &scores, Value oldMax, Value newMax);
  void emitProbabilities(const TileBuffer &scores, Value m, Value scale, Value p, Value sum);
  Value finiteOrZero(Value m);
  Value probability(Value s, Value finiteMax, Value scale);
  std::pair<Value, Value> twoSum(Value x, Value y);

  // Vectors and loops (VectorHelpers.cpp).
  mlir::VectorType vectorType(mlir::Type element) const;
  int64_t padded(int64_t count) const { return llvm::alignTo(count, vectorWidth); }
  int64_t rowPitch(int64_t cols) const;
  Value index(int64_t value);
  Value splat(float value);
  Value splat(Value scalar);
  Value iota(Value first);
  Value scalar(float value);
  Value load(Value memref, ValueRange indices);
  void store(Value vector, Value memref, ValueRange indices);
  Value max(Value a, Value b);
  Value equals(Value a, float b);
  Value offset(Value index, int64_t constant);
  void forRange(Value begin, Value end, int64_t step, IndexFn body);
  void forRows(int64_t rows, IndexFn body);
  SmallVector<Value> forColumns(int64_t cols, ValueRange init, ColumnsFn body);
  void forEachVector(const TileBuffer &buffer, llvm::function_ref<void(ValueRange at)> body);
  /// Loops over blocks of `size`, then once over what is left.
  void forBlocks(int64_t count, int64_t size,
                 llvm::function_ref<void(Value first, int64_t count)> body);

  mlir::func::FuncOp kernel;
  mlir::scf::ForallOp forall;
  const int64_t vectorWidth;
  mlir::ImplicitLocOpBuilder b;
  mlir::IRMapping mapping;
  llvm::DenseMap<Value, SmallVector<TileBuffer, 2>> storage;
  /// Tiles that are only ever the transposed operand of products, as packed matrices.
  llvm::DenseMap<Value, Value> packed;
  /// Results of rescales whose one use, a product, applies the factors itself.
  llvm::DenseMap<Value, Value> pendingFactors;
  SmallVector<Value> allocations;
  SmallVector<Operation *> created;
  unsigned numShared = 0;
  llvm::DenseMap<std::pair<mlir::StringAttr, mlir::FunctionType>, mlir::func::FuncOp> shared;
  /// Where allocations go: in front of the loop over the tiles of the range.
  Operation *allocationPoint = nullptr;
};

} // namespace attn::cpu

#endif // ATTN_LIB_CONVERSION_ATTNTOCPU_KERNELEMITTER_H
