//===- SplitKV.cpp - Partial results along the keys, then a merge ---------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ScheduleFields.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/FunctionAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNSPLITKV
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

static ScheduleAttr withoutSplit(ScheduleAttr schedule) {
  ScheduleValues values = toValues(schedule);
  values.splitKV = 1;
  return toAttr(schedule.getContext(), values);
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

/// The output where it is an argument of the function, or null.
static BlockArgument outputArgument(ForwardOp op, func::FuncOp function) {
  auto o = dyn_cast<BlockArgument>(op.getO());
  return o && o.getOwner() == &function.front() ? o : BlockArgument();
}

static Attribute number(MLIRContext *context, int64_t value) {
  return IntegerAttr::get(IntegerType::get(context, 64), value);
}

/// The size of a dim of an argument, as `attn.workspace` has it.
static Attribute sizeOf(BlockArgument argument, int64_t dim) {
  MLIRContext *context = argument.getContext();
  int64_t known = cast<MemRefType>(argument.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(known))
    return number(context, known);
  return ArrayAttr::get(context, {number(context, argument.getArgNumber()), number(context, dim)});
}

/// O_p, LSE_p = forward over part p of the keys; O, LSE = merge over p.
static LogicalResult split(ForwardOp op) {
  auto function = cast<func::FuncOp>(op->getParentOp());
  BlockArgument o = outputArgument(op, function);
  if (!o)
    return op.emitOpError() << "expected o to be an argument of the function for split_kv = "
                            << op.getSchedule()->getSplitKv()
                            << ": the workspace takes its shape from it";

  Attribute parts = number(op.getContext(), op.getSchedule()->getSplitKv());
  Attribute batch = sizeOf(o, 0), seqLenQ = sizeOf(o, 1), heads = sizeOf(o, 2);
  Location loc = op.getLoc();
  Value partialO = addWorkspace(function, {parts, batch, seqLenQ, heads, sizeOf(o, 3)}, loc);
  Value partialLse = addWorkspace(function, {parts, batch, heads, seqLenQ}, loc);
  Value partialTail = addWorkspace(function, {parts, batch, heads, seqLenQ}, loc);

  Value lse = op.getLse();
  op.getOMutable().assign(partialO);
  op.getLseMutable().assign(partialLse);
  op.getLseTailMutable().assign(partialTail);
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  auto merge = MergeStatesOp::create(b, loc, partialO, partialLse, partialTail, o, lse,
                                     withoutSplit(op.getScheduleAttr()));
  merge->setAttr(kAlignmentAttr, b.getI64IntegerAttr(op.getAlignmentBytes()));
  return success();
}

/// fa1 merges into O and LSE as it goes. An output that is no argument gives no shape to a
/// workspace; the op is then merged by LSE alone.
static void addTail(ForwardOp op) {
  auto function = cast<func::FuncOp>(op->getParentOp());
  if (BlockArgument o = outputArgument(op, function))
    op.getLseTailMutable().assign(
        addWorkspace(function, {sizeOf(o, 0), sizeOf(o, 2), sizeOf(o, 1)}, op.getLoc()));
}

namespace {

struct SplitKV : attn::impl::AttnSplitKVBase<SplitKV> {
  void runOnOperation() override {
    for (ForwardOp op : llvm::make_early_inc_range(getOperation().getOps<ForwardOp>())) {
      if (!op.getSchedule() || op.hasPartialOutputs())
        continue;
      if (op.getSchedule()->getSplitKv() > 1) {
        if (failed(split(op)))
          return signalPassFailure();
      } else if (op.getSchedule()->getAlgorithm() == Algorithm::FA1 && op.getLse() &&
                 !op.getLseTail()) {
        addTail(op);
      }
    }
  }
};

} // namespace
