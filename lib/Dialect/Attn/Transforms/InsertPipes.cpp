//===- InsertPipes.cpp - Loads tiles ahead of use through pipes -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InsertRolePipes.h"
#include "KeyLoops.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNINSERTPIPES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

LogicalResult attn::verifyPadding(LoadTileOp load) {
  std::optional<APFloat> pad = load.getPad();
  if (!pad || pad->isZero())
    return success();
  return load.emitOpError() << "expected pad(0.0), which copies into pipes fill tiles with outside "
                               "of the tensor, got "
                            << load.getPadAttr();
}

namespace {

/// The loops of one pass over the keys, in order, and the loads of each body, in order.
/// Load p of every loop reads the same tensor: it is served by one pipe.
struct KVPass {
  SmallVector<scf::ForOp> loops;
  SmallVector<SmallVector<LoadTileOp>> loads;

  Value lowerBound() { return loops.front().getLowerBound(); }
  Value upperBound() { return loops.back().getUpperBound(); }
  Value step() { return loops.front().getStep(); }
  unsigned numPipes() { return loads.front().size(); }
};

/// One tensor's ring of buffers, with what a copy into it needs.
struct TilePipe {
  Value pipe;
  Value source, batch, head, limit;
};

class PipeInserter {
public:
  explicit PipeInserter(scf::ForallOp forall)
      : forall(forall), schedule(forall->getAttrOfType<ScheduleAttr>(kScheduleAttr)),
        alignment(forall->getAttrOfType<IntegerAttr>(kAlignmentAttr)), b(forall->getContext()) {}

  LogicalResult run() {
    SmallVector<KVPass> passes;
    if (failed(collectPasses(passes)))
      return failure();
    if (!passes.empty() && !alignment)
      return forall.emitOpError() << "has no " << kAlignmentAttr
                                  << ", the bytes that addresses of tensors are multiples of";
    for (KVPass &pass : passes)
      if (failed(insertPipes(pass)))
        return failure();
    return success();
  }

private:
  LogicalResult collectPasses(SmallVector<KVPass> &passes);
  LogicalResult insertPipes(KVPass &pass);
  Value loadQThroughPipe(LoadTileOp load);
  void startCopy(TilePipe &pipe, Value iteration, Value row, Value end, bool synced);
  TilePipe makePipe(LoadTileOp load, int64_t stages);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  scf::ForallOp forall;
  ScheduleAttr schedule;
  IntegerAttr alignment;
  OpBuilder b;
};

} // namespace

LogicalResult PipeInserter::collectPasses(SmallVector<KVPass> &passes) {
  llvm::SmallDenseMap<int64_t, unsigned> indexOfPass;
  for (scf::ForOp loop : forall.getBody()->getOps<scf::ForOp>()) {
    auto number = loop->getAttrOfType<IntegerAttr>(kKVPassAttr);
    if (!number)
      continue;
    auto [it, isNew] = indexOfPass.try_emplace(number.getInt(), passes.size());
    if (isNew)
      passes.emplace_back();
    KVPass &pass = passes[it->second];
    pass.loops.push_back(loop);
    SmallVector<LoadTileOp> loads;
    for (LoadTileOp load : loop.getBody()->getOps<LoadTileOp>())
      if (load.getRow() == loop.getInductionVar())
        loads.push_back(load);
    pass.loads.push_back(loads);
    if (loads.empty() || loads.size() > 2 || loads.size() != pass.numPipes())
      return loop.emitOpError() << "expected a loop over K/V tiles with one or two loads, as in "
                                   "the other loops of its pass, got "
                                << loads.size();
    for (auto [load, first] : llvm::zip(loads, pass.loads.front())) {
      if (failed(verifyPadding(load)))
        return failure();
      if (load.getSource() != first.getSource())
        return load.emitOpError() << "expected the loops of one pass to load the same tensors in "
                                     "the same order";
    }
  }
  return success();
}

TilePipe PipeInserter::makePipe(LoadTileOp load, int64_t stages) {
  PipeType type = PipeType::get(b.getContext(), load.getResult().getType(), stages, /*parts=*/1);
  Value pipe = PipeCreateOp::create(b, load.getLoc(), type, IntegerAttr(), IntegerAttr(),
                                    IntegerAttr(), IntegerAttr(), IntegerAttr());
  Value limit = load.getLimit();
  if (!limit)
    limit = memref::DimOp::create(b, load.getLoc(), load.getSource(), 1);
  return {pipe, load.getSource(), load.getBatch(), load.getHead(), limit};
}

/// acquire; if row < end: copy; commit. The commit is unconditional so that the count of
/// groups in flight does not depend on the number of tiles.
void PipeInserter::startCopy(TilePipe &pipe, Value iteration, Value row, Value end, bool synced) {
  Location loc = pipe.pipe.getLoc();
  PipeAcquireOp::create(b, loc, pipe.pipe, iteration, synced);
  Value inRange = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, end);
  auto ifOp = scf::IfOp::create(b, loc, inRange, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  CopyTileOp::create(b, loc, pipe.source, pipe.batch, row, pipe.head, pipe.limit, pipe.pipe,
                     iteration, Value(), alignment);
  b.setInsertionPointAfter(ifOp);
  PipeCommitOp::create(b, loc, pipe.pipe);
}

