//===- MergePatterns.cpp - Partial results on mma fragments ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include <numbers>

using namespace mlir;
using namespace attn;

namespace {

/// LSE of one side of a merge: lse + tail.
struct Side {
  Value lse, tail;
  Value isEmpty(ThreadBuilder &t) const { return t.fequal(lse, t.negInf()); }
};

/// m = max(lse_a, lse_b), w_x = exp(lse_x - m), o = (w_a o_a + w_b o_b) / (w_a + w_b). The larger
/// side weighs exactly 1, an empty one 0.
struct LowerMerge : TileOpPattern<MergeOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(MergeOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getO().getType());
    bool hasTail = static_cast<bool>(op.getTail());
    Value zero = t.f32(0);
    SmallVector<Value> factorsA, factorsB, lse, tail;
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Side a{adaptor.getLseA()[row], zero}, b{adaptor.getLseB()[row], zero};
      if (hasTail) {
        a.tail = adaptor.getTails()[0][row];
        b.tail = adaptor.getTails()[1][row];
      }
      // The tails count where the difference of the f32 parts is small, which then is exact.
      Value difference = t.fadd(t.fsub(a.lse, b.lse), t.fsub(a.tail, b.tail));
      Value isLowA = t.fgreater(zero, difference), isLowB = t.fgreater(difference, zero);
      Value weightA = weight(t, a, isLowA, difference);
      Value weightB = weight(t, b, isLowB, t.fsub(zero, difference));
      Value total = t.fadd(weightA, weightB);
      // 0 for both sides empty
      Value inverse = LLVM::FDivOp::create(t.b, t.loc, t.f32(1), total);
      inverse = t.select(t.fequal(total, zero), zero, inverse);
      factorsA.push_back(t.fmul(weightA, inverse));
      factorsB.push_back(t.fmul(weightB, inverse));
      Side merged = mergeLse(t, a, b, isLowA, total);
      lse.push_back(merged.lse);
      tail.push_back(merged.tail);
    }
    SmallVector<Value> out(map.numRegisters());
    map.forEachElement([&](unsigned row, unsigned, unsigned, unsigned i) {
      out[i] = t.fadd(t.fmul(factorsA[row], adaptor.getOA()[i]),
                      t.fmul(factorsB[row], adaptor.getOB()[i]));
    });
    SmallVector<SmallVector<Value>> results = {out, lse};
    if (hasTail)
      results.push_back(tail);
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// exp(difference) of the lower side, 1 of the other, 0 of an empty one.
  static Value weight(ThreadBuilder &t, const Side &side, Value isLow, Value difference) {
    Value power = t.exp2(t.fmul(difference, t.f32(std::numbers::log2e)));
    return t.select(side.isEmpty(t), t.f32(0), t.select(isLow, power, t.f32(1)));
  }

  /// m + ln(total), or that of the only side that is not empty, bit for bit.
  static Side mergeLse(ThreadBuilder &t, const Side &a, const Side &b, Value isLowA, Value total) {
    Value grown =
        t.fadd(t.fmul(t.log2(total), t.f32(std::numbers::ln2)), t.select(isLowA, b.tail, a.tail));
    auto [sum, rest] = t.twoSum(t.select(isLowA, b.lse, a.lse), grown);
    Value isEmptyA = a.isEmpty(t), isEmptyB = b.isEmpty(t);
    auto choose = [&](Value ofA, Value ofB, Value merged) {
      return t.select(isEmptyA, ofB, t.select(isEmptyB, ofA, merged));
    };
    return {choose(a.lse, b.lse, sum), choose(a.tail, b.tail, rest)};
  }
};

} // namespace

void attn::populateMergePatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerMerge>(converter, patterns.getContext());
}
