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
// m need not be the maximum: any reference m gives the same O / l and m scale + ln(l), as
// long as exp((s - m) scale) neither overflows nor vanishes. So the reference of a warp's
// rows stays while no score exceeds it by more than 8 powers of two; then no lane needs
// the others' maxima and no output is rescaled. When one does, all of the warp's rows
// move to their exact maxima.
//
//===----------------------------------------------------------------------===//

#include "SoftmaxState.h"

#include <limits>

using namespace mlir;
using namespace attn;

Value attn::quadReduce(ThreadBuilder &t, Value value,
                       llvm::function_ref<Value(Value, Value)> combine) {
  value = combine(value, t.shuffleXor(value, 1));
  return combine(value, t.shuffleXor(value, 2));
}

void attn::forEachInRow(const FragmentMap &map, unsigned row,
                        llvm::function_ref<void(unsigned)> visit) {
  for (unsigned colBlock = 0; colBlock < map.colBlocks; ++colBlock)
    for (unsigned e = 0; e < 2; ++e)
      visit(map.index(row / 2, colBlock, 2 * (row % 2) + e));
}

/// The largest of the thread's own scores of a row.
static Value threadRowMax(ThreadBuilder &t, const FragmentMap &map, ValueRange scores,
                          unsigned row) {
  Value largest;
  forEachInRow(map, row,
               [&](unsigned i) { largest = largest ? t.fmax(largest, scores[i]) : scores[i]; });
  return largest;
}

/// max(m, maximum over the quad)
static Value quadMax(ThreadBuilder &t, Value threadMax, Value m) {
  return t.fmax(m, quadReduce(t, threadMax, [&](Value a, Value b) { return t.fmax(a, b); }));
}

/// Combines values in `chains` chains that do not wait for each other, then those.
static Value combineChains(unsigned chains, ArrayRef<Value> values,
                           llvm::function_ref<Value(Value, Value)> combine) {
  SmallVector<Value> partial(values.take_front(std::min<size_t>(chains, values.size())));
  for (auto [i, value] : llvm::enumerate(values.drop_front(partial.size())))
    partial[i % chains] = combine(partial[i % chains], value);
  for (; partial.size() > 1; partial.resize((partial.size() + 1) / 2))
    for (size_t i = 0, half = partial.size() / 2; i < half; ++i)
      partial[i] = combine(partial[i], partial[partial.size() - 1 - i]);
  return partial.front();
}

/// p = exp((s - m) scale) for one row; returns the thread's sum of p.
static Value rowExp(ThreadBuilder &t, const FragmentMap &map, RowExp &exp, ValueRange scores,
                    unsigned row, Value negatedReference, SmallVectorImpl<Value> &p) {
  SmallVector<Value> sums;
  unsigned visited = 0;
  forEachInRow(map, row, [&](unsigned i) {
    p[i] = exp(scores[i], negatedReference);
    if (sums.size() < exp.style.chains)
      sums.push_back(p[i]);
    else
      sums[visited % sums.size()] = t.fadd(sums[visited % sums.size()], p[i]);
    ++visited;
  });
  return combineChains(1, sums, [&](Value a, Value b) { return t.fadd(a, b); });
}

/// p of all scores. Adds each row's sum of p to l, times alpha where the references moved.
static SmallVector<Value> addExponentials(ThreadBuilder &t, const FragmentMap &map, RowExp &exp,
                                          ValueRange scores, SoftmaxState &state,
                                          ValueRange alphas = {}) {
  SmallVector<Value> p(map.numRegisters());
  for (auto [row, l] : llvm::enumerate(state.l)) {
    Value sum = rowExp(t, map, exp, scores, row, exp.negatedReference(state.m[row]), p);
    l = alphas.empty() ? t.fadd(l, sum) : t.fma(l, alphas[row], sum);
  }
  return p;
}

namespace {

struct LowerSoftmaxInit : TileOpPattern<SoftmaxInitOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftmaxInitOp op, Adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    unsigned rows = FragmentMap(op.getResult().getType()).numRows();
    SmallVector<Value> state(rows, t.negInf());
    state.append(rows, t.f32(0));
    rewriter.replaceOpWithMultiple(op, {state});
    return success();
  }
};

/// Powers of two by which a score may exceed its row's reference: p <= 2^8 is exact enough
/// in f16 and bf16, and sums of it stay far from f32's limits.
constexpr double kHeadroom = 8;

/// What a step does to the references of its rows.
struct Move {
  SmallVector<Value> m, alphas;
};

} // namespace

/// The thread's largest score of a row as an integer: that of its bits, which orders floats
/// that are not negative. Three of them are compared in one instruction.
static Value threadRowMaxBits(ThreadBuilder &t, const FragmentMap &map, ValueRange scores,
                              unsigned row) {
  SmallVector<Value> bits;
  forEachInRow(map, row, [&](unsigned i) {
    bits.push_back(arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), scores[i]));
  });
  auto max = [&](Value a, Value b) -> Value { return arith::MaxSIOp::create(t.b, t.loc, a, b); };
  // More chains than two keep the assembler from pairing comparisons.
  return combineChains(2, bits, max);
}

/// (max s - m) c > 8: true for m = -inf, except that without `finiteReference` it is false
/// while both are -inf.
static Value exceedsReference(ThreadBuilder &t, RowExp &exp, Value threadMax, Value m) {
  Value excess = t.fmul(t.fsub(threadMax, m), exp.c);
  if (exp.style.finiteReference)
    return arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::UGT, excess, t.f32(kHeadroom));
  return t.fgreater(excess, t.f32(kHeadroom));
}

