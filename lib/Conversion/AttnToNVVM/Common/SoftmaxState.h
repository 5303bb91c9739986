//===- SoftmaxState.h - States and exponentials on fragments ----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp((s - m) scale) is computed as 2^(s c - m c), c = scale log2(e), by one fma for each
// score. Its product is exact, m c is not: all of a row's exponents are off by
//
//   d = m c - round(m c),   |d| <= |m c| 2^-24
//
// That cancels in O / l, because every part of a row is taken relative to the same rounded
// number, and the log-sum-exp subtracts it. But 2^d has to stay near 1. From
// |m c| = 2^21 on a row is far: there s - m, which is exact where it matters, comes first.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_SOFTMAXSTATE_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_SOFTMAXSTATE_H

#include "Patterns.h"

namespace attn {

/// What a step does to the references of the thread's rows, with l and its scores relative to them.
struct RowMove {
  llvm::SmallVector<mlir::Value> m = {}, l = {}, shift = {}, alpha = {}, scores = {};
};

/// A softmax state, one value for each row of the thread: the reference m, the sum l, and what
/// the exponents of the current step are shifted by, which no step reads from the one before.
/// Between steps the odd lanes hold m = -inf for a far row (SoftmaxMove.cpp).
struct SoftmaxState {
  explicit SoftmaxState(mlir::ValueRange values)
      : m(values.take_front(values.size() / kStateValues)),
        l(values.drop_front(m.size()).take_front(m.size())), shift(values.take_back(m.size())) {}
  llvm::SmallVector<mlir::Value> m, l, shift;
  void take(const RowMove &move) {
    m = move.m;
    l = move.l;
    shift = move.shift;
  }
  llvm::SmallVector<mlir::Value> flatten() const {
    llvm::SmallVector<mlir::Value> values(m);
    values.append(l);
    values.append(shift);
    return values;
  }
};

/// Exponentials of one softmax row set.
class RowExp {
public:
  RowExp(ThreadBuilder &t, mlir::Value scale, const SoftmaxStyle &style);

  /// 2^(s c + shift)
  mlir::Value operator()(mlir::Value s, mlir::Value shift) { return t.exp2(t.fma(s, c, shift)); }
  /// -round(m c): the shift of a row with a finite m that is not far.
  mlir::Value shift(mlir::Value m) { return t.fmul(t.fsub(t.f32(0), m), c); }
  /// Whether scores of the row have m subtracted first: those of a far row, of any without
  /// lazy rescaling.
  mlir::Value isFar(mlir::Value m);
  /// m, or 0 for a row without keys: then s - m is -inf, not NaN, for its scores.
  mlir::Value finiteOrZero(mlir::Value m);
  /// exp((from - to) scale) between references that are not far, each as its shift has it.
  mlir::Value factor(mlir::Value from, mlir::Value to);
  /// The same between any references.
  mlir::Value anyFactor(mlir::Value from, mlir::Value to);
  /// m c minus what the exponents of the row were relative to: d above, 0 for a far row.
  mlir::Value roundingOf(mlir::Value m);

  /// scale log2(e)
  mlir::Value c;
  const SoftmaxStyle style;

private:
  ThreadBuilder &t;
};

/// What a row's scores have subtracted, and the shift of the differences.
struct RowReference {
  mlir::Value base, shift;
  RowReference(ThreadBuilder &t, RowExp &exp, mlir::Value m);
};

/// Lazily, if any lane's scores exceed a reference, and otherwise always:
/// m' = max(m, rowmax S), alpha = exp((m - m') scale), l' = alpha l; else m' = m, alpha = 1, l' =
/// l.
RowMove moveReferences(ThreadBuilder &t, const FragmentMap &map, RowExp &exp,
                       mlir::ValueRange scores, const SoftmaxState &state);

/// max(m, the largest score of the row)
mlir::Value rowMax(ThreadBuilder &t, const FragmentMap &map, mlir::ValueRange scores, unsigned row,
                   mlir::Value m);

/// The scores of a row minus its base.
void subtractBase(ThreadBuilder &t, const FragmentMap &map, unsigned row, mlir::Value base,
                  llvm::MutableArrayRef<mlir::Value> scores);

/// Combines values in `chains` chains that do not wait for each other, then those.
mlir::Value combineChains(unsigned chains, llvm::ArrayRef<mlir::Value> values,
                          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

/// The value combined with those of the other lanes of its quad, which share its row.
mlir::Value quadReduce(ThreadBuilder &t, mlir::Value value,
                       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

/// m of a row in every lane, also in those that hold -inf for a far row.
mlir::Value recallReference(ThreadBuilder &t, mlir::Value m, const SoftmaxStyle &style);

/// Visits the accumulator registers of the thread's row `row`.
void forEachInRow(const FragmentMap &map, unsigned row, llvm::function_ref<void(unsigned)> visit);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_SOFTMAXSTATE_H
