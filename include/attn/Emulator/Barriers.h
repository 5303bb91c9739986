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

/// One of a CTA's sixteen barriers (barrier.sync, barrier.arrive).
class NamedBarrier {
public:
  explicit NamedBarrier(unsigned id) : id(id) {}

  /// Waits until `count` threads have come (by sync or arrive) and learns what they knew.
  /// `aligned`: all lanes of a warp must come together.
  void sync(Thread &thread, unsigned count, bool aligned);
  /// Comes without waiting.
  void arrive(Thread &thread, unsigned count, bool aligned);

private:
  /// Counts a thread in. False: reported.
  bool enter(Thread &thread, unsigned count, bool aligned);
  bool checkAligned(Thread &thread) const;

  unsigned id;
  unsigned expected = 0; ///< 0 while nobody has come.
  const Site *firstSite = nullptr;
  bool anyAligned = false;
  llvm::SmallVector<Thread *, 0> arrived;
  llvm::SmallVector<const Site *, 0> sites;
  uint64_t generation = 0;
  Clocks gathering, released;
};

/// The barrier of all threads of a cluster: each arrives, and waits later.
class ClusterBarrier {
public:
  /// barrier.cluster.arrive; `release` passes on what the thread knows (not .relaxed).
  void arrive(Thread &thread, bool release);
  /// barrier.cluster.wait.
  void wait(Thread &thread);

private:
  llvm::DenseMap<Thread *, uint64_t> arrivals; ///< Phase + 1 of each thread's last arrival.
  uint64_t phase = 0;
  unsigned arrived = 0;
  Clocks gathering, released;
};

/// An mbarrier object in shared memory. Phases are numbered from 0; `parity` of a wait names
/// the phase it waits for by its lowest bit.
class Mbarrier {
public:
  Mbarrier(std::byte *address, unsigned count, Component component)
      : address(address), component(component), count(count), pending(count) {}

  std::byte *const address;
  /// Completes the copies that signal this barrier.
  const Component component;

  uint64_t phase() const { return completedPhases; }
  unsigned pendingArrivals() const { return pending; }
  int64_t pendingBytes() const { return bytes; }

  /// `arrivals` arrivals, with what the thread knows; `drop` lowers the later phases' count.
  void arrive(Thread &thread, unsigned arrivals, bool drop = false);
  /// The phase waits for that many more bytes.
  void expectTx(Thread &thread, int64_t numBytes);
  /// A copy delivered bytes (from an AsyncOp's move()). The operation completes with the
  /// phase. Negative pending bytes are legal: the expectation may come later.
  void completeTx(int64_t numBytes, AsyncOpPtr op);
  /// An arrival that no thread makes (cp.async.mbarrier.arrive, tcgen05.commit).
  void arriveAsync(const Clocks &knowledge, unsigned arrivals);
  /// A later arrival will come from a copy: raises the pending count of this phase.
  void addPending(unsigned arrivals) { pending += arrivals; }

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
  void advance();

  unsigned count, pending;
  int64_t bytes = 0;
  uint64_t completedPhases = 0;
  Component initComponent = 0; ///< Who initialized it,
  uint32_t initEpoch = 0;      ///< and when: users must be ordered after.
  const Site *initSite = nullptr;
  std::vector<AsyncOpPtr> landed;
  Clocks gathering, released;
};

/// The mbarriers of a cluster.
class MbarrierUnit {
public:
  explicit MbarrierUnit(Cluster &cluster) : cluster(cluster) {}

  /// mbarrier.init. Reports bad counts, misalignment, and a barrier that is already there.
  Mbarrier *init(Thread &thread, void *address, unsigned count);
  /// mbarrier.inval. False: reported.
  bool invalidate(Thread &thread, void *address);
  /// The barrier that a thread uses; null after a report (none there, or its init does not
  /// happen before). `proxy` Async: a copy will signal it, so its init must be fenced.
  Mbarrier *find(Thread &thread, void *address, Proxy proxy = Proxy::Generic);

  /// Whether some barrier lies in these bytes; ordinary accesses to them are misuse.
  const Mbarrier *overlapping(const void *address, size_t numBytes) const;

private:
  Cluster &cluster;
  llvm::DenseMap<std::byte *, std::unique_ptr<Mbarrier>> barriers;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_BARRIERS_H
