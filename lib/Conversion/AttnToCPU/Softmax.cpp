//===- Softmax.cpp - Online softmax, its passes, and merging --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

/// m where it is finite, else 0: then s - m is -inf, not NaN, for the scores of a row that
/// has seen no key.
Value KernelEmitter::finiteOrZero(Value m) {
  Value zero = isa<VectorType>(m.getType()) ? splat(0.0f) : scalar(0.0f);
  return arith::SelectOp::create(b, equals(m, kMinusInf), zero, m);
}

/// exp((s - m) scale), 0 where s is -inf, whatever the scale.
Value KernelEmitter::probability(Value s, Value finiteMax, Value scale) {
  Value difference = arith::SubFOp::create(b, s, finiteMax);
  Value p = math::ExpOp::create(b, arith::MulFOp::create(b, difference, scale));
  return arith::SelectOp::create(b, equals(s, kMinusInf), splat(0.0f), p);
}

/// out[r] = combine(start[r], lanes of partials[r, :]) for each row r: one vector holds the
/// partial results of a row.
void KernelEmitter::combineLanes(Value partials, int64_t rows, Value start, Value out,
                                 CombineFn combine) {
  forRange(index(0), index(rows), vectorWidth, [&](Value row) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < vectorWidth; ++i)
      vectors.push_back(load(partials, {offset(row, i), index(0)}));
    // Each round halves the number of vectors: one of them then holds, side by side, what
    // two held, with half as many lanes for each row.
    InterleaveMasks masks(vectorWidth);
    while (vectors.size() > 1) {
      size_t half = vectors.size() / 2;
      for (size_t i = 0; i < half; ++i) {
        Value low = vector::ShuffleOp::create(b, vectors[i], vectors[i + half], masks.low);
        Value high = vector::ShuffleOp::create(b, vectors[i], vectors[i + half], masks.high);
        vectors[i] = combine(low, high);
      }
      vectors.resize(half);
    }
    store(combine(vectors.front(), load(start, row)), out, row);
  });
}

/// newMax[r] = max(oldMax[r], max_c scores[r, c])
void KernelEmitter::emitRowMax(const TileBuffer &scores, Value oldMax, Value newMax) {
  Value partials = allocate({padded(scores.rows), vectorWidth});
  callShared("max " + Twine(scores.cols), {scores.memref, oldMax, newMax, partials},
             [&](ValueRange args) {
               emitRowMaxLoops({args[0], scores.rows, scores.cols}, args[1], args[2], args[3]);
             });
}

void KernelEmitter::emitRowMaxLoops(const TileBuffer &scores, Value oldMax, Value newMax,
                                    Value partials) {
  forRows(scores.rows, [&](Value row) {
    Value none = splat(kMinusInf);
    Value best = forColumns(scores.cols, none, [&](Value col, Value lanes, ValueRange carried) {
                   Value s = load(scores.memref, {row, col});
                   if (lanes)
                     s = arith::SelectOp::create(b, lanes, s, none);
                   return SmallVector<Value>{max(s, carried.front())};
                 }).front();
    store(best, partials, {row, index(0)});
  });
  combineLanes(partials, scores.rows, oldMax, newMax, [&](Value x, Value y) { return max(x, y); });
}

/// p[r, c] = exp((scores[r, c] - m[r]) scale) and sum[r] += sum_c p[r, c]; p or sum may be
/// null.
void KernelEmitter::emitProbabilities(const TileBuffer &scores, Value m, Value scale, Value p,
                                      Value sum) {
  SmallVector<Value> operands = {scores.memref, m, scale};
  if (p)
    operands.push_back(p);
  if (sum)
    operands.append({sum, allocate({padded(scores.rows), vectorWidth})});
  callShared(Twine(p ? "probabilities " : "sums ") + Twine(scores.cols), operands,
             [&](ValueRange args) {
               ValueRange sums = args.drop_front(p ? 4 : 3);
               emitProbabilityLoops({args[0], scores.rows, scores.cols}, args[1], args[2],
                                    p ? args[3] : Value(), sum ? sums[0] : Value(),
                                    sum ? sums[1] : Value());
             });
}

