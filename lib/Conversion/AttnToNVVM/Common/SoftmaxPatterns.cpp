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

#include "Patterns.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace attn;

namespace {

/// m and l of a softmax state, one value for each row of the thread.
struct State {
  explicit State(ValueRange values)
      : m(values.take_front(values.size() / 2)), l(values.drop_front(values.size() / 2)) {}
  SmallVector<Value> m, l;
  SmallVector<Value> flatten() const {
    SmallVector<Value> values(m);
    values.append(l);
    return values;
  }
};

/// Exponentials of one softmax row set: exp((s - m) scale) as 2^(s c - m c), c = scale log2(e).
class RowExp {
public:
  RowExp(ThreadBuilder &t, Value scale, const SoftmaxStyle &style = {}) : style(style), t(t) {
    // Not 0 even for scale = 0, which would turn masked scores (-inf c) into NaN.
    c = t.fmax(t.fmul(scale, t.f32(std::numbers::log2e)), t.f32(1e-37));
  }

  /// Fixes the reference m of a row: -m c, with 0 in place of a maximum of -inf so that
  /// masked scores give 2^-inf = 0 rather than NaN.
  Value negatedReference(Value m) {
    if (style.finiteReference)
      return t.fmul(t.fsub(t.f32(0), m), c);
    Value reference = t.select(t.fequal(m, t.negInf()), t.f32(0), m);
    return t.fmul(t.fsub(t.f32(0), reference), c);
  }
  Value operator()(Value s, Value negatedReference) {
    return t.exp2(t.fma(s, c, negatedReference));
  }

  /// exp((from - to) scale), 1 if both are equal and finite.
  Value factor(Value from, Value to) {
    if (style.finiteReference)
      return t.exp2(t.fsub(t.fmul(from, c), t.fmul(to, c)));
    return (*this)(from, negatedReference(to));
  }
  /// The least finite reference: scores so far below others that their exponentials are 0.
  Value leastReference() {
    Value inverse = LLVM::FDivOp::create(t.b, t.loc, t.f32(1), c);
    Value bounded =
        LLVM::MinNumOp::create(t.b, t.loc, inverse, t.f32(1), LLVM::FastmathFlags::none);
    return t.fmul(bounded, t.f32(-1e38));
  }

  /// scale log2(e)
  Value c;
  const SoftmaxStyle style;

private:
  ThreadBuilder &t;
};

} // namespace

static Value quadReduce(ThreadBuilder &t, Value value,
                        llvm::function_ref<Value(Value, Value)> combine) {
  value = combine(value, t.shuffleXor(value, 1));
  return combine(value, t.shuffleXor(value, 2));
}

/// Visits the accumulator registers of the thread's row `row`.
static void forEachInRow(const FragmentMap &map, unsigned row,
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

namespace {

struct LowerFill : TileOpPattern<FillOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(FillOp op, Adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getResult().getType());
    Value value = t.f32(op.getValue().convertToFloat());
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(map.numRegisters(), value)});
    return success();
  }
};

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
    State state(adaptor.getState());
    ValueRange scores = adaptor.getScores();
    RowExp exp(t, single(adaptor.getScale()), style);
    Move move = rebase(t, map, exp, scores, state.m);
    SmallVector<Value> p(map.numRegisters());
    for (unsigned row = 0; row < map.numRows(); ++row) {
      // p = exp((s - m') scale), l' = alpha l + rowsum p
      Value sum = rowExp(t, map, exp, scores, row, exp.negatedReference(move.m[row]), p);
      state.l[row] = t.fma(state.l[row], move.alphas[row], sum);
    }
    state.m = move.m;
    rewriter.replaceOpWithMultiple(op, {state.flatten(), p, move.alphas});
    return success();
  }
};

struct LowerSoftmaxRebase : StyledPattern<SoftmaxRebaseOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(SoftmaxRebaseOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    State state(adaptor.getState());
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
    State state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()), style);
    SmallVector<Value> p(map.numRegisters());
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value sum =
          rowExp(t, map, exp, adaptor.getScores(), row, exp.negatedReference(state.m[row]), p);
      state.l[row] = t.fadd(state.l[row], sum);
    }
    rewriter.replaceOpWithMultiple(op, {state.flatten(), p});
    return success();
  }
};

struct LowerSoftmaxMax : TileOpPattern<SoftmaxMaxOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftmaxMaxOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    State state(adaptor.getState());
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
    State state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()));
    SmallVector<Value> p(map.numRegisters());
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value sum =
          rowExp(t, map, exp, adaptor.getScores(), row, exp.negatedReference(state.m[row]), p);
      state.l[row] = t.fadd(state.l[row], sum);
    }
    rewriter.replaceOpWithMultiple(op, {state.flatten()});
    return success();
  }
};

