//===- ScorePatterns.cpp - Score regions and masks on mma fragments -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include <mlir/IR/IRMapping.h>

#include <numbers>

using namespace mlir;
using namespace attn;

namespace {

struct LowerMapScores : TileOpPattern<MapScoresOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(MapScoresOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SmallVector<Value> scores(adaptor.getScores());
    Value scale = single(adaptor.getScale());
    Value firstRow = single(adaptor.getRow()), firstKey = single(adaptor.getKey());
    Block &body = op.getBody().front();
    bool clamps = op.needsPositionsInside();
    // first + inTile, at most length - 1 where the region must not see more
    auto position = [&](Value first, Value inTile, Value length) -> Value {
      Value sum = arith::AddIOp::create(t.b, t.loc, first, t.toIndex(inTile));
      if (!clamps)
        return sum;
      Value one = arith::ConstantIndexOp::create(t.b, t.loc, 1);
      Value last = arith::SubIOp::create(t.b, t.loc, length, one);
      return arith::MinSIOp::create(t.b, t.loc, sum, last);
    };
    Value seqLenQ = single(adaptor.getSeqLenQ()), seqLenKV = single(adaptor.getSeqLenKv());
    SmallVector<Value> rows;
    for (unsigned row = 0; row < map.numRows(); ++row)
      rows.push_back(position(firstRow, map.tileRow(t, row), seqLenQ));
    map.forEachElement([&](unsigned row, unsigned colBlock, unsigned e, unsigned i) {
      IRMapping mapping;
      mapping.map(body.getArgument(0), t.fmul(scores[i], scale));
      mapping.map(body.getArgument(1), rows[row]);
      mapping.map(body.getArgument(2), position(firstKey, map.tileCol(t, colBlock, e), seqLenKV));
      for (Operation &inner : body.without_terminator())
        t.b.clone(inner, mapping);
      scores[i] = mapping.lookupOrDefault(cast<YieldOp>(body.getTerminator()).getValue());
    });
    rewriter.replaceOpWithMultiple(op, {scores});
    return success();
  }
};

/// Whether the kernel's Q is f32, so that scores want all bits that f32 has.
bool isSinglePrecision(Operation *op) {
  for (Type type : op->getParentOfType<FunctionOpInterface>().getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type))
      return memref.getElementType().isF32();
  return false;
}

/// cap tanh(s / cap) with tanh(x) = 1 - 2 / (1 + exp(2 x)), which stays finite for
/// every x; its error is relative to 1, not to tanh(x), so about cap 2^-22. Where that is too much,
/// for scores that are to be exact to f32 and for large caps, scores near 0 take an odd polynomial
/// instead (minimax on |x| < 0.6, relative error 7e-8).
struct LowerSoftcap : TileOpPattern<SoftcapOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(SoftcapOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    double cap = op.getCap().convertToDouble();
    Value score = single(adaptor.getScore());
    Value power = t.exp2(t.fmul(score, t.f32(2 * std::numbers::log2e / cap)));
    Value inverse =
        NVVM::RcpApproxFtzF32Op::create(t.b, t.loc, t.b.getF32Type(), t.fadd(t.f32(1), power));
    Value capped = t.fma(t.f32(-2 * cap), inverse, t.f32(cap));
    constexpr double kLargeCap = 1024;
    if (isSinglePrecision(op) || cap > kLargeCap)
      capped = polynomialNearZero(t, score, cap, capped);
    rewriter.replaceOp(op, capped);
    return success();
  }

