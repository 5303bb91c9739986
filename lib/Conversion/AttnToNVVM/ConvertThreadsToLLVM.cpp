//===- ConvertThreadsToLLVM.cpp - Thread programs to the LLVM dialect -----===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <mlir/Conversion/AffineToStandard/AffineToStandard.h>
#include <mlir/Conversion/ArithToLLVM/ArithToLLVM.h>
#include <mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h>
#include <mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h>
#include <mlir/Conversion/LLVMCommon/ConversionTarget.h>
#include <mlir/Conversion/LLVMCommon/TypeConverter.h>
#include <mlir/Conversion/MathToLLVM/MathToLLVM.h>
#include <mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Arith/Transforms/Passes.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/MemRef/Transforms/Transforms.h>
#include <mlir/IR/Matchers.h>
#include <mlir/Transforms/DialectConversion.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNCONVERTTHREADSTOLLVM
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

/// Ops that become simpler ones before the conversion: views, divisions that LLVM lacks, and
/// extrema, which as comparisons are what the shipped kernels were measured with. A cast of a
/// constant becomes one, because a dimension that is no constant is read through the stack.
static bool isExpanded(Operation *op) {
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return cast.getType().isIndex() && matchPattern(cast.getIn(), m_Constant());
  return isa_and_nonnull<memref::MemRefDialect>(op->getDialect()) ||
         isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::MaxSIOp,
             arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp>(op);
}

namespace {

struct ConvertThreadsToLLVM : attn::impl::AttnConvertThreadsToLLVMBase<ConvertThreadsToLLVM> {
  void runOnOperation() override {
    if (failed(expand()) || failed(convert()))
      signalPassFailure();
  }

private:
  /// Looks at the expanded ops alone: a driver over all ops of unrolled code takes longer than
  /// their conversion.
  LogicalResult expand() {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isExpanded(op))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    memref::populateExpandStridedMetadataPatterns(patterns);
    arith::populateArithExpandOpsPatterns(patterns);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    return applyOpPatternsGreedily(ops, std::move(patterns), config);
  }

  /// All dialects at once, so that each op is visited and its types converted once.
  LogicalResult convert() {
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect, nv::AttnNVDialect>();
    target.addLegalOp<ModuleOp>();
    RewritePatternSet patterns(context);
    populateAffineToStdConversionPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    // LLVM folds what can be folded.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    return applyFullConversion(getOperation(), target, std::move(patterns), config);
  }
};

} // namespace