void KernelEmitter::emitProbabilityLoops(const TileBuffer &scores, Value m, Value scale, Value p,
                                         Value sum, Value partials) {
  Value factor = splat(scale);
  forRows(scores.rows, [&](Value row) {
    Value rowMax = splat(finiteOrZero(memref::LoadOp::create(b, m, row)));
    Value total =
        forColumns(scores.cols, splat(0.0f), [&](Value col, Value lanes, ValueRange carried) {
          Value x = probability(load(scores.memref, {row, col}), rowMax, factor);
          if (p)
            store(x, p, {row, col});
          if (lanes)
            x = arith::SelectOp::create(b, lanes, x, splat(0.0f));
          return SmallVector<Value>{arith::AddFOp::create(b, carried.front(), x)};
        }).front();
    if (sum)
      store(total, partials, {row, index(0)});
  });
  if (sum)
    combineLanes(partials, scores.rows, sum, sum,
                 [&](Value x, Value y) { return arith::AddFOp::create(b, x, y).getResult(); });
}

LogicalResult KernelEmitter::emitOp(SoftmaxUpdateOp op) {
  SmallVector<TileBuffer, 2> state = buffersOf(op.getState());
  SmallVector<TileBuffer, 2> newState = reuse(op.getStateMutable(), state);
  SmallVector<TileBuffer, 2> scores = buffersOf(op.getScores());
  TileBuffer p = reuse(op.getScoresMutable(), scores).front();
  TileBuffer alpha = allocateFor(op.getAlpha().getType()).front();
  Value scale = mapping.lookupOrDefault(op.getScale());

  // m' = max(m, rowmax(scores)), kept in alpha until m is no longer needed.
  emitRowMax(scores[0], state[0].memref, alpha.memref);
  // alpha = exp((m - m') scale), 1 while both are -inf; l' = alpha l
  Value factor = splat(scale);
  forColumns(state[0].cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
    Value m = load(state[0].memref, col), newMax = load(alpha.memref, col);
    Value a = probability(m, finiteOrZero(newMax), factor);
    a = arith::SelectOp::create(b, equals(newMax, kMinusInf), splat(1.0f), a);
    Value l = load(state[1].memref, col);
    store(newMax, newState[0].memref, col);
    store(arith::MulFOp::create(b, a, l), newState[1].memref, col);
    store(a, alpha.memref, col);
    return {};
  });
  // p = exp((scores - m') scale), l' += rowsum(p)
  emitProbabilities(scores[0], newState[0].memref, scale, p.memref, newState[1].memref);
  bind(op.getNewState(), newState);
  bind(op.getP(), p);
  bind(op.getAlpha(), alpha);
  return success();
}

LogicalResult KernelEmitter::emitOp(SoftmaxMaxOp op) {
  SmallVector<TileBuffer, 2> state = buffersOf(op.getState());
  SmallVector<TileBuffer, 2> newState = reuse(op.getStateMutable(), state);
  emitRowMax(bufferOf(op.getScores()), state[0].memref, newState[0].memref);
  if (newState[1].memref != state[1].memref)
    copy(state[1], newState[1]);
  bind(op.getNewState(), newState);
  return success();
}

LogicalResult KernelEmitter::emitOp(SoftmaxSumOp op) {
  SmallVector<TileBuffer, 2> newState = own(op.getStateMutable());
  emitProbabilities(bufferOf(op.getScores()), newState[0].memref,
                    mapping.lookupOrDefault(op.getScale()), Value(), newState[1].memref);
  bind(op.getNewState(), newState);
  return success();
}