/// The same asked of bits. They order floats that are not negative and put those above all
/// that are: enough to compare with a limit that is not negative. For any other limit the answer
/// is yes, which costs time, not accuracy.
static Value bitsExceedReference(ThreadBuilder &t, RowExp &exp, Value threadMaxBits, Value m) {
  Value headroom = LLVM::FDivOp::create(t.b, t.loc, t.f32(kHeadroom), exp.c);
  Value limit = arith::BitcastOp::create(t.b, t.loc, t.b.getI32Type(), t.fadd(m, headroom));
  Value lowest = t.i32(std::numeric_limits<int32_t>::min());
  limit = t.select(t.lessThan(limit, t.i32(0)), lowest, limit);
  return arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::sge, threadMaxBits, limit);
}

/// if any lane's scores exceed a reference: m' = max(m, rowmax S), alpha = exp((m - m') scale);
/// else m' = m, alpha = 1.
static Move rebase(ThreadBuilder &t, const FragmentMap &map, RowExp &exp, ValueRange scores,
                   ValueRange m) {
  unsigned rows = m.size();
  bool byBits = exp.style.integerMax;
  SmallVector<Value> threadMax;
  Value moves;
  for (unsigned row = 0; row < rows; ++row) {
    Value exceeds;
    if (byBits) {
      Value bits = threadRowMaxBits(t, map, scores, row);
      exceeds = bitsExceedReference(t, exp, bits, m[row]);
    } else {
      threadMax.push_back(threadRowMax(t, map, scores, row));
      exceeds = exceedsReference(t, exp, threadMax[row], m[row]);
    }
    moves = moves ? arith::OrIOp::create(t.b, t.loc, moves, exceeds).getResult() : exceeds;
  }
  SmallVector<Type> types(2 * rows, t.b.getF32Type());
  auto ifOp = scf::IfOp::create(t.b, t.loc, types, t.any(moves), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(ifOp.thenBlock());
  SmallVector<Value> moved, factors, kept(m);
  for (unsigned row = 0; row < rows; ++row) {
    Value own = byBits ? threadRowMax(t, map, scores, row) : threadMax[row];
    Value largest = quadMax(t, own, m[row]);
    if (exp.style.finiteReference)
      largest = t.fmax(largest, exp.leastReference());
    moved.push_back(largest);
    factors.push_back(exp.factor(m[row], largest));
  }
  moved.append(factors);
  scf::YieldOp::create(t.b, t.loc, moved);
  t.b.setInsertionPointToStart(ifOp.elseBlock());
  kept.append(rows, t.f32(1));
  scf::YieldOp::create(t.b, t.loc, kept);
  return {SmallVector<Value>(ifOp.getResults().take_front(rows)),
          SmallVector<Value>(ifOp.getResults().drop_front(rows))};
}

/// A pattern over a softmax step that may be computed in any style.
template <typename OpTy> struct StyledPattern : TileOpPattern<OpTy> {
  StyledPattern(const TypeConverter &converter, MLIRContext *context, const SoftmaxStyle &style)
      : TileOpPattern<OpTy>(converter, context), style(style) {}
  SoftmaxStyle style;
};

namespace {

struct LowerSoftmaxUpdate : StyledPattern<SoftmaxUpdateOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(SoftmaxUpdateOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    ValueRange scores = adaptor.getScores();
    RowExp exp(t, single(adaptor.getScale()), style);
    Move move = rebase(t, map, exp, scores, state.m);
    state.m = move.m;
    SmallVector<Value> p = addExponentials(t, map, exp, scores, state, move.alphas);
    rewriter.replaceOpWithMultiple(op, {state.flatten(), p, move.alphas});
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
    Move move = rebase(t, map, exp, adaptor.getScores(), state.m);
    for (unsigned row = 0; row < map.numRows(); ++row)
      state.l[row] = t.fmul(state.l[row], move.alphas[row]);
    state.m = move.m;
    rewriter.replaceOpWithMultiple(op, {state.flatten(), move.alphas});
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
      state.m[row] = quadMax(t, threadRowMax(t, map, adaptor.getScores(), row), state.m[row]);
    rewriter.replaceOpWithMultiple(op, {state.flatten()});
    return success();
  }
};

struct LowerSoftmaxSum : TileOpPattern<SoftmaxSumOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftmaxSumOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()));
    addExponentials(t, map, exp, adaptor.getScores(), state);
    rewriter.replaceOpWithMultiple(op, {state.flatten()});
    return success();
  }
};

struct LowerSoftmaxApply : TileOpPattern<SoftmaxApplyOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftmaxApplyOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SoftmaxState state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()));
    rewriter.replaceOpWithMultiple(op, {addExponentials(t, map, exp, adaptor.getScores(), state)});
    return success();
  }
};

} // namespace

void attn::populateSoftmaxPatterns(TypeConverter &converter, RewritePatternSet &patterns,
                                   const SoftmaxStyle &style) {
  patterns.add<LowerSoftmaxUpdate, LowerSoftmaxRebase, LowerSoftmaxAdd>(
      converter, patterns.getContext(), style);
  patterns.add<LowerSoftmaxInit, LowerSoftmaxMax, LowerSoftmaxSum, LowerSoftmaxApply>(
      converter, patterns.getContext());
}
