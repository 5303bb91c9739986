//===- Async.h - Asynchronous operations -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An asynchronous operation is issued, lands (moves its data), and completes (its bytes are no
// longer in flight). When it lands is the adversary's choice between issue and the wait that
// needs it (AsyncMode); completing is the business of the wait or of the mbarrier.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_ASYNC_H
#define ATTN_EMULATOR_ASYNC_H

#include "attn/Emulator/Report.h"
#include "attn/Emulator/SharedMemory.h"

#include <llvm/ADT/FunctionExtras.h>
#include <llvm/ADT/Twine.h>

#include <deque>
#include <memory>
#include <random>

namespace attn::emu {

/// When the data of asynchronous operations lands: at issue; as late as a wait allows; or
/// anywhere between, by a seed.
enum class AsyncMode { Early, Late, Random };

/// One operation. Made with std::make_shared, so that groups, barriers and the engine share it.
class AsyncOp {
public:
  AsyncOp(const Site &site, Thread &issuer) : site(site), issuer(issuer) {}

  const Site &site;
  Thread &issuer;

  /// Marks bytes as in flight, with the checks of SharedMemory::begin. False: reported.
  bool begin(SharedMemory &memory, const Accessor &accessor, AccessKind kind, const void *address,
             size_t bytes, size_t alignment);

  /// Moves the data, the first time it is called. What it moves was checked at issue.
  void land();
  bool hasLanded() const { return landed; }
  /// Ends the flight: the accesses are a component's now. Lands first.
  void complete(Component component, uint32_t epoch);
  bool isComplete() const { return completed; }

  /// Stops the launch, in the name of the op and the thread that issued this.
  void report(ReportKind kind, const llvm::Twine &message) const;

  /// Set before AsyncEngine::issue. Must not block; reports through report().
  llvm::unique_function<void()> move;

private:
  struct Flight {
    SharedMemory *memory;
    uint32_t record;
  };
  llvm::SmallVector<Flight, 2> flights;
  bool landed = false, completed = false;
};
using AsyncOpPtr = std::shared_ptr<AsyncOp>;

/// Decides when operations land.
class AsyncEngine {
public:
  AsyncEngine(AsyncMode mode, uint64_t seed) : mode(mode), random(seed) {}

  /// Takes an operation whose bytes are marked. `wakes` says that landing may let a waiting
  /// thread go on (a copy that signals an mbarrier): such operations land by themselves when
  /// nobody can run; the others at the latest when they are waited for.
  void issue(AsyncOpPtr op, bool wakes);

  /// Nobody can run: lands the oldest operation that wakes somebody, or in random mode any of
  /// them. False when there is none.
  bool landOne();
  /// A point at which random mode may land something.
  void perhapsLand();

  std::mt19937_64 &generator() { return random; }
  AsyncMode getMode() const { return mode; }
  void clear() { pending.clear(); }

private:
  struct Pending {
    AsyncOpPtr op;
    bool wakes;
  };
  void dropLanded();

  AsyncMode mode;
  std::mt19937_64 random;
  std::deque<Pending> pending;
  size_t sweepAt = 1024; ///< How many to keep before those that have landed are dropped.
};

/// Operations in commit groups, waited for by the number of groups that may stay open:
/// cp.async and bulk groups of a thread, wgmma groups of a warpgroup.
class AsyncGroups {
public:
  /// Adds to the group that is not committed yet.
  void add(AsyncOpPtr op) { open.push_back(std::move(op)); }
  void commit();
  /// Takes out all committed groups but the newest `pending`, oldest first; the caller
  /// completes them (Thread::complete, Warpgroup::complete).
  std::vector<AsyncOpPtr> take(size_t pending);
  /// Operations of committed and open groups that are not complete, oldest first. Forgets the
  /// others, which an mbarrier has completed.
  std::vector<AsyncOpPtr> unfinished();

private:
  std::vector<AsyncOpPtr> open;
  std::deque<std::vector<AsyncOpPtr>> groups;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_ASYNC_H
