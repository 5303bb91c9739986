//===- StartProducts.cpp - Products that run beside other work ------------===//
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
#define GEN_PASS_DEF_ATTNSTARTPRODUCTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// The op of `block` in which `op` stands, or null.
static Operation *ancestorIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

/// The first op of the block that reads the value.
static Operation *firstReader(Value value, Block *block) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *op = ancestorIn(block, user);
    if (op && (!first || op->isBeforeInBlock(first)))
      first = op;
  }
  return first;
}

static bool isZero(Value acc) {
  auto fill = acc.getDefiningOp<FillOp>();
  return fill && fill.getValue().isZero() && !fill.getValue().isNegative();
}

/// Matrices of accumulators that are there when `wait` begins and are read after it. Passing
/// them through keeps what reads them below the wait, where hardware has time for it.
static SmallVector<Value> readyTiles(Operation *wait, Operation *start) {
  SmallVector<Value> ready;
  for (Operation *op = start->getNextNode(); op != wait; op = op->getNextNode())
    for (Value result : op->getResults()) {
      auto tile = dyn_cast<TileType>(result.getType());
      if (!tile || tile.getRank() != 2 || !tile.getElementType().isF32())
        continue;
      bool readLater = llvm::any_of(result.getUsers(), [&](Operation *user) {
        Operation *reader = ancestorIn(wait->getBlock(), user);
        return reader && wait->isBeforeInBlock(reader);
      });
      if (readLater)
        ready.push_back(result);
    }
  return ready;
}

static void startProducts(Block &block) {
  SmallVector<MmaStartOp> started;
  for (TileMmaOp mma : llvm::make_early_inc_range(block.getOps<TileMmaOp>())) {
    OpBuilder b(mma);
    Value acc = isZero(mma.getAcc()) ? Value() : Value(mma.getAcc());
    auto type = InFlightType::get(b.getContext(), mma.getResult().getType());
    auto start =
        MmaStartOp::create(b, mma.getLoc(), type, mma.getA(), mma.getB(), acc, mma.getTransposeB());
    Operation *reader = firstReader(mma.getResult(), &block);
    if (!reader) {
      mma.erase();
      start.erase();
      continue;
    }
    started.push_back(start);
    // Only later products are in flight at the wait: groups end in the order of their starts.
    b.setInsertionPoint(reader);
    auto wait = MmaWaitOp::create(b, mma.getLoc(), TypeRange{mma.getResult().getType()},
                                  ValueRange{start.getResult()}, /*pending=*/0);
    mma.getResult().replaceAllUsesWith(wait.getResult(0));
    mma.erase();
  }

  for (MmaStartOp start : started) {
    auto wait = cast<MmaWaitOp>(*start.getResult().user_begin());
    int64_t pending = llvm::count_if(started, [&](MmaStartOp other) {
      return start->isBeforeInBlock(other) && other->isBeforeInBlock(wait) &&
             wait->isBeforeInBlock(*other.getResult().user_begin());
    });
    wait.setPending(pending);
    SmallVector<Value> ready = readyTiles(wait, start);
    if (ready.empty())
      continue;
    OpBuilder b(wait);
    SmallVector<Value> products(wait.getProducts());
    SmallVector<Type> types(wait.getResultTypes());
    for (Value tile : ready) {
      products.push_back(tile);
      types.push_back(tile.getType());
    }
    auto wider = MmaWaitOp::create(b, wait.getLoc(), types, products, pending);
    wait.getResult(0).replaceAllUsesWith(wider.getResult(0));
    for (auto [tile, tied] : llvm::zip(ready, wider.getResults().drop_front()))
      tile.replaceUsesWithIf(tied, [&](OpOperand &use) {
        Operation *user = ancestorIn(&block, use.getOwner());
        return user && wider->isBeforeInBlock(user);
      });
    wait.erase();
  }
}

namespace {

struct StartProducts : attn::impl::AttnStartProductsBase<StartProducts> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForallOp forall) {
      if (!wgmmaSchedule(forall))
        return;
      SmallVector<Block *> blocks;
      forall.walk([&](Block *block) { blocks.push_back(block); });
      for (Block *block : blocks)
        startProducts(*block);
    });
  }
};

} // namespace
