//===- OverlapStores.cpp - The next tile starts while O leaves ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/Dialect/Utils/StaticValueUtils.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNOVERLAPSTORES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

/// How a loop over tiles counts those of a pipe.
struct Counter {
  Value inside; ///< In the body.
  Value first;  ///< Before the loop.
  Value last;   ///< Behind it.
};

/// A store of a CTA's loop over tiles that leaves through the buffer that Q came in.
struct StoreThroughPipe {
  Operation *tiles;
  BulkStoreWaitOp wait;
  PipeReleaseOp release;
  Counter counter;

  Value pipe() { return release.getPipe(); }
};

} // namespace

/// Whether `next` counts one further than `count`.
static bool isNext(Value next, Value count) {
  auto add = next.getDefiningOp<arith::AddIOp>();
  return add && add.getLhs() == count && getConstantIntValue(add.getRhs()) == 1;
}

/// How `tiles` counts, if a tile of the pipe comes in each of its rounds.
static std::optional<Counter> findCounter(Operation *tiles, Value count) {
  auto inside = dyn_cast<BlockArgument>(count);
  if (!inside || inside.getOwner()->getParentOp() != tiles)
    return std::nullopt;
  if (auto loop = dyn_cast<scf::ForOp>(tiles)) {
    if (inside == loop.getInductionVar())
      return std::nullopt;
    unsigned i = inside.getArgNumber() - 1;
    if (!isNext(loop.getYieldedValues()[i], inside))
      return std::nullopt;
    return Counter{inside, loop.getInitArgs()[i], loop.getResult(i)};
  }
  auto loop = dyn_cast<scf::WhileOp>(tiles);
  if (!loop || inside.getOwner() != loop.getAfterBody())
    return std::nullopt;
  unsigned i = inside.getArgNumber();
  auto passed = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[i]);
  if (!passed || passed.getOwner() != loop.getBeforeBody() ||
      !isNext(loop.getYieldOp().getResults()[passed.getArgNumber()], inside))
    return std::nullopt;
  return Counter{inside, loop.getInits()[passed.getArgNumber()], loop.getResult(i)};
}

/// The release of the stage that the store's buffer is, right behind the wait for the store.
static std::optional<StoreThroughPipe> findStore(BulkStoreWaitOp wait) {
  auto arrival = wait.getBuffer().getDefiningOp<PipeWaitOp>();
  auto release = dyn_cast_if_present<PipeReleaseOp>(wait->getNextNode());
  if (!arrival || !release || arrival.getPipe() != release.getPipe() ||
      arrival.getIteration() != release.getIteration())
    return std::nullopt;
  Operation *tiles = wait->getParentOp();
  std::optional<Counter> counter = findCounter(tiles, release.getIteration());
  if (!counter)
    return std::nullopt;
  return StoreThroughPipe{tiles, wait, release, *counter};
}

/// Waits for the store of the tile before the one that `count` counts, if there was one. Its stage
/// is released where there may be a fill that waits for it.
static void finishStoreBefore(OpBuilder &b, StoreThroughPipe &store, Value count,
                              bool release = true) {
  Location loc = store.wait.getLoc();
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, count, store.counter.first);
  auto ifOp = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  Value before = arith::SubIOp::create(b, loc, count, arith::ConstantIndexOp::create(b, loc, 1));
  auto buffer = PipeTileOp::create(b, loc, store.wait.getBuffer().getType(), store.pipe(), before);
  BulkStoreWaitOp::create(b, loc, buffer);
  if (release)
    PipeReleaseOp::create(b, loc, store.pipe(), before);
}

