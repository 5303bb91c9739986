//===- OrderKeys.cpp - Visits K/V tiles from last to first ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNORDERKEYS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// The first key of tile `iv` becomes that of the tile as far from the other end:
/// lower + last - iv, where last is the greatest value that iv takes.
static void mirror(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), step = loop.getStep();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value span = arith::SubIOp::create(b, loc, loop.getUpperBound(), lower);
  Value beforeLast = arith::DivSIOp::create(b, loc, arith::SubIOp::create(b, loc, span, one), step);
  Value last =
      arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, beforeLast, step));
  Value sum = arith::AddIOp::create(b, loc, lower, last);

  b.setInsertionPointToStart(loop.getBody());
  auto key = arith::SubIOp::create(b, loc, sum, loop.getInductionVar());
  loop.getInductionVar().replaceAllUsesExcept(key, key);
}

/// The last loop runs first: values that flow through the chain flow the other way.
static void reverseChain(KeyLoops &loops) {
  SmallVector<Value> init(loops.front().getInitArgs());
  Operation *last = loops.back();
  for (scf::ForOp loop : llvm::make_early_inc_range(llvm::reverse(loops))) {
    if (loop != last)
      loop->moveAfter(last);
    last = loop;
  }
  SmallVector<Value> results(loops.back().getResults());
  // What reads the results of the chain reads those of the loop that is last now.
  for (auto [result, replacement] : llvm::zip(results, loops.front().getResults()))
    result.replaceUsesWithIf(
        replacement, [&](OpOperand &use) { return !llvm::is_contained(loops, use.getOwner()); });
  ValueRange carried = init;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    loop.getInitArgsMutable().assign(carried);
    carried = loop.getResults();
  }
}

namespace {

struct OrderKeys : attn::impl::AttnOrderKeysBase<OrderKeys> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForallOp forall) {
      ScheduleAttr schedule = wgmmaSchedule(forall);
      if (!schedule || schedule.getKvOrder() != KVOrder::Descending)
        return;
      for (KeyLoops &loops : collectKeyLoops(*forall.getBody())) {
        llvm::for_each(loops, mirror);
        reverseChain(loops);
      }
    });
  }
};

} // namespace
