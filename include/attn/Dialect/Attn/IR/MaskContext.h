//===- MaskContext.h - What a mask needs to emit code -----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_MASKCONTEXT_H
#define ATTN_DIALECT_ATTN_IR_MASKCONTEXT_H

#include <mlir/IR/Builders.h>
#include <mlir/IR/Value.h>

namespace attn {

/// Beyond every position where those have 32 bits, and yet two of them can be added: what stands
/// for unlimited.
constexpr int64_t kFarPosition = (int64_t(1) << 30) - 1;

/// A half-open range [begin, end) of keys.
struct KeyRange {
  mlir::Value begin;
  mlir::Value end;
};

/// Everything a mask may use to emit its ranges and its predicate. All values have
/// one integer type: index where ranges of tiles are computed, i32 inside a GPU
/// thread, where sequence positions are known to fit, or a vector of index, where a
/// predicate is wanted for several pairs at once.
class MaskContext {
public:
  MaskContext(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value seqLenQ,
              mlir::Value seqLenKV, mlir::ValueRange params, mlir::Value batch = {},
              mlir::Value head = {})
      : builder(builder), loc(loc), seqLenQ(seqLenQ), seqLenKV(seqLenKV), params(params),
        batch(batch), head(head) {}

  /// The same context with another share of the parameters.
  MaskContext withParams(mlir::ValueRange share) const {
    return MaskContext(builder, loc, seqLenQ, seqLenKV, share, batch, head);
  }

  /// `value` in the type of positions; in 32 bits at most kFarPosition away from 0.
  mlir::Value constant(int64_t value);
  /// The same of a value known at run time, of type index or of the positions' own.
  mlir::Value position(mlir::Value value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value lessEqual(mlir::Value a, mlir::Value b);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b);
  mlir::Value logicalOr(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value trueValue();
  /// All keys of the sequence: [0, seqLenKV).
  KeyRange allKeys();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value seqLenQ;
  mlir::Value seqLenKV;
  mlir::ValueRange params;
  mlir::Value batch;
  mlir::Value head;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_MASKCONTEXT_H