/// The Q tile of the products, if the program loads it outside the loop.
static LoadTileOp findQLoad(KVPass &pass) {
  for (TileMmaOp mma : pass.loops.front().getBody()->getOps<TileMmaOp>())
    if (auto load = mma.getA().getDefiningOp<LoadTileOp>())
      if (load->getBlock() != mma->getBlock())
        return load;
  return {};
}

LogicalResult PipeInserter::insertPipes(KVPass &pass) {
  scf::ForOp firstLoop = pass.loops.front();
  Location loc = firstLoop.getLoc();
  unsigned numPipes = pass.numPipes();
  int64_t stages = schedule.getStages();
  // A lone pipe of one stage has no other wait to hide its refill behind.
  bool refillNeedsBarrier = numPipes == 1 && stages == 1;

  b.setInsertionPoint(firstLoop);
  LoadTileOp qLoad = findQLoad(pass);
  TilePipe qPipe;
  if (qLoad) {
    if (failed(verifyPadding(qLoad)))
      return failure();
    qPipe = makePipe(qLoad, 1);
    Value zero = constant(loc, 0);
    startCopy(qPipe, zero, qLoad.getRow(), qPipe.limit, /*synced=*/true);
  }
  SmallVector<TilePipe> pipes;
  for (LoadTileOp load : pass.loads.front())
    pipes.push_back(makePipe(load, stages));

  // Prologue: every pipe gets `stages` tiles, the last one of the cycle one fewer: the
  // first wait of the loop starts that one.
  Value lower = pass.lowerBound(), upper = pass.upperBound(), step = pass.step();
  int64_t groupsAhead = 0;
  for (int64_t stage = 0; stage < stages; ++stage)
    for (auto [p, pipe] : llvm::enumerate(pipes)) {
      bool lastOfCycle = p + 1 == numPipes && stage + 1 == stages;
      if (lastOfCycle && !refillNeedsBarrier)
        continue;
      Value iteration = constant(loc, stage);
      Value row = b.createOrFold<arith::AddIOp>(
          loc, lower, b.createOrFold<arith::MulIOp>(loc, step, iteration));
      startCopy(pipe, iteration, row, upper, /*synced=*/true);
      ++groupsAhead;
    }

  if (qLoad) {
    Value zero = constant(loc, 0);
    TileType type = qLoad.getResult().getType();
    Value q = PipeWaitOp::create(b, loc, type, qPipe.pipe, zero, b.getI64IntegerAttr(groupsAhead));
    PipeReleaseOp::create(b, pass.loops.back().getLoc(), qPipe.pipe, zero)
        ->moveAfter(pass.loops.back());
    if (schedule.getQInRegisters() && schedule.getInstruction() == Instruction::Mma)
      q = LocalLoadOp::create(b, loc, type, q);
    qLoad.getResult().replaceUsesWithIf(q, [&](OpOperand &use) {
      auto loop = use.getOwner()->getParentOfType<scf::ForOp>();
      return loop && llvm::is_contained(pass.loops, loop);
    });
    if (qLoad->use_empty())
      qLoad.erase();
  }

  for (auto [loop, loads] : llvm::zip(pass.loops, pass.loads)) {
    b.setInsertionPointToStart(loop.getBody());
    Value key = loop.getInductionVar();
    Value iteration =
        b.createOrFold<arith::DivUIOp>(loc, b.createOrFold<arith::SubIOp>(loc, key, lower), step);
    for (auto [p, load] : llvm::enumerate(loads)) {
      b.setInsertionPoint(load);
      // Groups younger than this tile's: all tiles ahead, one for each pipe.
      int64_t pending = numPipes == 1 ? std::max<int64_t>(stages - 2, 0)
                                      : static_cast<int64_t>(numPipes) * (stages - 1);
      auto wait = PipeWaitOp::create(b, load.getLoc(), load.getResult().getType(), pipes[p].pipe,
                                     iteration, b.getI64IntegerAttr(pending));
      load.getResult().replaceAllUsesWith(wait.getTile());

      Operation *lastUser = wait;
      for (Operation *user : wait.getTile().getUsers())
        if (lastUser->isBeforeInBlock(user))
          lastUser = user;

      // The barrier of this wait frees the buffer that the previous pipe of the cycle
      // read last; refill it with the tile `ahead` iterations from here.
      unsigned previous = (p + numPipes - 1) % numPipes;
      int64_t ahead = p == 0 ? stages - 1 : stages;
      if (refillNeedsBarrier) {
        b.setInsertionPointAfter(lastUser);
        ahead = 1;
      }
      Value aheadIteration = b.createOrFold<arith::AddIOp>(loc, iteration, constant(loc, ahead));
      Value row = b.createOrFold<arith::AddIOp>(
          loc, key, b.createOrFold<arith::MulIOp>(loc, step, constant(loc, ahead)));
      startCopy(pipes[previous], aheadIteration, row, upper, /*synced=*/!refillNeedsBarrier);
      b.setInsertionPointAfter(lastUser);
      PipeReleaseOp::create(b, load.getLoc(), pipes[p].pipe, iteration);
      load.erase();
    }
  }
  return success();
}

namespace {

struct InsertPipes : attn::impl::AttnInsertPipesBase<InsertPipes> {
  void runOnOperation() override {
    auto result = getOperation().walk([&](scf::ForallOp forall) {
      if (!forall->hasAttr(kScheduleAttr))
        return WalkResult::advance();
      return WalkResult(wgmmaSchedule(forall) ? insertRolePipes(forall)
                                              : PipeInserter(forall).run());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
