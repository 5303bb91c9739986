//===- Machine.h - Threads, warps, CTAs and clusters of a launch -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine that instructions act on. GPU threads are fibers of one host thread: a thread
// runs until it blocks, so semantics need no locks.
//
// Addresses: a cluster has one region of 4 GiB, aligned to 4 GiB. The shared memory of the CTA
// with rank r starts at region + r * 16 MiB + 1024. So the low 32 bits of a host pointer are
// the shared::cluster address (of 18 bits within a CTA, as matrix descriptors want it). Pointers to
// global memory are host pointers.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_MACHINE_H
#define ATTN_EMULATOR_MACHINE_H

#include "attn/Emulator/Async.h"
#include "attn/Emulator/Barriers.h"
#include "attn/Emulator/GlobalMemory.h"
#include "attn/Emulator/Instruction.h"
#include "attn/Emulator/Report.h"
#include "attn/Emulator/SharedMemory.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/Twine.h>

namespace attn::emu {

class Cta;
class Launch;
class Listener;
class ProductTable;
struct Fiber;

inline constexpr unsigned kLanes = 32;
inline constexpr unsigned kWarpgroupThreads = 128;
/// Distance of the shared memories of a cluster's CTAs, and where each begins.
inline constexpr size_t kCtaWindow = size_t(16) << 20;
inline constexpr size_t kSharedStart = 1024;

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// What compiled code reads through its hidden first argument.
struct ThreadHeader {
  std::byte *sharedBase = nullptr; ///< Shared memory of the thread's CTA.
  std::byte *region = nullptr;     ///< Of the cluster: or'ed to 32-bit shared addresses.
};

class Thread : public ThreadHeader {
public:
  Thread(Cta &cta, unsigned index, Component component);

  /// Rank in the CTA; lane in the warp.
  unsigned index() const { return number; }
  unsigned lane() const { return number % kLanes; }
  Dim3 threadIdx() const;
  Cta &cta() const { return *block_; }
  Cluster &cluster() const;
  Launch &launch() const { return *launch_; }
  Warp &warp() const;
  Warpgroup &warpgroup() const;
  /// The op that the thread executes.
  const Site &site() const { return *currentSite; }

  // --- Order ---
  Clocks clocks;
  /// What relaxed arrivals pass on: the mbarriers that fence.mbarrier_init has fenced.
  Clocks fencedInits;
  Component component() const { return self; }
  uint32_t epoch() const { return clocks.order[self]; }
  /// After others may have learned what this thread knows: later accesses are a new epoch.
  void tick();
  /// fence.proxy.async: what this thread knows becomes visible to the async proxy.
  void fenceProxy();
  /// This thread's next access, as shared memory wants it.
  Accessor accessor(Proxy proxy = Proxy::Generic);

  // --- Memory ---
  /// Checks an access of any address space and remembers it. `alignment` is the address's, in
  /// bytes. False: reported.
  /// `value` is what a store writes, if known.
  bool access(AccessKind kind, const void *address, size_t bytes, size_t alignment = 1,
              const std::byte *value = nullptr);
  /// The same for the bytes of global memory that an asynchronous operation moves.
  bool accessGlobal(AccessKind kind, const void *address, size_t bytes, size_t alignment = 1);
  /// Bytes on this thread's stack that are the program's own (llvm.alloca).
  void addLocal(const std::byte *begin, size_t bytes) { locals.push_back({begin, begin + bytes}); }
  /// The shared memory (of this CTA or its cluster) that holds an address; null after a
  /// report.
  SharedMemory *sharedAt(const void *address);
  /// The same for instructions that reach this CTA's shared memory alone.
  SharedMemory *ownSharedAt(const void *address);

  AsyncGroups copies;     ///< cp.async.
  AsyncGroups bulkCopies; ///< cp.async.bulk groups (stores and reductions).
  /// Completes operations that this thread waited for: they are its accesses now.
  void complete(llvm::ArrayRef<AsyncOpPtr> ops);

  // --- Control ---
  /// Who watches the launch; null for nobody.
  Listener *listener() const;
  /// Stops the launch with a report. The message gets kind, location and thread in front.
  void report(ReportKind kind, const llvm::Twine &message) { reportAt(site(), kind, message); }
  /// The same for what another op of this thread's has begun.
  void reportAt(const Site &at, ReportKind kind, const llvm::Twine &message);
  /// Lets others run until `ready` holds. `what` says what the thread waits for, for deadlock
  /// reports: "phase 3 of the mbarrier at shared offset 0x40 (1 arrival, 4096 bytes pending)".
  void block(llvm::function_ref<bool()> ready, llvm::function_ref<std::string()> what);
  /// Lets others run once; for polling instructions that found nothing.
  void yield();
  /// "CTA 3, warp 1, lane 7 (thread 39)".
  std::string text() const;

private:
  friend class Scheduler;
  friend class Launch;
  friend class CollectiveUnit;
  bool isLocal(const void *address, size_t bytes) const;
  enum class State : uint8_t { Ready, Blocked, Collective, Exited };
  /// Runs others until this thread is ready again; never returns once the launch is stopped.
  void suspend();

  Cta *block_;
  Launch *launch_;
  unsigned number;
  Component self;
  State state = State::Ready;
  bool polls = false; ///< Has yielded and found nothing since somebody made progress.
  const Site *currentSite = nullptr;
  Fiber *fiber = nullptr;
  llvm::SmallVector<std::pair<const std::byte *, const std::byte *>, 0> locals;
  const llvm::function_ref<bool()> *ready = nullptr;
  const llvm::function_ref<std::string()> *waitsFor = nullptr;
};

/// Threads that execute collective instructions together: the lanes of a warp, or the threads
/// of a warpgroup. The last one that comes executes for all.
class CollectiveUnit {
public:
  using Execute = llvm::function_ref<void(llvm::ArrayRef<Lane>)>;

