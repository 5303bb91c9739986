//===- VerifyTensorMaps.cpp - Maps are those of what is copied ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../VerifyPlacement.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>

using namespace mlir;
using namespace attn;

/// The tensor that the runtime will encode a map of, null if nothing says.
static Value tensorOf(Value map) {
  auto argument = dyn_cast<BlockArgument>(map);
  auto kernel = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  auto of = kernel ? kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kTensorMapOfAttr)
                   : IntegerAttr();
  return of ? kernel.getArgument(of.getInt()) : Value();
}

static LogicalResult verifyMap(Operation *op, Value map, Value tensor, StringRef name) {
  Value described = tensorOf(map);
  if (described == tensor)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected a tensor map of its " << name << ", got ";
  if (described)
    diag << "that of argument " << cast<BlockArgument>(described).getArgNumber();
  else
    diag << "one without " << kTensorMapOfAttr;
  return diag << "; leave the map out and run attn-assign-tensor-maps";
}

/// Whether products read tiles of the tensor as operand b, as they do keys and values.
static bool holdsKeysOrValues(Value tensor) {
  auto isOperandB = [](OpOperand &use) {
    return isa<MmaStartOp>(use.getOwner()) && use.getOperandNumber() == 1;
  };
  auto readsAsOperandB = [&](Operation *reader) {
    return isa<PipeWaitOp, PipeTileOp>(reader) &&
           llvm::any_of(reader->getResult(0).getUses(), isOperandB);
  };
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    auto copy = dyn_cast<CopyTileOp>(user);
    return copy && llvm::any_of(copy.getPipe().getUsers(), readsAsOperandB);
  });
}

/// A map ends with its tensor, whatever the limit. Keys and values are equally many.
static LogicalResult verifyLimit(CopyTileOp copy) {
  auto source = cast<MemRefType>(copy.getSource().getType());
  std::optional<int64_t> constant = getConstantIntValue(copy.getLimit());
  if (constant && *constant == source.getDimSize(1))
    return success();
  auto dim = copy.getLimit().getDefiningOp<memref::DimOp>();
  if (dim && dim.getConstantIndex() == 1 &&
      (dim.getSource() == copy.getSource() ||
       (holdsKeysOrValues(dim.getSource()) && holdsKeysOrValues(copy.getSource()))))
    return success();
  InFlightDiagnostic diag = copy.emitOpError()
                            << "expected limit to be the rows of its source (memref.dim of dim 1), "
                               "where its tensor map ends, got ";
  if (constant)
    diag << *constant;
  else
    diag << "another value";
  return diag << "; pipes with writers, those of producer = cp_async, end at any limit";
}

LogicalResult attn::verifyTensorMaps(scf::ForallOp forall) {
  auto result = forall.walk([](Operation *op) -> WalkResult {
    if (auto store = dyn_cast<BulkStoreOp>(op); store && store.getMap())
      return verifyMap(op, store.getMap(), store.getDest(), "destination");
    auto copy = dyn_cast<CopyTileOp>(op);
    if (!copy || !copy.getMap())
      return WalkResult::advance();
    if (failed(verifyMap(op, copy.getMap(), copy.getSource(), "source")))
      return WalkResult::interrupt();
    if (int64_t(copy.getAlignment()) < kTensorMapAlignment)
      return copy.emitOpError() << "expected an alignment of at least " << kTensorMapAlignment
                                << " bytes, which tensor maps want, got " << copy.getAlignment()
                                << "; choose producer = cp_async";
    return verifyLimit(copy);
  });
  return failure(result.wasInterrupted());
}