LogicalResult KernelEmitter::emitOp(SoftmaxApplyOp op) {
  SmallVector<TileBuffer, 2> scores = buffersOf(op.getScores());
  TileBuffer p = reuse(op.getScoresMutable(), scores).front();
  emitProbabilities(scores[0], buffersOf(op.getState())[0].memref,
                    mapping.lookupOrDefault(op.getScale()), p.memref, Value());
  bind(op.getP(), p);
  return success();
}

/// x + y as (sum, what its rounding left out), also where the sum is infinite: then 0.
/// (The sum of two numbers is exact in two parts: Knuth, The Art of Computer Programming 2.)
std::pair<Value, Value> KernelEmitter::twoSum(Value x, Value y) {
  auto add = [&](Value a, Value c) -> Value { return arith::AddFOp::create(b, a, c); };
  auto sub = [&](Value a, Value c) -> Value { return arith::SubFOp::create(b, a, c); };
  Value sum = add(x, y), fromY = sub(sum, x);
  Value tail = add(sub(x, sub(sum, fromY)), sub(y, fromY));
  Value isFinite = equals(sub(sum, sum), 0.0f);
  return {sum, arith::SelectOp::create(b, isFinite, tail, splat(0.0f))};
}

LogicalResult KernelEmitter::emitOp(FinalizeOp op) {
  SmallVector<TileBuffer, 2> acc = buffersOf(op.getAcc());
  SmallVector<TileBuffer, 2> state = buffersOf(op.getState());
  TileBuffer out = reuse(op.getAccMutable(), acc).front();
  TileBuffer lse = allocateFor(op.getLse().getType()).front(), tail;
  if (op.getLseTail())
    tail = allocateFor(op.getLseTail().getType()).front();
  Value scale = splat(mapping.lookupOrDefault(op.getScale()));

  // lse = m scale + ln(l), -inf for rows without keys
  forColumns(lse.cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
    Value m = load(state[0].memref, col), l = load(state[1].memref, col);
    Value scaled = arith::MulFOp::create(b, m, scale);
    Value isEmpty = equals(l, 0.0f);
    auto [sum, rest] = twoSum(scaled, math::LogOp::create(b, l));
    store(arith::SelectOp::create(b, isEmpty, splat(kMinusInf), sum), lse.memref, col);
    if (!tail.memref)
      return {};
    // What the product's rounding left out belongs to the tail too.
    Value error = math::FmaOp::create(b, m, scale, arith::NegFOp::create(b, scaled));
    Value isFinite = equals(arith::SubFOp::create(b, error, error), 0.0f);
    error = arith::SelectOp::create(b, isFinite, error, splat(0.0f));
    rest = arith::AddFOp::create(b, rest, error);
    store(arith::SelectOp::create(b, isEmpty, splat(0.0f), rest), tail.memref, col);
    return {};
  });
  // out = acc / l, 0 for rows without keys
  forRows(out.rows, [&](Value row) {
    Value l = memref::LoadOp::create(b, state[1].memref, row);
    Value isEmpty = equals(l, 0.0f), divisor = splat(l);
    forColumns(out.cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
      Value quotient = arith::DivFOp::create(b, load(acc[0].memref, {row, col}), divisor);
      quotient = arith::SelectOp::create(b, isEmpty, splat(0.0f), quotient);
      store(quotient, out.memref, {row, col});
      return {};
    });
  });
  bind(op.getOut(), out);
  bind(op.getLse(), lse);
  if (tail.memref)
    bind(op.getLseTail(), tail);
  return success();
}

