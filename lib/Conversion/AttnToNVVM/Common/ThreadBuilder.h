//===- ThreadBuilder.h - Emits the code of one GPU thread -------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_THREADBUILDER_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_THREADBUILDER_H

#include "attn/Dialect/Attn/IR/Warps.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>
#include <mlir/IR/Builders.h>

namespace attn {

/// Short names for what thread programs are made of. 32-bit arithmetic inside shared
/// memory and tiles, 64-bit for global addresses.
class ThreadBuilder {
public:
  ThreadBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  // Constants and integer arithmetic (either width).
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value f32(double value);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value add(mlir::Value a, int64_t c) { return add(a, intLike(a, c)); }
  mlir::Value sub(mlir::Value a, mlir::Value c);
  mlir::Value mul(mlir::Value a, mlir::Value c);
  mlir::Value mul(mlir::Value a, int64_t c) { return mul(a, intLike(a, c)); }
  mlir::Value div(mlir::Value a, int64_t c);
  mlir::Value rem(mlir::Value a, int64_t c);
  mlir::Value bitAnd(mlir::Value a, int64_t c);
  mlir::Value bitXor(mlir::Value a, mlir::Value c);
  mlir::Value min(mlir::Value a, mlir::Value c);
  mlir::Value lessThan(mlir::Value a, mlir::Value c);
  mlir::Value equal(mlir::Value a, mlir::Value c);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value c);
  /// index or integer to i32 (truncating) and i64.
  mlir::Value toI32(mlir::Value value);
  mlir::Value toI64(mlir::Value value);
  mlir::Value toIndex(mlir::Value value);

  // f32 arithmetic.
  mlir::Value fadd(mlir::Value a, mlir::Value c);
  mlir::Value fsub(mlir::Value a, mlir::Value c);
  mlir::Value fmul(mlir::Value a, mlir::Value c);
  mlir::Value fma(mlir::Value a, mlir::Value c, mlir::Value d);
  mlir::Value fmax(mlir::Value a, mlir::Value c);
  mlir::Value fequal(mlir::Value a, mlir::Value c);
  mlir::Value fgreater(mlir::Value a, mlir::Value c);
  mlir::Value negInf();
  /// x + y as (sum, what its rounding left out), also where the sum is infinite: then 0.
  std::pair<mlir::Value, mlir::Value> twoSum(mlir::Value x, mlir::Value y);
  /// 2^x and log2(x), `ex2.approx.ftz.f32` and `lg2.approx.ftz.f32` (PTX ISA).
  mlir::Value exp2(mlir::Value x);
  mlir::Value log2(mlir::Value x);
  /// Two f32 rounded to nearest even and packed in an i32, `low` in the low half.
  mlir::Value pack16(mlir::Value low, mlir::Value high, mlir::Type elementType);

  // The thread's place.
  mlir::Value thread();
  mlir::Value lane() { return bitAnd(thread(), kWarpSize - 1); }
  mlir::Value warp() { return div(thread(), kWarpSize); }
  /// Value of the lane whose number differs in the bits of `mask`.
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);
  /// Value of lane 0, in every lane.
  mlir::Value broadcast(mlir::Value value);
  /// True in every lane when `condition` is true in any lane of the warp.
  mlir::Value any(mlir::Value condition);
  void barrier();
  void warpBarrier();

  /// Runs `body` in a block that only threads with `condition` enter.
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body);

  // Memory.
  mlir::LLVM::LLVMPointerType sharedPtrType();
  mlir::LLVM::LLVMPointerType globalPtrType();
  /// A pointer to shared memory as one to that of the cluster, which bulk copies write to.
  mlir::Value clusterPointer(mlir::Value pointer);
  /// pointer + bytes (i32 or i64).
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value offset(mlir::Value pointer, int64_t bytes) { return offset(pointer, i32(bytes)); }
  mlir::Value load(mlir::Type type, mlir::Value pointer, unsigned alignment);
  void store(mlir::Value value, mlir::Value pointer, unsigned alignment);

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  mlir::Value intLike(mlir::Value like, int64_t value);
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type result, mlir::ValueRange args);
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_THREADBUILDER_H
