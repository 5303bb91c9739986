//===- SoftmaxState.h - States and exponentials on fragments ----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_SOFTMAXSTATE_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_SOFTMAXSTATE_H

#include "Patterns.h"

#include <numbers>

namespace attn {

/// m and l of a softmax state, one value for each row of the thread.
struct SoftmaxState {
  explicit SoftmaxState(mlir::ValueRange values)
      : m(values.take_front(values.size() / 2)), l(values.drop_front(values.size() / 2)) {}
  llvm::SmallVector<mlir::Value> m, l;
  llvm::SmallVector<mlir::Value> flatten() const {
    llvm::SmallVector<mlir::Value> values(m);
    values.append(l);
    return values;
  }
};

/// Exponentials of one softmax row set: exp((s - m) scale) as 2^(s c - m c), c = scale log2(e).
class RowExp {
public:
  RowExp(ThreadBuilder &t, mlir::Value scale, const SoftmaxStyle &style = {}) : style(style), t(t) {
    // Not 0 even for scale = 0, which would turn masked scores (-inf c) into NaN.
    c = t.fmax(t.fmul(scale, t.f32(std::numbers::log2e)), t.f32(1e-37));
  }

  /// Fixes the reference m of a row: -m c, with 0 in place of a maximum of -inf so that
  /// masked scores give 2^-inf = 0 rather than NaN.
  mlir::Value negatedReference(mlir::Value m) {
    if (style.finiteReference)
      return t.fmul(t.fsub(t.f32(0), m), c);
    mlir::Value reference = t.select(t.fequal(m, t.negInf()), t.f32(0), m);
    return t.fmul(t.fsub(t.f32(0), reference), c);
  }
  mlir::Value operator()(mlir::Value s, mlir::Value negatedReference) {
    return t.exp2(t.fma(s, c, negatedReference));
  }

  /// exp((from - to) scale), 1 if both are equal and finite.
  mlir::Value factor(mlir::Value from, mlir::Value to) {
    if (style.finiteReference)
      return t.exp2(t.fsub(t.fmul(from, c), t.fmul(to, c)));
    return (*this)(from, negatedReference(to));
  }
  /// The least finite reference: scores so far below others that their exponentials are 0.
  mlir::Value leastReference() {
    mlir::Value inverse = mlir::LLVM::FDivOp::create(t.b, t.loc, t.f32(1), c);
    mlir::Value bounded = mlir::LLVM::MinNumOp::create(t.b, t.loc, inverse, t.f32(1),
                                                       mlir::LLVM::FastmathFlags::none);
    return t.fmul(bounded, t.f32(-1e38));
  }

  /// scale log2(e)
  mlir::Value c;
  const SoftmaxStyle style;

private:
  ThreadBuilder &t;
};

/// The value combined with those of the other lanes of its quad, which share its row.
mlir::Value quadReduce(ThreadBuilder &t, mlir::Value value,
                       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

/// Visits the accumulator registers of the thread's row `row`.
void forEachInRow(const FragmentMap &map, unsigned row, llvm::function_ref<void(unsigned)> visit);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_SOFTMAXSTATE_H
