//===- AssignTensorMaps.cpp - Gives copies their tensor maps --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNASSIGNTENSORMAPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

struct AssignTensorMaps : attn::impl::AttnAssignTensorMapsBase<AssignTensorMaps> {
  void runOnOperation() override {
    auto result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (auto copy = dyn_cast<CopyTileOp>(op)) {
        PipeType pipe = copy.getPipe().getType();
        TileType tile = pipe.getTile();
        auto create = copy.getPipe().getDefiningOp<PipeCreateOp>();
        if (create && create.getWriters())
          return WalkResult::advance();
        if (!copy.getMap() && isa_and_nonnull<BoxedLayoutAttr>(tile.getLayout()))
          return assign(op, copy.getMapMutable(), copy.getSource(), pipe.getStageRows(),
                        tile.getElementType());
      } else if (auto store = dyn_cast<BulkStoreOp>(op)) {
        if (!store.getMap())
          return assign(op, store.getMapMutable(), store.getDest(), kWarpgroupRows,
                        store.getBuffer().getType().getElementType());
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// Maps of equal boxes of one tensor are one argument.
  LogicalResult assign(Operation *op, MutableOperandRange map, Value tensor, int64_t rows,
                       Type elementType) {
    func::FuncOp kernel = getOperation();
    auto argument = dyn_cast<BlockArgument>(tensor);
    if (!argument || argument.getOwner() != &kernel.getBody().front())
      return op->emitOpError() << "expected a tensor that is an argument of the kernel, whose "
                                  "tensor map the runtime can encode";
    Builder b(op->getContext());
    auto type = TensorMapType::get(b.getContext(), rows, kBoxColumns, elementType);
    for (BlockArgument candidate : kernel.getArguments())
      if (auto of =
              kernel.getArgAttrOfType<IntegerAttr>(candidate.getArgNumber(), kTensorMapOfAttr);
          of && of.getInt() == argument.getArgNumber() && candidate.getType() == type) {
        map.assign(candidate);
        return success();
      }
    unsigned index = kernel.getNumArguments();
    auto of = b.getNamedAttr(kTensorMapOfAttr, b.getI64IntegerAttr(argument.getArgNumber()));
    if (failed(kernel.insertArgument(index, type, b.getDictionaryAttr(of), argument.getLoc())))
      return op->emitOpError() << "cannot add a tensor map to its kernel's arguments";
    map.assign(kernel.getArgument(index));
    return success();
  }
};

} // namespace