/// Finishes the store before when the first product of the tile is there, or at once where a tile
/// has none: by then the store has long read its buffer. Returns false for a block without
/// products.
static bool finishAfterFirstProduct(OpBuilder &b, Block &block, StoreThroughPipe &store) {
  Value count = store.counter.inside;
  for (Operation &op : block) {
    if (isa<MmaWaitOp, scf::ForOp>(op)) {
      if (isa<MmaWaitOp>(op))
        b.setInsertionPointAfter(&op);
      else
        b.setInsertionPoint(&op);
      finishStoreBefore(b, store, count);
      return true;
    }
    auto ifOp = dyn_cast<scf::IfOp>(op);
    if (!ifOp || ifOp.getElseRegion().empty() ||
        !finishAfterFirstProduct(b, *ifOp.thenBlock(), store))
      continue;
    b.setInsertionPointToStart(ifOp.elseBlock());
    finishStoreBefore(b, store, count);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Fills of Q
//===----------------------------------------------------------------------===//

/// Finds `block`'s first fill from `op` on, in the block or below, and puts copies of `ops` behind
/// it; in an alternative without fills, to its beginning. Returns false, and changes nothing, where
/// a loop may come to no fill.
static bool copyBehindFirstFill(Operation *op, ArrayRef<Operation *> ops) {
  auto copyTo = [&](OpBuilder b) {
    for (Operation *copied : ops)
      b.clone(*copied);
    return true;
  };
  for (; op; op = op->getNextNode()) {
    if (isa<PipeCommitOp>(op))
      return copyTo(OpBuilder(op->getBlock(), std::next(op->getIterator())));
    if (!op->walk([](PipeCommitOp) { return WalkResult::interrupt(); }).wasInterrupted())
      continue;
    auto ifOp = dyn_cast<scf::IfOp>(op);
    if (!ifOp || ifOp.getElseRegion().empty() ||
        !copyBehindFirstFill(&ifOp.thenBlock()->front(), ops))
      return false;
    Block *other = ifOp.elseBlock();
    return copyBehindFirstFill(&other->front(), ops) || copyTo(OpBuilder::atBlockBegin(other));
  }
  return false;
}

/// Lets the fills of all parts of a Q tile but the first follow the first fill of keys. One that
/// waits for the store of the tile before holds up no warpgroup then: those before it have the keys
/// that they need for the product that they finish their store behind.
static bool fillPartsBehindKeys(RolesOp roles, Value pipe) {
  Operation *first = nullptr;
  SmallVector<Operation *> rest;
  unsigned fills = 0;
  roles.getProducer().walk([&](Operation *op) {
    if (!isa<PipeAcquireOp, CopyTileOp, PipeCommitOp>(op) ||
        !llvm::is_contained(op->getOperands(), pipe))
      return;
    fills += isa<PipeAcquireOp>(op);
    if (fills > 1)
      rest.push_back(op);
    else
      first = op;
  });
  if (rest.empty() || rest.back()->getBlock() != first->getBlock() ||
      !copyBehindFirstFill(rest.back()->getNextNode(), rest))
    return false;
  for (Operation *op : llvm::reverse(rest))
    op->erase();
  return true;
}

/// Makes sure that the next tile's first product can start before the store is done, and returns
/// false where it cannot: its Q must have room, and no fill that it needs may come behind one that
/// waits for the store, so that fills may move.
static bool makeRoom(StoreThroughPipe &store) {
  PipeType pipe = cast<PipeType>(store.pipe().getType());
  return pipe.getStages() >= 2 * pipe.getParts() ||
         (pipe.getStages() > pipe.getParts() &&
          fillPartsBehindKeys(store.tiles->getParentOfType<RolesOp>(), store.pipe()));
}

static void overlapStore(StoreThroughPipe store) {
  OpBuilder b(store.tiles);
  if (!makeRoom(store) || !finishAfterFirstProduct(b, *store.wait->getBlock(), store))
    return;
  b.setInsertionPointAfter(store.tiles);
  finishStoreBefore(b, store, store.counter.last, /*release=*/false);
  store.release.erase();
  store.wait.erase();
}

namespace {

struct OverlapStores : attn::impl::AttnOverlapStoresBase<OverlapStores> {
  void runOnOperation() override {
    SmallVector<StoreThroughPipe> stores;
    getOperation().walk([&](RolesOp roles) {
      roles.getConsumer().walk([&](BulkStoreWaitOp wait) {
        if (std::optional<StoreThroughPipe> store = findStore(wait))
          stores.push_back(*store);
      });
    });
    llvm::for_each(stores, overlapStore);
  }
};

} // namespace
