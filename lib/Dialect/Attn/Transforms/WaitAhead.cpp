//===- WaitAhead.cpp - Waits for the next step's tiles --------------------===//
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
#define GEN_PASS_DEF_ATTNWAITAHEAD
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

/// The waits for the tiles of one pipe in a chain of loops over keys.
struct PipeWaits {
  SmallVector<PipeWaitOp> inLoops; ///< One in each loop.
  PipeWaitOp after;                ///< For the tile that follows the last step's, if any.
};

/// Moves the waits of one chain of loops.
class Hoister {
public:
  explicit Hoister(KeyLoops loops) : loops(std::move(loops)), b(this->loops.front()) {}
  void run();

private:
  SmallVector<PipeWaits> collect();
  Value runs(scf::ForOp loop);
  void waitFor(Value pipe, Value iteration, Value condition, Location loc);
  /// Replaces a wait by the tile that was waited for.
  void takeTile(PipeWaitOp wait);

  KeyLoops loops;
  OpBuilder b;
};

} // namespace

/// The last wait for products in a step: what comes before it runs beside them.
static MmaWaitOp lastMmaWait(scf::ForOp loop) {
  MmaWaitOp last;
  for (MmaWaitOp wait : loop.getBody()->getOps<MmaWaitOp>())
    last = wait;
  return last;
}

static int64_t positionOf(scf::ForOp loop, Value iteration) {
  auto argument = dyn_cast<BlockArgument>(iteration);
  return argument && argument.getOwner() == loop.getBody() && argument.getArgNumber() > 0
             ? argument.getArgNumber() - 1
             : -1;
}

/// The pipes that every loop of the chain waits for once, counting on from the loop before. A
/// ring of one buffer cannot be filled for the next step before this one is done with it.
SmallVector<PipeWaits> Hoister::collect() {
  SmallVector<PipeWaits> found;
  for (PipeWaitOp first : loops.front().getBody()->getOps<PipeWaitOp>()) {
    if (first.getPipe().getType().getStages() < 2)
      continue;
    PipeWaits waits;
    Value count;
    for (scf::ForOp loop : loops) {
      for (PipeWaitOp wait : loop.getBody()->getOps<PipeWaitOp>()) {
        int64_t position = positionOf(loop, wait.getIteration());
        if (wait.getPipe() != first.getPipe() || position < 0 ||
            (count && loop.getInitArgs()[position] != count))
          continue;
        waits.inLoops.push_back(wait);
        count = loop.getResult(position);
        break;
      }
    }
    if (waits.inLoops.size() != loops.size())
      continue;
    for (PipeWaitOp wait : loops.back()->getBlock()->getOps<PipeWaitOp>())
      if (wait.getPipe() == first.getPipe() && wait.getIteration() == count)
        waits.after = wait;
    found.push_back(waits);
  }
  return found;
}

Value Hoister::runs(scf::ForOp loop) {
  return arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt, loop.getLowerBound(),
                               loop.getUpperBound());
}

void Hoister::waitFor(Value pipe, Value iteration, Value condition, Location loc) {
  OpBuilder::InsertionGuard guard(b);
  if (condition) {
    auto ifOp = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(ifOp.thenBlock());
  }
  PipeReadyOp::create(b, loc, pipe, iteration);
}

void Hoister::takeTile(PipeWaitOp wait) {
  b.setInsertionPoint(wait);
  auto tile = PipeTileOp::create(b, wait.getLoc(), wait.getTile().getType(), wait.getPipe(),
                                 wait.getIteration());
  wait.getTile().replaceAllUsesWith(tile.getTile());
  wait.erase();
}

void Hoister::run() {
  if (llvm::any_of(loops, [](scf::ForOp loop) { return !lastMmaWait(loop); }))
    return;
  SmallVector<PipeWaits> pipes = collect();
  if (pipes.empty())
    return;

  // laterRuns[i]: some loop after loop i has a step.
  Location loc = loops.front().getLoc();
  b.setInsertionPoint(loops.front());
  SmallVector<Value> laterRuns(loops.size());
  Value anyRuns = runs(loops.back());
  for (size_t i = loops.size() - 1; i > 0; --i) {
    laterRuns[i - 1] = anyRuns;
    anyRuns = arith::OrIOp::create(b, loc, anyRuns, runs(loops[i - 1]));
  }
  for (PipeWaits &waits : pipes) {
    int64_t position = positionOf(loops.front(), waits.inLoops.front().getIteration());
    waitFor(waits.inLoops.front().getPipe(), loops.front().getInitArgs()[position],
            waits.after ? Value() : anyRuns, loc);
  }

  for (auto [i, loop] : llvm::enumerate(loops)) {
    b.setInsertionPoint(lastMmaWait(loop));
    Value next = arith::AddIOp::create(b, loc, loop.getInductionVar(), loop.getStep());
    Value more =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
    if (laterRuns[i])
      more = arith::OrIOp::create(b, loc, more, laterRuns[i]);
    for (PipeWaits &waits : pipes) {
      PipeWaitOp wait = waits.inLoops[i];
      Value one = arith::ConstantIndexOp::create(b, loc, 1);
      Value iteration = arith::AddIOp::create(b, loc, wait.getIteration(), one);
      waitFor(wait.getPipe(), iteration, waits.after ? Value() : more, wait.getLoc());
    }
  }

  for (PipeWaits &waits : pipes) {
    llvm::for_each(waits.inLoops, [&](PipeWaitOp wait) { takeTile(wait); });
    if (waits.after)
      takeTile(waits.after);
  }
}

namespace {

struct WaitAhead : attn::impl::AttnWaitAheadBase<WaitAhead> {
  void runOnOperation() override {
    getOperation().walk([](RolesOp roles) {
      ScheduleAttr schedule = wgmmaSchedule(roles->getParentOfType<scf::ForallOp>());
      if (!schedule || !schedule.getOverlap())
        return;
      SmallVector<Block *> blocks;
      roles.getConsumer().walk([&](Block *block) { blocks.push_back(block); });
      for (Block *block : blocks)
        for (KeyLoops &loops : collectKeyLoops(*block))
          Hoister(loops).run();
    });
  }
};

} // namespace
