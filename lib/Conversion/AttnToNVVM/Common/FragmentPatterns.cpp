//===- FragmentPatterns.cpp - Filling, scaling, converting fragments ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SoftmaxState.h"

using namespace mlir;
using namespace attn;

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

void attn::populateFragmentPatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerFill, LowerRescale, LowerConvert>(converter, patterns.getContext());
}