struct LowerSoftmaxApply : TileOpPattern<SoftmaxApplyOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftmaxApplyOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    State state(adaptor.getState());
    RowExp exp(t, single(adaptor.getScale()));
    SmallVector<Value> p(map.numRegisters());
    for (unsigned row = 0; row < map.numRows(); ++row)
      rowExp(t, map, exp, adaptor.getScores(), row, exp.negatedReference(state.m[row]), p);
    rewriter.replaceOpWithMultiple(op, {p});
    return success();
  }
};

/// Most steps have no factor but 1: then the accumulators are not touched.
struct LowerRescale : TileOpPattern<RescaleOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(RescaleOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getTile().getType());
    ValueRange tile = adaptor.getTile(), factors = adaptor.getFactors();
    Value needed;
    for (Value factor : factors) {
      Value changes =
          arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::UNE, factor, t.f32(1));
      needed = needed ? arith::OrIOp::create(t.b, t.loc, needed, changes).getResult() : changes;
    }
    auto ifOp = scf::IfOp::create(t.b, t.loc, tile.getTypes(), t.any(needed),
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(ifOp.thenBlock());
    SmallVector<Value> scaled(tile);
    for (unsigned row = 0; row < map.numRows(); ++row)
      forEachInRow(map, row, [&](unsigned i) { scaled[i] = t.fmul(scaled[i], factors[row]); });
    scf::YieldOp::create(t.b, t.loc, scaled);
    t.b.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(t.b, t.loc, tile);
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(ifOp.getResults())});
    return success();
  }
};

/// Accumulators to operand a: the pairs of 8-column blocks 2k and 2k + 1 are the four
/// registers of 16-column block k.
struct LowerConvert : TileOpPattern<ConvertOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(ConvertOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap from(op.getTile().getType()), to(op.getResult().getType());
    if (from.role != FragmentRole::Acc || to.role != FragmentRole::A)
      return rewriter.notifyMatchFailure(op, "expected accumulators to operand a");
    ValueRange values = adaptor.getTile();
    Type elementType = op.getResult().getType().getElementType();
    SmallVector<Value> packed;
    for (unsigned rowBlock = 0; rowBlock < to.rowBlocks; ++rowBlock)
      for (unsigned block = 0; block < to.colBlocks; ++block)
        for (unsigned half = 0; half < 2; ++half)
          for (unsigned pair = 0; pair < 2; ++pair) {
            unsigned i = from.index(rowBlock, 2 * block + half, 2 * pair);
            packed.push_back(t.pack16(values[i], values[i + 1], elementType));
          }
    rewriter.replaceOpWithMultiple(op, {packed});
    return success();
  }
};

} // namespace

/// 1 / l, or 0 for a row that saw no key.
static Value inverseSum(ThreadBuilder &t, Value l) {
  Value zero = t.f32(0);
  Value inverse = LLVM::FDivOp::create(t.b, t.loc, t.f32(1), l);
  return t.select(t.fequal(l, zero), zero, inverse);
}

/// LSE = m scale + ln(l), -inf for a row that saw no key.
static Value logSumExp(ThreadBuilder &t, Value m, Value l, Value scale) {
  Value lse = t.fma(m, scale, t.fmul(t.log2(l), t.f32(std::numbers::ln2)));
  return t.select(t.fequal(l, t.f32(0)), t.negInf(), lse);
}

namespace {

/// LSEs of a thread's rows, with tails where they are asked for.
struct RowLse {
  bool hasTail;
  SmallVector<Value> lse = {}, tail = {};

  void push(ThreadBuilder &t, Value m, Value l, Value scale) {
    if (!hasTail) {
      lse.push_back(logSumExp(t, m, l, scale));
      return;
    }
    Value product = t.fmul(m, scale), zero = t.f32(0);
    Value error = t.fma(m, scale, t.fsub(zero, product));
    error = t.select(t.fequal(t.fsub(error, error), zero), error, zero);
    auto [sum, rest] = t.twoSum(product, t.fmul(t.log2(l), t.f32(std::numbers::ln2)));
    Value isEmpty = t.fequal(l, zero);
    lse.push_back(t.select(isEmpty, t.negInf(), sum));
    tail.push_back(t.select(isEmpty, zero, t.fadd(rest, error)));
  }

  /// The results of an op: `out`, the LSEs and, where asked for, the tails.
  SmallVector<SmallVector<Value>> results(SmallVector<Value> out) const {
    SmallVector<SmallVector<Value>> values = {std::move(out), lse};
    if (hasTail)
      values.push_back(tail);
    return values;
  }
};

struct LowerFinalize : TileOpPattern<FinalizeOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(FinalizeOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getAcc().getType());
    State state(adaptor.getState());
    Value scale = single(adaptor.getScale());
    for (Value &l : state.l)
      l = quadReduce(t, l, [&](Value a, Value b) { return t.fadd(a, b); });
    if (map.split == FragmentSplit::Partial)
      return mergeWarps(op, adaptor, map, state, scale, t, rewriter);

