//===- SoftmaxState.cpp - Exponentials relative to a row's reference ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SoftmaxState.h"

#include <numbers>

using namespace mlir;
using namespace attn;

/// |m c| from which a row is far: below it d is 1/16 at most.
constexpr double kFarExponent = 0x1p21;

RowExp::RowExp(ThreadBuilder &t, Value scale, const SoftmaxStyle &style) : style(style), t(t) {
  // Not 0 even for scale = 0, which would turn masked scores (-inf c) into NaN.
  c = t.fmax(t.fmul(scale, t.f32(std::numbers::log2e)), t.f32(1e-37));
}

Value RowExp::finiteOrZero(Value m) { return t.select(t.fequal(m, t.negInf()), t.f32(0), m); }

Value RowExp::isFar(Value m) {
  if (!style.lazyRescale)
    return arith::ConstantOp::create(t.b, t.loc, t.b.getBoolAttr(true));
  Value exponent = t.fmul(finiteOrZero(m), c);
  Value magnitude = t.fmax(exponent, t.fsub(t.f32(0), exponent));
  return arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OGE, magnitude,
                               t.f32(kFarExponent));
}

Value RowExp::factor(Value from, Value to) {
  return t.exp2(t.fadd(t.fmul(from, c), shift(finiteOrZero(to))));
}

Value RowExp::anyFactor(Value from, Value to) {
  Value fromFar = isFar(from), toFar = isFar(to);
  Value rounded = t.fmul(from, c), toShift = shift(finiteOrZero(to));
  // to is far: from c - to c, where `from` is far too of their difference.
  Value ofDifference = t.fmul(t.fsub(from, finiteOrZero(to)), c);
  Value toExact = t.fma(t.fsub(t.f32(0), to), c, rounded);
  Value whereFar = t.select(fromFar, ofDifference, toExact);
  // to is not: from c - round(to c).
  Value whereNear = t.select(fromFar, t.fma(from, c, toShift), t.fadd(rounded, toShift));
  return t.exp2(t.select(toFar, whereFar, whereNear));
}

Value RowExp::roundingOf(Value m) {
  Value finite = finiteOrZero(m);
  return t.select(isFar(m), t.f32(0), t.fma(finite, c, shift(finite)));
}

RowReference::RowReference(ThreadBuilder &t, RowExp &exp, Value m) {
  Value zero = t.f32(0), far = exp.isFar(m);
  base = t.select(far, exp.finiteOrZero(m), zero);
  shift = t.select(far, zero, exp.shift(exp.finiteOrZero(m)));
}

Value attn::quadReduce(ThreadBuilder &t, Value value,
                       llvm::function_ref<Value(Value, Value)> combine) {
  value = combine(value, t.shuffleXor(value, 1));
  return combine(value, t.shuffleXor(value, 2));
}

Value attn::recallReference(ThreadBuilder &t, Value m, const SoftmaxStyle &style) {
  return style.lazyRescale ? t.fmax(m, t.shuffleXor(m, 1)) : m;
}

void attn::forEachInRow(const FragmentMap &map, unsigned row,
                        llvm::function_ref<void(unsigned)> visit) {
  for (unsigned colBlock = 0; colBlock < map.colBlocks; ++colBlock)
    for (unsigned e = 0; e < 2; ++e)
      visit(map.index(row / 2, colBlock, 2 * (row % 2) + e));
}

void attn::subtractBase(ThreadBuilder &t, const FragmentMap &map, unsigned row, Value base,
                        MutableArrayRef<Value> scores) {
  forEachInRow(map, row, [&](unsigned i) { scores[i] = t.fsub(scores[i], base); });
}

Value attn::combineChains(unsigned chains, ArrayRef<Value> values,
                          llvm::function_ref<Value(Value, Value)> combine) {
  SmallVector<Value> partial(values.take_front(std::min<size_t>(chains, values.size())));
  for (auto [i, value] : llvm::enumerate(values.drop_front(partial.size())))
    partial[i % chains] = combine(partial[i % chains], value);
  for (; partial.size() > 1; partial.resize((partial.size() + 1) / 2))
    for (size_t i = 0, half = partial.size() / 2; i < half; ++i)
      partial[i] = combine(partial[i], partial[partial.size() - 1 - i]);
  return partial.front();
}
