//===- LowerToTiles.cpp - Writes the tile program of each problem op ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileProgramBuilder.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNLOWERTOTILES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

struct LowerToTiles : attn::impl::AttnLowerToTilesBase<LowerToTiles> {
  void runOnOperation() override {
    SmallVector<ForwardOp> forwards(getOperation().getOps<ForwardOp>());
    SmallVector<MergeStatesOp> merges(getOperation().getOps<MergeStatesOp>());
    for (ForwardOp op : forwards)
      if (failed(lowerForward(op)))
        return signalPassFailure();
    for (MergeStatesOp op : merges)
      if (failed(lowerMergeStates(op)))
        return signalPassFailure();
  }
};

} // namespace