  /// A lane comes with its operands. `members` has a flag for each of the unit's lanes.
  void arrive(Thread &thread, unsigned lane, const llvm::BitVector &members, const std::byte *args,
              std::byte *results, Execute execute);
  /// A lane's thread has ended: others must not wait for it.
  void exited(Thread &thread, unsigned lane, unsigned numLanes);

private:
  struct Meeting {
    const Site *site = nullptr;
    llvm::BitVector members;
    llvm::SmallVector<Lane, kLanes> lanes;
    unsigned missing = 0;
  };
  Meeting *open(Thread &thread, const llvm::BitVector &members);
  void reportElsewhere(Thread &thread, const Meeting &meeting);

  llvm::SmallVector<std::unique_ptr<Meeting>, 1> meetings, spare;
  llvm::BitVector gone;
};

/// 32 threads.
class Warp {
public:
  Warp(Cta &cta, unsigned index, Component component) : cta(cta), index(index), self(component) {}

  Cta &cta;
  const unsigned index; ///< In the CTA.
  Thread &thread(unsigned lane) const;
  /// Lanes that exist: fewer than 32 in the last warp of an odd CTA.
  unsigned numLanes() const;

  /// An access that the whole warp makes for one of its lanes (ldmatrix): checked against what
  /// that lane knows; any lane's later release orders it.
  Accessor accessor(Thread &lane, const Site &site);
  /// All of `lanes` learn what any of them knew (bar.warp.sync).
  void synchronize(llvm::ArrayRef<Lane> lanes);

  CollectiveUnit collectives;

private:
  friend class Thread;
  Component self;
  uint32_t epoch = 0;
  bool stale = true; ///< A lane has released since the epoch began.
};

/// 128 threads: four warps.
class Warpgroup {
public:
  Warpgroup(Cta &cta, unsigned index, Component component)
      : cta(cta), index(index), self(component) {}

  Cta &cta;
  const unsigned index; ///< In the CTA.
  Thread &thread(unsigned i) const;
  unsigned numThreads() const;

  /// What all 128 threads know: the clocks to check an operation of the group with.
  Clocks meet() const;
  /// Accesses of the group, checked with `clocks` (which must outlive the accessor); `issuer`
  /// is whom reports name.
  Accessor accessor(Thread &issuer, const Site &site, const Clocks &clocks, Proxy proxy);
  /// Completes operations that the group waited for: any thread's later release orders them.
  void complete(llvm::ArrayRef<AsyncOpPtr> ops);

  AsyncGroups wgmmas;
  std::shared_ptr<ProductTable> products; ///< What its wgmmas computed; see Products.h there.
  /// State of the register rules of wgmma: whether a wgmma.fence came since the last wait.
  bool fenced = false;
  /// Registers of each thread, once setmaxnreg has said so; 0 before.
  unsigned registers = 0;

  CollectiveUnit collectives;

private:
  friend class Thread;
  uint32_t publish();
  Component self;
  uint32_t epoch = 0;
  bool stale = true;
};

/// One CTA.
class Cta {
public:
  Cta(Cluster &cluster, Dim3 blockIdx, unsigned rank, std::byte *window, size_t sharedBytes,
      unsigned numThreads);

  Cluster &cluster;
  const Dim3 blockIdx;
  const unsigned rank; ///< In the cluster.
  SharedMemory memory;
  std::vector<Thread> threads;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups;
  std::vector<NamedBarrier> barriers;
  uint64_t freeRegisters = 0; ///< That warpgroups have given back (setmaxnreg).

  /// A thread has returned; with the last one the CTA has ended (CtaEnd.cpp says what it must not
  /// leave behind).
  void threadExited();
  bool hasEnded() const { return numExited == threads.size(); }
  /// "CTA 3", or "CTA 3,1,0".
  std::string text() const;

private:
  void checkEnd();
  size_t numExited = 0;
};

/// CTAs that run together; one without clusters.
class Cluster {
public:
  Cluster(Launch &launch, std::byte *region);

  Launch &launch;
  std::byte *const region;
  std::vector<std::unique_ptr<Cta>> ctas;
  MbarrierUnit mbarriers;

  /// The shared memory that holds an address; null when none does.
  SharedMemory *memoryAt(const void *address);
  Component newComponent() { return numComponents++; }
  /// The thread with a component.
  Thread &threadOf(Component component);
  /// barrier.cluster.
  ClusterBarrier barrier;

private:
  Component numComponents = 0;
};

/// Sees what a launch does, for traces. Times are nominal: the listener makes them.
class Listener {
public:
  virtual ~Listener() = default;
  /// A thread has executed a site; what that did was told before.
  virtual void executed(const Thread &thread, const Site &site) {}
  /// A thread enters a loop or goes round it.
  virtual void looped(const Thread &thread, const Site &site) {}
  /// What a thread executes has looked for something that is not there yet.
  virtual void polled(const Thread &thread) {}

  /// An operation's issuer has begun it.
  virtual void issued(const AsyncOp &op) {}
  /// A thread has waited for an operation.
  virtual void awaited(const Thread &thread, const AsyncOp &op) {}
  /// A thread, or an operation that has landed, has come to a barrier in one of its phases.
  virtual void arrived(const Thread &thread, const void *barrier, uint64_t phase) {}
  virtual void signalled(const AsyncOp &op, const void *barrier, uint64_t phase) {}
  /// A thread has waited for the end of a barrier's phase.
  virtual void passed(const Thread &thread, const void *barrier, uint64_t phase) {}
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_MACHINE_H
