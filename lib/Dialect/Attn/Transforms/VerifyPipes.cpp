//===- VerifyPipes.cpp - Checks the protocol of pipes ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/TypeSwitch.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNVERIFYPIPES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

//===----------------------------------------------------------------------===//
// Fills: acquire, copy, commit
//===----------------------------------------------------------------------===//

/// A stage of a pipe between its acquire and its commit.
struct Fill {
  PipeAcquireOp acquire;
  CopyTileOp copy; ///< The last one; null while there is none.
};

static InFlightDiagnostic expectCommit(Fill fill) {
  Operation *culprit = fill.copy ? fill.copy.getOperation() : fill.acquire.getOperation();
  return culprit->emitOpError() << "expected attn.pipe_commit of its pipe after it";
}

static LogicalResult verifyCopy(CopyTileOp copy, llvm::MapVector<Value, Fill> &fills) {
  auto fill = fills.find(copy.getPipe());
  if (fill != fills.end() && fill->second.acquire.getIteration() == copy.getIteration()) {
    fill->second.copy = copy;
    return success();
  }
  InFlightDiagnostic diag = copy.emitOpError()
                            << "expected attn.pipe_acquire of the same iteration before it";
  if (fill != fills.end())
    diag.attachNote(fill->second.acquire.getLoc()) << "the nearest acquire is of another iteration";
  return diag;
}

/// Every fill begins and ends in one block. A copy may sit in a conditional of its own: those that
/// the conditional's blocks have no acquire for are left to the block around it, as `unclaimed`.
static LogicalResult verifyFills(Block &block, SmallVectorImpl<CopyTileOp> &unclaimed) {
  llvm::MapVector<Value, Fill> fills;
  bool isConditional = isa<scf::IfOp>(block.getParentOp());
  for (Operation &op : block) {
    SmallVector<CopyTileOp> copies;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (failed(verifyFills(inner, copies)))
          return failure();
    if (auto copy = dyn_cast<CopyTileOp>(op))
      copies.push_back(copy);
    for (CopyTileOp copy : copies) {
      if (isConditional && !fills.contains(copy.getPipe()))
        unclaimed.push_back(copy);
      else if (failed(verifyCopy(copy, fills)))
        return failure();
    }
    if (auto acquire = dyn_cast<PipeAcquireOp>(op)) {
      auto [fill, isNew] = fills.insert({acquire.getPipe(), {acquire, {}}});
      if (!isNew) {
        expectCommit(fill->second).attachNote(acquire.getLoc()) << "the next acquire is here";
        return failure();
      }
    } else if (auto commit = dyn_cast<PipeCommitOp>(op)) {
      auto fill = fills.find(commit.getPipe());
      if (fill == fills.end() || !fill->second.copy)
        return commit.emitOpError() << "expected attn.pipe_acquire and attn.copy_tile of its pipe "
                                       "before it";
      fills.erase(fill);
    }
  }
  if (!fills.empty())
    return expectCommit(fills.front().second);
  return success();
}

//===----------------------------------------------------------------------===//
// Reads: wait, release
//===----------------------------------------------------------------------===//

/// A tile that a wait gave, until the release of its stage.
struct Read {
  Operation *wait;
  Value pipe, iteration, tile;
};

static std::optional<Read> readOf(Operation *op) {
  if (auto wait = dyn_cast<PipeWaitOp>(op))
    return Read{op, wait.getPipe(), wait.getIteration(), wait.getTile()};
  if (auto tile = dyn_cast<PipeTileOp>(op))
    return Read{op, tile.getPipe(), tile.getIteration(), tile.getResult()};
  return std::nullopt;
}

static bool waitsForStore(Operation *user) { return isa<BulkStoreWaitOp>(user); }

/// attn-overlap-stores leaves the wait for the store of a tile, and the release of the stage that
/// it goes through, to the next round. The last round's is only waited for.
static bool isReleasedElsewhere(const Read &read) {
  auto users = read.tile.getUsers();
  if (isa<PipeTileOp>(read.wait) && !users.empty() && llvm::all_of(users, waitsForStore))
    return !read.wait->getParentOfType<scf::ForOp>() &&
           !read.wait->getParentOfType<scf::WhileOp>() &&
           read.wait->getBlock()->getOps<PipeReleaseOp>().empty();
  return llvm::any_of(users, llvm::IsaPred<BulkStoreOp>) && llvm::none_of(users, waitsForStore) &&
         llvm::any_of(read.pipe.getUsers(), [](Operation *user) {
           return isa<PipeTileOp>(user) && llvm::any_of(user->getUsers(), waitsForStore);
         });
}

/// attn-trim-pipes leaves out the releases of a pipe between roles of which no fill waits.
static bool needsRelease(Value pipe) {
  auto create = pipe.getDefiningOp<PipeCreateOp>();
  if (!create || !create.getReaders())
    return true;
  return llvm::any_of(pipe.getUsers(), [](Operation *user) {
    auto acquire = dyn_cast<PipeAcquireOp>(user);
    return isa<PipeReleaseOp>(user) || (acquire && !acquire.getSynced());
  });
}