    SmallVector<Value> out(adaptor.getAcc());
    RowLse rows{static_cast<bool>(op.getLseTail())};
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value inverse = inverseSum(t, state.l[row]);
      forEachInRow(map, row, [&](unsigned i) { out[i] = t.fmul(out[i], inverse); });
      rows.push(t, state.m[row], state.l[row], scale);
    }
    rewriter.replaceOpWithMultiple(op, rows.results(out));
    return success();
  }

  /// Warps that split the keys each hold (m, l, O) of all rows. Through shared memory:
  /// M = max m_w, f_w = exp(m_w - M), L = sum f_w l_w, O = sum f_w O_w / L; each warp keeps its
  /// share of the columns.
  LogicalResult mergeWarps(FinalizeOp op, Adaptor adaptor, const FragmentMap &map, State &state,
                           Value scale, ThreadBuilder &t,
                           ConversionPatternRewriter &rewriter) const {
    int64_t rows = map.warpRows, cols = map.warpCols;
    int64_t statsOffset = llvm::alignTo(rows * cols * 4, 1024);
    auto symbol = SymbolRefAttr::get(t.b.getContext(), kSharedMemorySymbol);
    Value base =
        LLVM::AddressOfOp::create(t.b, t.loc, t.sharedPtrType(), symbol.getRootReference());
    Type f32 = t.b.getF32Type();
    auto statPointer = [&](Value warp, Value row, int64_t which) {
      Value slot = t.add(t.mul(t.add(t.mul(warp, rows), row), 2), which);
      return t.offset(base, t.add(t.mul(slot, 4), statsOffset));
    };

    // Pipes are no longer read after this barrier: their memory is free.
    t.barrier();
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value tileRow = map.tileRow(t, row);
      t.store(state.m[row], statPointer(t.warp(), tileRow, 0), 4);
      t.store(state.l[row], statPointer(t.warp(), tileRow, 1), 4);
    }
    t.barrier();

    RowExp exp(t, scale);
    SmallVector<Value> out(adaptor.getAcc());
    RowLse rowLse{static_cast<bool>(op.getLseTail())};
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value tileRow = map.tileRow(t, row);
      SmallVector<Value> m, l;
      Value largest;
      for (int64_t w = 0; w < map.warps; ++w) {
        m.push_back(t.load(f32, statPointer(t.i32(w), tileRow, 0), 4));
        l.push_back(t.load(f32, statPointer(t.i32(w), tileRow, 1), 4));
        largest = largest ? t.fmax(largest, m.back()) : m.back();
      }
      Value negated = exp.negatedReference(largest);
      Value total = t.f32(0);
      for (int64_t w = 0; w < map.warps; ++w)
        total = t.fma(exp(m[w], negated), l[w], total);
      Value factor = t.fmul(exp(state.m[row], negated), inverseSum(t, total));
      forEachInRow(map, row, [&](unsigned i) { out[i] = t.fmul(out[i], factor); });
      rowLse.push(t, largest, total, scale);
    }

    // O = sum over warps, in warp order so that the result is the same in every run.
    auto pointerTo = [&](const FragmentMap &m, unsigned row, unsigned colBlock, unsigned e) {
      Value element = t.add(t.mul(m.tileRow(t, row), cols), m.tileCol(t, colBlock, e));
      return t.offset(base, t.mul(element, 4));
    };
    for (int64_t w = 0; w < map.warps; ++w) {
      t.emitIf(t.equal(t.warp(), t.i32(w)), [&] {
        map.forEachElement([&](unsigned row, unsigned colBlock, unsigned e, unsigned i) {
          Value pointer = pointerTo(map, row, colBlock, e);
          Value sum = w == 0 ? out[i] : t.fadd(t.load(f32, pointer, 4), out[i]);
          t.store(sum, pointer, 4);
        });
      });
      t.barrier();
    }
    FragmentMap result(op.getOut().getType());
    SmallVector<Value> share(result.numRegisters());
    result.forEachElement([&](unsigned row, unsigned colBlock, unsigned e, unsigned i) {
      share[i] = t.load(f32, pointerTo(result, row, colBlock, e), 4);
    });
    rewriter.replaceOpWithMultiple(op, rowLse.results(share));
    return success();
  }
};

} // namespace

void attn::populateSoftmaxPatterns(TypeConverter &converter, RewritePatternSet &patterns,
                                   const SoftmaxStyle &style) {
  patterns.add<LowerSoftmaxUpdate, LowerSoftmaxRebase, LowerSoftmaxAdd>(
      converter, patterns.getContext(), style);
  patterns.add<LowerFill, LowerSoftmaxInit, LowerSoftmaxMax, LowerSoftmaxSum, LowerSoftmaxApply,
               LowerRescale, LowerConvert, LowerFinalize>(converter, patterns.getContext());
}
