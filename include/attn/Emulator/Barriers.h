//===- Barriers.h - Named barriers and mbarriers -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_BARRIERS_H
#define ATTN_EMULATOR_BARRIERS_H

#include "attn/Emulator/Async.h"
#include "attn/Emulator/VectorClock.h"

#include <llvm/ADT/DenseMap.h>

#include <optional>

namespace attn::emu {

class Cluster;

/// One of a CTA's sixteen barriers (barrier.sync.aligned, barrier.arrive.aligned).
class NamedBarrier {
public:
  explicit NamedBarrier(unsigned id) : id(id) {}

  /// Waits until `count` threads have come (by sync or arrive) and learns what they knew. All lanes
  /// of a warp must come together.
  void sync(Thread &thread, unsigned count);
  /// Comes without waiting.
  void arrive(Thread &thread, unsigned count) { enter(thread, count); }

private:
  /// Counts a thread in. False: reported.
  bool enter(Thread &thread, unsigned count);
  bool checkAligned(Thread &thread) const;

  unsigned id;
  unsigned expected = 0; ///< 0 while nobody has come.
  const Site *firstSite = nullptr;
  llvm::SmallVector<Thread *, 0> arrived;
  llvm::SmallVector<const Site *, 0> sites;
  uint64_t generation = 0;
  Clocks gathering, released;
};

/// The barrier of all threads of a cluster: each arrives, and waits later.
class ClusterBarrier {
public:
  /// barrier.cluster.arrive; `release` passes on what the thread knows, not (.relaxed) just
  /// mbarriers that it has fenced.
  void arrive(Thread &thread, bool release);
  /// barrier.cluster.wait: for all threads that have not ended.
  void wait(Thread &thread);
  /// A thread has ended: nobody waits for it any more.
  void exited(Thread &thread);

private:
  void advance(Cluster &cluster);
  llvm::DenseMap<Thread *, uint64_t> arrivals; ///< Phase + 1 of each thread's last arrival.
  uint64_t phase = 0;
  unsigned arrived = 0;
  /// Threads that have ended, and those of them that did not arrive in this phase.
  unsigned numExited = 0, absent = 0;
  Clocks gathering, released;
};

/// An mbarrier object in shared memory. Phases are numbered from 0; `parity` of a wait names
/// the phase it waits for by its lowest bit.
class Mbarrier {
public:
  Mbarrier(std::byte *address, unsigned count, Component component, Thread &maker);

  std::byte *const address;
  /// Completes the copies that signal this barrier.
  const Component component;

  /// `arrivals` arrivals, with what the thread knows, after the phase waits for `moreBytes` more
  /// bytes; `drop` lowers the later phases' count.
  void arrive(Thread &thread, unsigned arrivals, bool drop = false, int64_t moreBytes = 0);
  /// The phase waits for that many more bytes.
  void expectTx(Thread &thread, int64_t numBytes);
  /// An ordinary instruction delivers bytes.
  void completeTx(Thread &thread, int64_t numBytes);

  /// An operation will signal this barrier when it lands, or an arrival in its name will.
  void announce(AsyncOpPtr op) { onTheirWay.push_back(std::move(op)); }
  /// An announced copy has landed and delivers bytes. It completes with the phase. Negative pending
  /// bytes are legal: the expectation may come later.
  void deliver(int64_t numBytes, const AsyncOpPtr &op);
  /// An announced arrival that no thread makes (cp.async.mbarrier.arrive), after copies that
  /// complete with the phase.
  void arriveAsync(const AsyncOp &arrival, const Clocks &knowledge,
                   llvm::ArrayRef<AsyncOpPtr> copies);
  /// A later arrival will come from a copy: raises the pending count of this phase.
  void addPending(Thread &thread);

  /// Whether the phase of that parity is over.
  bool isComplete(unsigned parity) const { return (completedPhases & 1) != (parity & 1); }
  /// Learns what the arrivals of the completed phases knew; after a wait that succeeded.
  void acquire(Thread &thread) const;
  /// Blocks until the phase of that parity is over, then acquires.
  void wait(Thread &thread, unsigned parity);

  /// The state that arrive returns: the phase and the pending count.
  uint64_t state() const { return completedPhases << 32 | pending; }
  /// Whether the phase in which a state was taken is over.
  bool isStateComplete(uint64_t state) const { return completedPhases > state >> 32; }

private:
  friend class MbarrierUnit;
  struct Use {
    uint32_t epoch = 0;
    const Site *site = nullptr;
  };
  void advance();
  /// Changes what the phase waits for. False: out of a barrier's range; says why, or reports.
  bool addBytes(int64_t numBytes, std::string &fault);
  bool addBytes(Thread &thread, int64_t numBytes);
  /// An operation that signals this barrier and of whose end `known` does not tell; null for none.
  const AsyncOp *findUnawaited(const VectorClock &known) const;

  unsigned count, pending;
  int64_t bytes = 0;
  uint64_t completedPhases = 0;
  const Component initComponent; ///< Who initialized it,
  const uint32_t initEpoch;      ///< and when: users must be ordered after.
  const Site *const initSite;
  /// The fence.mbarrier_init of its maker: who knows of that knows of the init, and so does the
  /// async proxy.
  std::optional<Component> fence;
  std::vector<AsyncOpPtr> onTheirWay, landed;
  AsyncOpPtr lastCopy;                 ///< Of the newest completed phase that had copies,
  uint32_t lastCopyPhase = 0;          ///< which is this one, counted from 1.
  llvm::DenseMap<Component, Use> uses; ///< The latest of each thread.
  Clocks gathering, released;
};

/// The mbarriers of a cluster.
class MbarrierUnit {
public:
  explicit MbarrierUnit(Cluster &cluster) : cluster(cluster) {}

  /// mbarrier.init. Reports bad counts, misalignment, and a barrier that is already there.
  void init(Thread &thread, void *address, unsigned count);
  /// fence.mbarrier_init: copies may signal the barriers that the thread has initialized.
  void fenceInits(Thread &thread);
  /// mbarrier.inval. Reports uses and copies that may come later.
  void invalidate(Thread &thread, void *address);
  /// The barrier that a thread uses; null after a report (none there, or its init does not
  /// happen before). `proxy` Async: a copy will signal it, so its init must be fenced.
  Mbarrier *find(Thread &thread, void *address, Proxy proxy = Proxy::Generic);

private:
  Cluster &cluster;
  llvm::DenseMap<std::byte *, std::unique_ptr<Mbarrier>> barriers;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_BARRIERS_H
