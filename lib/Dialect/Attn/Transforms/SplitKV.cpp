//===- SplitKV.cpp - Partial results along the keys, then a merge ---------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/FunctionAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNSPLITKV
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

static ScheduleAttr withoutSplit(ScheduleAttr s) {
  return ScheduleAttr::get(s.getContext(), s.getAlgorithm(), s.getQTile(), s.getKvTile(),
                           s.getStages(), s.getWarps(), s.getWarpSplit(), /*split_kv=*/1,
                           s.getInstruction(), s.getQInRegisters(), s.getOrder(), s.getKvOrder(),
                           s.getOverlap(), s.getPingpong(), s.getPersistent(), s.getQStages(),
                           s.getProducerRegisters(), s.getConsumerRegisters(), s.getIntegerMax());
}

/// Appends a workspace argument. `shape` is its attribute: constants and [argument, dim].
static Value addWorkspace(func::FuncOp function, ArrayRef<Attribute> shape, Location loc) {
  MLIRContext *context = function.getContext();
  SmallVector<int64_t> sizes;
  for (Attribute dim : shape) {
    auto constant = dyn_cast<IntegerAttr>(dim);
    sizes.push_back(constant ? constant.getInt() : ShapedType::kDynamic);
  }
  unsigned index = function.getNumArguments();
  auto attrs = DictionaryAttr::get(context, NamedAttribute(StringAttr::get(context, kWorkspaceAttr),
                                                           ArrayAttr::get(context, shape)));
  (void)function.insertArgument(index, MemRefType::get(sizes, Float32Type::get(context)), attrs,
                                loc);
  return function.getArgument(index);
}

/// O_p, LSE_p = forward over part p of the keys; O, LSE = merge over p.
static LogicalResult split(ForwardOp op) {
  auto function = cast<func::FuncOp>(op->getParentOp());
  auto o = dyn_cast<BlockArgument>(op.getO());
  if (!o || o.getOwner() != &function.front())
    return op.emitOpError() << "expected o to be an argument of the function for split_kv = "
                            << op.getSchedule()->getSplitKv()
                            << ": the workspace takes its shape from it";

  OpBuilder b(op->getContext());
  auto number = [&](int64_t value) -> Attribute { return b.getI64IntegerAttr(value); };
  auto size = [&](int64_t dim) -> Attribute {
    int64_t known = cast<MemRefType>(o.getType()).getDimSize(dim);
    return ShapedType::isDynamic(known)
               ? Attribute(b.getArrayAttr({number(o.getArgNumber()), number(dim)}))
               : number(known);
  };
  Attribute parts = number(op.getSchedule()->getSplitKv());
  Value partialO = addWorkspace(function, {parts, size(0), size(1), size(2), size(3)}, op.getLoc());
  Value partialLse = addWorkspace(function, {parts, size(0), size(2), size(1)}, op.getLoc());

  Value lse = op.getLse();
  op.getOMutable().assign(partialO);
  op.getLseMutable().assign(partialLse);
  b.setInsertionPointAfter(op);
  MergeStatesOp::create(b, op.getLoc(), partialO, partialLse, o, lse,
                        withoutSplit(op.getScheduleAttr()));
  return success();
}

namespace {

struct SplitKV : attn::impl::AttnSplitKVBase<SplitKV> {
  void runOnOperation() override {
    for (ForwardOp op : llvm::make_early_inc_range(getOperation().getOps<ForwardOp>())) {
      bool wantsSplit = op.getSchedule() && op.getSchedule()->getSplitKv() > 1;
      if (wantsSplit && !op.hasPartialOutputs() && failed(split(op)))
        return signalPassFailure();
    }
  }
};

} // namespace