private:
  /// s + s x^2 P(x^2) where x = s / cap is small, else `elsewhere`.
  static Value polynomialNearZero(ThreadBuilder &t, Value score, double cap, Value elsewhere) {
    constexpr double kBound = 0.6;
    constexpr double kCoefficients[] = {-0.005895136, 0.02079595, -0.053783823, 0.13331924,
                                        -0.333333};
    Value x = t.fmul(score, t.f32(1 / cap));
    Value square = t.fmul(x, x);
    Value sum = t.f32(kCoefficients[0]);
    for (double coefficient : ArrayRef(kCoefficients).drop_front())
      sum = t.fma(sum, square, t.f32(coefficient));
    Value near = t.fma(t.fmul(sum, square), score, score);
    Value isNear = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::OLT, square,
                                         t.f32(kBound * kBound));
    return t.select(isNear, near, elsewhere);
  }
};

struct LowerMaskScores : TileOpPattern<MaskScoresOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(MaskScoresOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    FragmentMap map(op.getScores().getType());
    SmallVector<Value> scores(adaptor.getScores());
    // Positions fit in 32 bits; only addresses need 64.
    Value seqLenQ = t.toI32(single(adaptor.getSeqLenQ()));
    Value seqLenKV = t.toI32(single(adaptor.getSeqLenKv()));
    Value firstRow = t.toI32(single(adaptor.getRow()));
    Value firstKey = t.toI32(single(adaptor.getKey()));
    SmallVector<Value> params;
    for (ValueRange param : adaptor.getMaskArgs())
      params.push_back(single(param));
    MaskContext ctx(t.b, t.loc, seqLenQ, seqLenKV, params);
    if (op.getMask().rowsAreIntervals())
      maskIntervals(t, op.getMask(), ctx, map, firstRow, firstKey, scores);
    else
      maskPairs(t, op.getMask(), ctx, map, firstRow, firstKey, scores);
    rewriter.replaceOpWithMultiple(op, {scores});
    return success();
  }

private:
  /// begin_i <= j < end_i. The bounds of a row are counted from the thread's first column,
  /// so that each test compares them with a constant.
  static void maskIntervals(ThreadBuilder &t, MaskAttrInterface mask, MaskContext &ctx,
                            const FragmentMap &map, Value firstRow, Value firstKey,
                            SmallVectorImpl<Value> &scores) {
    Value threadKey = t.add(firstKey, map.tileCol(t, 0, 0));
    SmallVector<KeyRange> bounds;
    for (unsigned row = 0; row < map.numRows(); ++row) {
      Value i = t.add(firstRow, map.tileRow(t, row));
      KeyRange kept = mask.keptRange(ctx, i, t.add(i, 1));
      bool fromZero = matchPattern(kept.begin, m_Zero());
      bounds.push_back({fromZero ? Value() : t.sub(kept.begin, threadKey),
                        t.sub(t.min(kept.end, ctx.seqLenKV), threadKey)});
    }
    Value minusInf = t.negInf();
    map.forEachElement([&](unsigned row, unsigned colBlock, unsigned e, unsigned i) {
      Value column = t.i32(8 * colBlock + e % 2);
      Value keep = t.lessThan(column, bounds[row].end);
      if (bounds[row].begin)
        keep = ctx.logicalAnd(keep, ctx.lessEqual(bounds[row].begin, column));
      scores[i] = t.select(keep, scores[i], minusInf);
    });
  }

  /// Any mask: its predicate for each pair.
  static void maskPairs(ThreadBuilder &t, MaskAttrInterface mask, MaskContext &ctx,
                        const FragmentMap &map, Value firstRow, Value firstKey,
                        SmallVectorImpl<Value> &scores) {
    Value minusInf = t.negInf();
    map.forEachElement([&](unsigned row, unsigned colBlock, unsigned e, unsigned i) {
      Value key = t.add(firstKey, map.tileCol(t, colBlock, e));
      Value keep = t.lessThan(key, ctx.seqLenKV);
      keep = ctx.logicalAnd(keep, mask.predicate(ctx, t.add(firstRow, map.tileRow(t, row)), key));
      scores[i] = t.select(keep, scores[i], minusInf);
    });
  }
};

} // namespace

void attn::populateScorePatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerMapScores, LowerSoftcap, LowerMaskScores>(converter, patterns.getContext());
}
