//===- SoftmaxMove.cpp - Moving the references of rows --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m need not be the maximum: any reference m gives the same O / l and m scale + ln(l), as
// long as exp((s - m) scale) neither overflows nor vanishes. So, with lazy rescaling, the
// references of a warp's rows stay while no score exceeds one by more than 8 powers of two; then
// no lane needs the others' maxima and no output is rescaled. When one does, all of the
// warp's rows move to their exact maxima.
//
// A far row (SoftmaxState.h) moves in every step, since only a move subtracts m from its
// scores. The test that every step makes sees to that for free: of the lanes that share the
// row the odd ones hold m = -inf, which every score exceeds, and learn m from their
// neighbours. The same holds for a row without keys so far: in a step without a move every
// reference is finite.
//
//===----------------------------------------------------------------------===//

#include "SoftmaxState.h"

#include <limits>

using namespace mlir;
using namespace attn;

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

Value attn::rowMax(ThreadBuilder &t, const FragmentMap &map, ValueRange scores, unsigned row,
                   Value m) {
  return quadMax(t, threadRowMax(t, map, scores, row), m);
}

//===----------------------------------------------------------------------===//
// Whether a reference has to move
//===----------------------------------------------------------------------===//

/// Powers of two by which a score may exceed its row's reference: p <= 2^8 is exact enough
/// in f16 and bf16, and sums of it stay far from f32's limits.
constexpr double kHeadroom = 8;

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

/// (max s - m) c > 8, true for m = -inf.
static Value exceedsReference(ThreadBuilder &t, RowExp &exp, Value threadMax, Value m) {
  Value excess = t.fmul(t.fsub(threadMax, m), exp.c);
  return arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::UGT, excess, t.f32(kHeadroom));
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

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static SmallVector<Value> flatten(const RowMove &move) {
  return llvm::to_vector(
      llvm::concat<const Value>(move.m, move.l, move.shift, move.alpha, move.scores));
}

/// if condition in any lane: what `then` gives, else what `otherwise` gives.
static RowMove chooseMove(ThreadBuilder &t, const FragmentMap &map, Value condition,
                          function_ref<RowMove()> then, function_ref<RowMove()> otherwise) {
  unsigned rows = map.numRows();
  SmallVector<Type> types(4 * rows + map.numRegisters(), t.b.getF32Type());
  auto ifOp = scf::IfOp::create(t.b, t.loc, types, t.any(condition), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(t.b, t.loc, flatten(then()));
  t.b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(t.b, t.loc, flatten(otherwise()));
  auto part = [&](unsigned first, unsigned count) {
    return SmallVector<Value>(ifOp.getResults().slice(first, count));
  };
  return {part(0, rows), part(rows, rows), part(2 * rows, rows), part(3 * rows, rows),
          part(4 * rows, map.numRegisters())};
}

/// A row with references that are not far: alpha = exp((m - m') scale).
static void moveNear(ThreadBuilder &t, RowExp &exp, Value m, Value largest, RowMove &move) {
  move.m.push_back(largest);
  move.alpha.push_back(exp.factor(m, largest));
  move.shift.push_back(exp.shift(exp.finiteOrZero(largest)));
}

/// A row with any references, whose scores are made relative.
static void moveAny(ThreadBuilder &t, const FragmentMap &map, RowExp &exp, Value m, Value largest,
                    unsigned row, RowMove &move) {
  RowReference reference(t, exp, largest);
  move.alpha.push_back(exp.anyFactor(m, largest));
  move.shift.push_back(reference.shift);
  subtractBase(t, map, row, reference.base, move.scores);
  if (exp.style.lazyRescale) {
    Value isOdd = t.equal(t.bitAnd(t.lane(), 1), t.i32(1));
    Value forgets = arith::AndIOp::create(t.b, t.loc, exp.isFar(largest), isOdd);
    largest = t.select(forgets, t.negInf(), largest);
  }
  move.m.push_back(largest);
}

/// m' = max(m, rowmax S) of all rows; `threadMax` holds the thread's own maxima.
static RowMove moveAll(ThreadBuilder &t, const FragmentMap &map, RowExp &exp, ValueRange scores,
                       const SoftmaxState &state, ValueRange threadMax) {
  unsigned rows = state.m.size();
  SmallVector<Value> old, largest;
  Value anyFar;
  for (unsigned row = 0; row < rows; ++row) {
    old.push_back(recallReference(t, state.m[row], exp.style));
    largest.push_back(quadMax(t, threadMax[row], old[row]));
    Value far = arith::OrIOp::create(t.b, t.loc, exp.isFar(old[row]), exp.isFar(largest[row]));
    anyFar = anyFar ? arith::OrIOp::create(t.b, t.loc, anyFar, far).getResult() : far;
  }
  auto withSums = [&](RowMove move) {
    for (unsigned row = 0; row < rows; ++row)
      move.l.push_back(t.fmul(state.l[row], move.alpha[row]));
    return move;
  };
  auto any = [&] {
    RowMove move{.scores = SmallVector<Value>(scores)};
    for (unsigned row = 0; row < rows; ++row)
      moveAny(t, map, exp, old[row], largest[row], row, move);
    return withSums(std::move(move));
  };
  auto near = [&] {
    RowMove move{.scores = SmallVector<Value>(scores)};
    for (unsigned row = 0; row < rows; ++row)
      moveNear(t, exp, old[row], largest[row], move);
    return withSums(std::move(move));
  };
  return exp.style.lazyRescale ? chooseMove(t, map, anyFar, any, near) : any();
}

/// m' = m, alpha = 1, l' = l: every reference is finite and not far.
static RowMove stay(ThreadBuilder &t, RowExp &exp, ValueRange scores, const SoftmaxState &state) {
  RowMove move{.m = state.m,
               .l = state.l,
               .alpha = SmallVector<Value>(state.m.size(), t.f32(1)),
               .scores = SmallVector<Value>(scores)};
  for (Value reference : state.m)
    move.shift.push_back(exp.shift(reference));
  return move;
}

RowMove attn::moveReferences(ThreadBuilder &t, const FragmentMap &map, RowExp &exp,
                             ValueRange scores, const SoftmaxState &state) {
  ArrayRef<Value> m = state.m;
  bool byBits = exp.style.lazyRescale && exp.style.integerMax;
  SmallVector<Value> threadMax;
  auto completeMaxima = [&] {
    for (unsigned row = threadMax.size(); row < m.size(); ++row)
      threadMax.push_back(threadRowMax(t, map, scores, row));
  };
  auto move = [&] {
    completeMaxima();
    return moveAll(t, map, exp, scores, state, threadMax);
  };
  if (!exp.style.lazyRescale)
    return move();
  if (!byBits)
    completeMaxima();
  Value exceedsAny;
  for (unsigned row = 0; row < m.size(); ++row) {
    Value exceeds = byBits
                        ? bitsExceedReference(t, exp, threadRowMaxBits(t, map, scores, row), m[row])
                        : exceedsReference(t, exp, threadMax[row], m[row]);
    exceedsAny =
        exceedsAny ? arith::OrIOp::create(t.b, t.loc, exceedsAny, exceeds).getResult() : exceeds;
  }
  return chooseMove(t, map, exceedsAny, move, [&] { return stay(t, exp, scores, state); });
}