static LogicalResult verifyLastUse(const Read &read, PipeReleaseOp release) {
  if (isa<PipeTileOp>(read.wait) && read.tile.use_empty())
    return release.emitOpError() << "expected what is done with the stage's tile before it";
  auto users = read.tile.getUsers();
  if (llvm::any_of(users, llvm::IsaPred<BulkStoreOp>) && llvm::none_of(users, waitsForStore))
    return release.emitOpError() << "expected attn.bulk_store_wait of the stage's tile before it, "
                                    "through which attn.bulk_store goes";
  for (Operation *user : read.tile.getUsers()) {
    Operation *use = release->getBlock()->findAncestorOpInBlock(*user);
    if (use && release->isBeforeInBlock(use)) {
      InFlightDiagnostic diag = user->emitOpError()
                                << "expected no use of a tile of a pipe after its release";
      diag.attachNote(release.getLoc()) << "released here";
      return diag;
    }
  }
  return success();
}

/// The stage of every tile is released in the block that waited for it, after the last use.
static LogicalResult verifyReads(Block &block) {
  SmallVector<Read> reads;
  for (Operation &op : block) {
    if (std::optional<Read> read = readOf(&op);
        read && needsRelease(read->pipe) && !isReleasedElsewhere(*read))
      reads.push_back(*read);
    auto release = dyn_cast<PipeReleaseOp>(op);
    if (!release)
      continue;
    auto *read = llvm::find_if(reads, [&](const Read &candidate) {
      return candidate.pipe == release.getPipe() && candidate.iteration == release.getIteration();
    });
    if (read == reads.end())
      return release.emitOpError() << "expected attn.pipe_wait of the same iteration before it";
    if (failed(verifyLastUse(*read, release)))
      return failure();
    reads.erase(read);
  }
  if (!reads.empty())
    return reads.front().wait->emitOpError()
           << "expected attn.pipe_release of the same iteration after the last use of its tile";
  return success();
}

static LogicalResult verifyPipe(PipeCreateOp create) {
  bool filled = false, read = false;
  for (Operation *user : create.getPipe().getUsers()) {
    filled |= isa<CopyTileOp>(user);
    read |= isa<PipeWaitOp, PipeTileOp>(user);
  }
  if (filled != read)
    return create.emitOpError() << (filled ? "is filled but never waited for"
                                           : "is waited for but never filled");
  return success();
}

static LogicalResult verifyMailbox(MailboxCreateOp create) {
  bool written = false, read = false;
  for (Operation *user : create.getMailbox().getUsers()) {
    written |= isa<MailboxPutOp, MailboxPassOp>(user);
    read |= isa<MailboxGetOp, MailboxPassOp>(user);
  }
  if (written != read)
    return create.emitOpError() << (written ? "is written but never read"
                                            : "is read but never written");
  return success();
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// Who takes the turn passes it on, in the same block.
static LogicalResult verifyTurns(Block &block) {
  TurnWaitOp taken;
  auto expectPass = [&] {
    return taken.emitOpError() << "expected attn.turn_pass after it, before the next wait";
  };
  for (Operation &op : block) {
    if (auto wait = dyn_cast<TurnWaitOp>(op)) {
      if (taken)
        return expectPass();
      taken = wait;
    } else if (auto pass = dyn_cast<TurnPassOp>(op)) {
      if (!taken)
        return pass.emitOpError() << "expected attn.turn_wait before it";
      if (pass.getTurns() != taken.getTurns())
        return pass.emitOpError() << "expected the " << taken.getTurns()
                                  << " turns of the wait before it, got " << pass.getTurns();
      taken = {};
    }
  }
  if (taken)
    return expectPass();
  return success();
}

/// Turns are taken between attn.turns_begin and attn.turns_end, which stand in one block.
static LogicalResult verifyTurnsRange(Operation *op, uint64_t turns) {
  for (Block *block = op->getBlock(); block; block = block->getParentOp()->getBlock()) {
    Operation *point = block->findAncestorOpInBlock(*op);
    for (auto begin : block->getOps<TurnsBeginOp>())
      if (begin.getTurns() == turns && begin->isBeforeInBlock(point))
        return success();
  }
  return op->emitOpError() << "expected attn.turns_begin of as many turns before it";
}

static LogicalResult verifyTurnsBegin(TurnsBeginOp begin) {
  for (Operation *op = begin->getNextNode(); op; op = op->getNextNode())
    if (auto end = dyn_cast<TurnsEndOp>(op); end && end.getTurns() == begin.getTurns())
      return success();
  return begin.emitOpError() << "expected attn.turns_end of as many turns after it, in its block";
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult verifyBlock(Block &block) {
  return success(succeeded(verifyReads(block)) && succeeded(verifyTurns(block)));
}

static LogicalResult verifyOp(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(verifyBlock(block)))
        return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<PipeCreateOp>(verifyPipe)
      .Case<MailboxCreateOp>(verifyMailbox)
      .Case<TurnsBeginOp>(verifyTurnsBegin)
      .Case<TurnWaitOp, TurnPassOp, TurnsEndOp>(
          [](auto turn) { return verifyTurnsRange(turn, turn.getTurns()); })
      .Default(success());
}

namespace {

struct VerifyPipes : attn::impl::AttnVerifyPipesBase<VerifyPipes> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    SmallVector<CopyTileOp> unclaimed;
    for (Block &block : func.getBody())
      if (failed(verifyFills(block, unclaimed)))
        return signalPassFailure();
    auto result = func.walk<WalkOrder::PreOrder>([](Operation *op) {
      return failed(verifyOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
