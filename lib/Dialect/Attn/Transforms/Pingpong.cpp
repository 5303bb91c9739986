//===- Pingpong.cpp - Warpgroups take turns at products -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/IR/Warps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNPINGPONG
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// A turn lasts from the first start of a product in a step to the last one that follows
/// without a wait.
static bool addTurn(scf::ForOp loop, int64_t turns) {
  MmaStartOp first, last;
  for (Operation &op : *loop.getBody()) {
    if (auto start = dyn_cast<MmaStartOp>(op)) {
      first = first ? first : start;
      last = start;
    }
    if (last && isa<MmaWaitOp>(op))
      break;
  }
  if (!first)
    return false;
  OpBuilder b(first);
  TurnWaitOp::create(b, first.getLoc(), turns);
  b.setInsertionPointAfter(last);
  TurnPassOp::create(b, last.getLoc(), turns);
  return true;
}

namespace {

struct Pingpong : attn::impl::AttnPingpongBase<Pingpong> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForallOp forall) {
      ScheduleAttr schedule = wgmmaSchedule(forall);
      int64_t turns = schedule ? schedule.getWarps() / kWarpgroupWarps : 0;
      if (turns < 2 || !schedule.getPingpong())
        return;
      bool any = false;
      forall.walk([&](scf::ForOp loop) {
        if (loop->hasAttr(kKVPassAttr))
          any |= addTurn(loop, turns);
      });
      if (!any)
        return;
      OpBuilder b = OpBuilder::atBlockBegin(forall.getBody());
      TurnsBeginOp::create(b, forall.getLoc(), turns);
      b.setInsertionPoint(forall.getTerminator());
      TurnsEndOp::create(b, forall.getLoc(), turns);
    });
  }
};

} // namespace