LogicalResult KernelEmitter::emitOp(MergeOp op) {
  SmallVector<TileBuffer, 2> oA = buffersOf(op.getOA()), oB = buffersOf(op.getOB());
  SmallVector<TileBuffer, 2> lseA = buffersOf(op.getLseA()), lseB = buffersOf(op.getLseB());
  TileBuffer o = reuse(op.getOAMutable(), oA).front();
  TileBuffer lse = reuse(op.getLseAMutable(), lseA).front();
  TileBuffer tailA, tailB, tail;
  if (op.getTail()) {
    SmallVector<TileBuffer, 2> buffers = buffersOf(op.getTails()[0]);
    tailA = buffers.front();
    tailB = bufferOf(op.getTails()[1]);
    tail = reuse(op.getTailsMutable()[0], buffers).front();
  }
  Value weightsA = allocate(padded(lse.cols)), weightsB = allocate(padded(lse.cols));

  // w_x = exp(lse_x - m) / sum, lse = m + ln(sum), m the larger lse; an empty side has weight
  // 0 and the other one's lse is returned as it is.
  forColumns(lse.cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
    auto select = [&](Value condition, Value yes, Value no) -> Value {
      return arith::SelectOp::create(b, condition, yes, no);
    };
    Value a = load(lseA[0].memref, col), c = load(lseB[0].memref, col);
    Value zero = splat(0.0f), one = splat(1.0f);
    Value restA = tail.memref ? load(tailA.memref, col) : zero;
    Value restB = tail.memref ? load(tailB.memref, col) : zero;
    Value isEmptyA = equals(a, kMinusInf), isEmptyB = equals(c, kMinusInf);
    // The tails count where the difference of the f32 parts is small, which then is exact.
    Value difference = arith::AddFOp::create(b, arith::SubFOp::create(b, a, c),
                                             arith::SubFOp::create(b, restA, restB));
    auto isBelow = [&](Value x, Value y) -> Value {
      return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
    };
    Value isLowA = isBelow(difference, zero), isLowB = isBelow(zero, difference);
    Value expA = math::ExpOp::create(b, select(isLowA, difference, zero));
    Value expB = math::ExpOp::create(b, select(isLowB, arith::NegFOp::create(b, difference), zero));
    expA = select(isEmptyA, zero, expA);
    expB = select(isEmptyB, zero, expB);
    Value sum = arith::AddFOp::create(b, expA, expB);
    Value grown =
        arith::AddFOp::create(b, math::LogOp::create(b, sum), select(isLowA, restB, restA));
    auto [merged, rest] = twoSum(select(isLowA, c, a), grown);
    store(select(isEmptyA, c, select(isEmptyB, a, merged)), lse.memref, col);
    if (tail.memref)
      store(select(isEmptyA, restB, select(isEmptyB, restA, rest)), tail.memref, col);
    Value isSum = equals(sum, 0.0f);
    Value divisor = arith::SelectOp::create(b, isSum, one, sum);
    store(arith::DivFOp::create(b, expA, divisor), weightsA, col);
    store(arith::DivFOp::create(b, expB, divisor), weightsB, col);
    return {};
  });
  // o = w_a o_a + w_b o_b; a side of weight 0 leaves the other one bit for bit. Two products
  // and a sum, so that exchanging the sides changes nothing.
  forRows(o.rows, [&](Value row) {
    Value a = memref::LoadOp::create(b, weightsA, row);
    Value c = memref::LoadOp::create(b, weightsB, row);
    Value onlyA = equals(c, 0.0f), onlyB = equals(a, 0.0f);
    Value factorA = splat(a), factorB = splat(c);
    forColumns(o.cols, {}, [&](Value col, Value, ValueRange) -> SmallVector<Value> {
      Value x = load(oA[0].memref, {row, col}), y = load(oB[0].memref, {row, col});
      Value sum = arith::AddFOp::create(b, arith::MulFOp::create(b, factorA, x),
                                        arith::MulFOp::create(b, factorB, y));
      sum = arith::SelectOp::create(b, onlyA, x, sum);
      sum = arith::SelectOp::create(b, onlyB, y, sum);
      store(sum, o.memref, {row, col});
      return {};
    });
  });
  bind(op.getO(), o);
  bind(op.getLse(), lse);
  if (tail.memref)
    bind(op.getTail(), tail);
  return success();
}
