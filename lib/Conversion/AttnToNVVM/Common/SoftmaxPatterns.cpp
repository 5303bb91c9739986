//===- SoftmaxPatterns.cpp - Softmax on mma fragments ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of an accumulator is spread over the four lanes of a quad. The sum l stays a
// partial sum of each lane until the end, because all lanes scale it by the same factors.
//
//===----------------------------------------------------------------------===//

#include "SoftmaxState.h"

using namespace mlir;
using namespace attn;

/// p = exp((s - m) scale) for one row; returns the thread's sum of p.
static Value rowExp(ThreadBuilder &t, const FragmentMap &map, RowExp &exp, ValueRange scores,
                    unsigned row, Value shift, SmallVectorImpl<Value> &p) {
  SmallVector<Value> sums;
  unsigned visited = 0;
  forEachInRow(map, row, [&](unsigned i) {
    p[i] = exp(scores[i], shift);
    if (sums.size() < exp.style.chains)
      sums.push_back(p[i]);
    else
      sums[visited % sums.size()] = t.fadd(sums[visited % sums.size()], p[i]);
    ++visited;
  });
  return combineChains(1, sums, [&](Value a, Value b) { return t.fadd(a, b); });
}

/// p of all scores. Adds each row's sum of p to l.
static SmallVector<Value> addExponentials(ThreadBuilder &t, const FragmentMap &map, RowExp &exp,
                                          ValueRange scores, SoftmaxState &state) {
  SmallVector<Value> p(map.numRegisters());
  for (auto [row, l] : llvm::enumerate(state.l))
    l = t.fadd(l, rowExp(t, map, exp, scores, row, state.shift[row], p));
  return p;
}

/// Makes scores relative to references that no longer move, and sets the shifts.
static SmallVector<Value> relativeScores(ThreadBuilder &t, const FragmentMap &map, RowExp &exp,
                                         ValueRange scores, SoftmaxState &state) {
  SmallVector<Value> relative(scores);
  for (auto [row, m] : llvm::enumerate(state.m)) {
    RowReference reference(t, exp, recallReference(t, m, exp.style));
    subtractBase(t, map, row, reference.base, relative);
    state.shift[row] = reference.shift;
  }
  return relative;
}

namespace {

struct LowerSoftmaxInit : TileOpPattern<SoftmaxInitOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftmaxInitOp op, Adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    unsigned rows = FragmentMap(op.getResult().getType()).numRows();
    SmallVector<Value> state(rows, t.negInf());
    state.append((kStateValues - 1) * rows, t.f32(0));
    rewriter.replaceOpWithMultiple(op, {state});
    return success();
  }
};

struct LowerSoftmaxUpdate : StyledPattern<SoftmaxUpdateOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(SoftmaxUpdateOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()), style);
    RowMove move = moveReferences(t, map, exp, adaptor.getScores(), state);
    state.take(move);
    SmallVector<Value> p = addExponentials(t, map, exp, move.scores, state);
    rewriter.replaceOpWithMultiple(op, {state.flatten(), p, move.alpha});
    return success();
  }
};

struct LowerSoftmaxRebase : StyledPattern<SoftmaxRebaseOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(SoftmaxRebaseOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()), style);
    RowMove move = moveReferences(t, map, exp, adaptor.getScores(), state);
    state.take(move);
    rewriter.replaceOpWithMultiple(op, {state.flatten(), move.scores, move.alpha});
    return success();
  }
};

struct LowerSoftmaxAdd : StyledPattern<SoftmaxAddOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(SoftmaxAddOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()), style);
    SmallVector<Value> p = addExponentials(t, map, exp, adaptor.getScores(), state);
    rewriter.replaceOpWithMultiple(op, {state.flatten(), p});
    return success();
  }
};

struct LowerSoftmaxMax : TileOpPattern<SoftmaxMaxOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftmaxMaxOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    for (unsigned row = 0; row < map.numRows(); ++row)
      state.m[row] = rowMax(t, map, adaptor.getScores(), row, state.m[row]);
    rewriter.replaceOpWithMultiple(op, {state.flatten()});
    return success();
  }
};

struct LowerSoftmaxSum : StyledPattern<SoftmaxSumOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(SoftmaxSumOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()), style);
    SmallVector<Value> scores = relativeScores(t, map, exp, adaptor.getScores(), state);
    addExponentials(t, map, exp, scores, state);
    rewriter.replaceOpWithMultiple(op, {state.flatten()});
    return success();
  }
};

struct LowerSoftmaxApply : StyledPattern<SoftmaxApplyOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(SoftmaxApplyOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()), style);
    SmallVector<Value> scores = relativeScores(t, map, exp, adaptor.getScores(), state);
    rewriter.replaceOpWithMultiple(op, {addExponentials(t, map, exp, scores, state)});
    return success();
  }
};

} // namespace

void attn::populateSoftmaxPatterns(TypeConverter &converter, RewritePatternSet &patterns,
                                   const SoftmaxStyle &style) {
  patterns.add<LowerSoftmaxUpdate, LowerSoftmaxRebase, LowerSoftmaxAdd, LowerSoftmaxSum,
               LowerSoftmaxApply>(converter, patterns.getContext(), style);
  patterns.add<LowerSoftmaxInit, LowerSoftmaxMax>(converter, patterns.getContext());
}
