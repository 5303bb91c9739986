//===- NarrowPositions.cpp - Positions in 32 bits -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/MaskContext.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/Transforms/Patterns.h>
#include <mlir/Transforms/DialectConversion.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNNARROWPOSITIONS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

/// Arithmetic that positions, tile numbers and ids are made with.
static bool isPositionArithmetic(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::DivSIOp,
             arith::RemUIOp, arith::RemSIOp, arith::CeilDivUIOp, arith::CeilDivSIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::AndIOp, arith::OrIOp,
             arith::SelectOp, arith::CmpIOp, arith::ConstantOp>(op);
}

/// Whether a value of type index will be one of 32 bits: strides and addresses, which come
/// from memrefs, stay as wide as they are.
static bool becomesNarrow(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return isa<scf::SCFDialect>(value.getParentBlock()->getParentOp()->getDialect());
  if (auto cast = dyn_cast<arith::IndexCastOp>(def))
    return cast.getIn().getType().isInteger(32);
  return isPositionArithmetic(def) || isa<scf::SCFDialect>(def->getDialect());
}

namespace {

/// The same op on narrow values.
struct NarrowArithmetic : ConversionPattern {
  NarrowArithmetic(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isPositionArithmetic(op))
      return failure();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      int64_t value = cast<IntegerAttr>(constant.getValue()).getInt();
      value = std::clamp(value, -kFarPosition, kFarPosition);
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getI32IntegerAttr(value));
      return success();
    }
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

struct NarrowCast : OpConversionPattern<arith::IndexCastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::IndexCastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    Value value = adaptor.getIn();
    int64_t from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from < to)
      value = arith::ExtSIOp::create(rewriter, op.getLoc(), type, value);
    else if (from > to)
      value = arith::TruncIOp::create(rewriter, op.getLoc(), type, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct NarrowPositions : attn::impl::AttnNarrowPositionsBase<NarrowPositions> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    bool usesMaps = false;
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      usesMaps |= static_cast<bool>(func.getArgAttr(i, kTensorMapOfAttr));
    if (!usesMaps)
      return;

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](IndexType type) -> Type { return IntegerType::get(type.getContext(), 32); });
    auto cast = [](OpBuilder &b, Type type, ValueRange values, Location loc) -> Value {
      Value value = values.front();
      // Arguments of the kernel may say "unlimited".
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && type.isInteger(32) && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
        Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
        Value far = arith::ConstantIntOp::create(b, loc, b.getI64Type(), kFarPosition);
        Value minusFar = arith::ConstantIntOp::create(b, loc, b.getI64Type(), -kFarPosition);
        wide = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, wide, far), minusFar);
        return arith::TruncIOp::create(b, loc, type, wide);
      }
      return arith::IndexCastOp::create(b, loc, type, value);
    };
    converter.addSourceMaterialization(cast);
    converter.addTargetMaterialization(cast);

    // Decided beforehand: while loops are being converted, values do not know where they stand.
    DenseSet<Operation *> narrowCasts;
    func.walk([&](arith::IndexCastOp op) {
      if (op.getIn().getType().isIndex() ? becomesNarrow(op.getIn())
                                         : op.getIn().getType().isInteger(32))
        narrowCasts.insert(op);
    });

    ConversionTarget target(getContext());
    RewritePatternSet patterns(&getContext());
    auto hasIndex = [](TypeRange types) {
      return llvm::any_of(types, [](Type type) { return type.isIndex(); });
    };
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return !isPositionArithmetic(op) ||
             (!hasIndex(op->getOperandTypes()) && !hasIndex(op->getResultTypes()));
    });
    target.addDynamicallyLegalOp<arith::IndexCastOp>(
        [&](arith::IndexCastOp op) { return !narrowCasts.contains(op); });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
    patterns.add<NarrowArithmetic, NarrowCast>(converter, &getContext());
    if (failed(applyPartialConversion(func, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
