//===- FinalizePatterns.cpp - O / l and the log-sum-exp -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SoftmaxState.h"

#include <numbers>

using namespace mlir;
using namespace attn;

/// 1 / l, or 0 for a row that saw no key.
static Value inverseSum(ThreadBuilder &t, Value l) {
  Value zero = t.f32(0);
  Value inverse = LLVM::FDivOp::create(t.b, t.loc, t.f32(1), l);
  return t.select(t.fequal(l, zero), zero, inverse);
}

namespace {

/// LSEs of a thread's rows, with tails where they are asked for:
/// m scale + (log2(l) - d) ln(2), d what the exponents are off by; -inf for a row that saw no key.
struct RowLse {
  bool hasTail;
  SmallVector<Value> lse = {}, tail = {};

  void push(ThreadBuilder &t, RowExp &exp, Value m, Value l, Value scale) {
    Value zero = t.f32(0), isEmpty = t.fequal(l, zero);
    Value power = t.fsub(t.log2(l), exp.roundingOf(m)), ln2 = t.f32(std::numbers::ln2);
    if (!hasTail) {
      lse.push_back(t.select(isEmpty, t.negInf(), t.fma(m, scale, t.fmul(power, ln2))));
      return;
    }
    Value product = t.fmul(m, scale);
    Value error = t.fma(m, scale, t.fsub(zero, product));
    error = t.select(t.fequal(t.fsub(error, error), zero), error, zero);
    auto [sum, rest] = t.twoSum(product, t.fmul(power, ln2));
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

struct LowerFinalize : StyledPattern<FinalizeOp> {
  using StyledPattern::StyledPattern;
  LogicalResult lower(FinalizeOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getAcc().getType());
    SoftmaxState state(adaptor.getState());
    Value scale = single(adaptor.getScale());
    RowExp exp(t, scale, style);
    for (Value &m : state.m)
      m = recallReference(t, m, style);
    for (Value &l : state.l)
      l = quadReduce(t, l, [&](Value a, Value b) { return t.fadd(a, b); });
    if (map.split == FragmentSplit::Partial)
      return mergeWarps(op, adaptor, map, state, exp, scale, t, rewriter);

    SmallVector<Value> out(adaptor.getAcc());
    RowLse rows{static_cast<bool>(op.getLseTail())};
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value inverse = inverseSum(t, state.l[row]);
      forEachInRow(map, row, [&](unsigned i) { out[i] = t.fmul(out[i], inverse); });
      rows.push(t, exp, state.m[row], state.l[row], scale);
    }
    rewriter.replaceOpWithMultiple(op, rows.results(out));
    return success();
  }

  /// Warps that split the keys each hold (m, l, O) of all rows. Through shared memory:
  /// M = max m_w, f_w = exp(m_w - M), L = sum f_w l_w, O = sum f_w O_w / L; each warp keeps its
  /// share of the columns.
  LogicalResult mergeWarps(FinalizeOp op, Adaptor adaptor, const FragmentMap &map,
                           SoftmaxState &state, RowExp &exp, Value scale, ThreadBuilder &t,
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
      Value total = t.f32(0);
      for (int64_t w = 0; w < map.warps; ++w)
        total = t.fma(exp.anyFactor(m[w], largest), l[w], total);
      Value factor = t.fmul(exp.anyFactor(state.m[row], largest), inverseSum(t, total));
      forEachInRow(map, row, [&](unsigned i) { out[i] = t.fmul(out[i], factor); });
      rowLse.push(t, exp, largest, total, scale);
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

void attn::populateFinalizePatterns(TypeConverter &converter, RewritePatternSet &patterns,
                                    const SoftmaxStyle &style) {
  patterns.add<LowerFinalize>(converter, patterns.getContext(), style);
}
