//===- Barriers.cpp - Named barriers and mbarriers -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Barriers.h"

#include "attn/Emulator/Machine.h"

using namespace attn::emu;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

/// The lanes of a warp have come to an aligned barrier together, by one op.
bool NamedBarrier::checkAligned(Thread &thread) const {
  llvm::SmallVector<unsigned> lanesOf(thread.cta().warps.size());
  llvm::SmallVector<const Site *> siteOf(lanesOf.size());
  for (auto [other, site] : llvm::zip(arrived, sites)) {
    unsigned warp = other->index() / kLanes;
    ++lanesOf[warp];
    if (siteOf[warp] && siteOf[warp] != site) {
      thread.report(ReportKind::DivergentCollective,
                    "lanes of warp " + Twine(warp) + " came to barrier " + Twine(id) + " by " +
                        siteOf[warp]->text() + " and by " + site->text() +
                        "; an aligned barrier is executed by a warp as one");
      return false;
    }
    siteOf[warp] = site;
  }
  for (auto [warp, lanes] : llvm::enumerate(lanesOf))
    if (lanes != 0 && lanes != thread.cta().warps[warp]->numLanes()) {
      thread.report(ReportKind::DivergentCollective,
                    Twine(lanes) + " lanes of warp " + Twine(warp) + " came to barrier " +
                        Twine(id) + "; an aligned barrier is executed by all lanes of a warp");
      return false;
    }
  return true;
}

bool NamedBarrier::enter(Thread &thread, unsigned count, bool aligned) {
  unsigned numThreads = thread.cta().threads.size();
  if (count == 0 || (aligned && count % kLanes != 0 && count != numThreads) || count > numThreads) {
    thread.report(ReportKind::BarrierMisuse,
                  "barrier " + Twine(id) + " for " + Twine(count) +
                      " threads; expected a multiple of 32, at most the CTA's " +
                      Twine(numThreads));
    return false;
  }
  if (expected == 0) {
    expected = count;
    firstSite = &thread.site();
  } else if (expected != count) {
    thread.report(ReportKind::BarrierMisuse, "barrier " + Twine(id) + " for " + Twine(count) +
                                                 " threads, but " + firstSite->text() +
                                                 " waits there for " + Twine(expected));
    return false;
  }
  if (Listener *watcher = thread.listener())
    watcher->arrived(thread, this, generation);
  arrived.push_back(&thread);
  sites.push_back(&thread.site());
  anyAligned |= aligned;
  gathering.join(thread.clocks);
  thread.tick();
  if (arrived.size() < expected)
    return true;
  if (anyAligned && !checkAligned(thread))
    return false;
  released = std::move(gathering);
  gathering.clear();
  arrived.clear();
  sites.clear();
  expected = 0;
  anyAligned = false;
  ++generation;
  return true;
}

void NamedBarrier::arrive(Thread &thread, unsigned count, bool aligned) {
  enter(thread, count, aligned);
}

void NamedBarrier::sync(Thread &thread, unsigned count, bool aligned) {
  uint64_t mine = generation;
  if (!enter(thread, count, aligned))
    return;
  thread.block([&] { return generation != mine; },
               [&] {
                 return "barrier " + std::to_string(id) + ", where " +
                        std::to_string(arrived.size()) + " of " + std::to_string(expected) +
                        " threads are";
               });
  if (Listener *watcher = thread.listener())
    watcher->passed(thread, this, mine);
  thread.clocks.join(released);
}

//===----------------------------------------------------------------------===//
// The barrier of a cluster
//===----------------------------------------------------------------------===//

static unsigned numThreads(const Cluster &cluster) {
  return cluster.ctas.size() * cluster.ctas.front()->threads.size();
}

void ClusterBarrier::arrive(Thread &thread, bool release) {
  uint64_t &last = arrivals[&thread];
  if (last == phase + 1)
    return thread.report(ReportKind::BarrierMisuse,
                         "arrives at the cluster barrier twice without waiting between");
  last = phase + 1;
  if (Listener *watcher = thread.listener())
    watcher->arrived(thread, this, phase);
  if (release) {
    gathering.join(thread.clocks);
    thread.tick();
  }
  if (++arrived < numThreads(thread.cluster()))
    return;
  released = std::move(gathering);
  gathering.clear();
  arrived = 0;
  ++phase;
}

void ClusterBarrier::wait(Thread &thread) {
  uint64_t mine = arrivals.lookup(&thread);
  if (mine == 0)
    return thread.report(ReportKind::BarrierMisuse,
                         "waits at the cluster barrier without having arrived");
  thread.block([&] { return phase >= mine; },
               [&] {
                 return "the cluster barrier, where " + std::to_string(arrived) + " of " +
                        std::to_string(numThreads(thread.cluster())) + " threads are";
               });
  if (Listener *watcher = thread.listener())
    watcher->passed(thread, this, mine - 1);
  thread.clocks.join(released);
}

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

static std::string nameOf(const Thread &thread, const void *address) {
  SharedMemory *memory = thread.cta().cluster.memoryAt(address);
  return "the mbarrier at shared offset " +
         std::to_string(memory ? memory->offsetOf(address) : reinterpret_cast<uintptr_t>(address));
}

/// Ends the phase when nothing is missing.
void Mbarrier::advance() {
  if (pending != 0 || bytes != 0)
    return;
  ++completedPhases;
  pending = count;
  released.join(gathering);
  gathering.clear();
  // Copies become accesses of this phase, which whoever waits for it learns of.
  released.order.set(component, completedPhases);
  released.proxy.set(component, completedPhases);
  for (const AsyncOpPtr &op : landed)
    op->complete(component, completedPhases);
  landed.clear();
}

void Mbarrier::arrive(Thread &thread, unsigned arrivals, bool drop) {
  if (arrivals == 0 || arrivals > pending)
    return thread.report(ReportKind::BarrierMisuse, Twine(arrivals) + " arrivals at " +
                                                        nameOf(thread, address) +
                                                        ", which waits for " + Twine(pending) +
                                                        " in phase " + Twine(completedPhases));
  if (Listener *watcher = thread.listener())
    watcher->arrived(thread, this, completedPhases);
  gathering.join(thread.clocks);
  thread.tick();
  pending -= arrivals;
  if (drop)
    count -= arrivals;
  advance();
}

void Mbarrier::expectTx(Thread &thread, int64_t numBytes) {
  constexpr int64_t kLimit = (1 << 20) - 1;
  bytes += numBytes;
  if (numBytes < 0 || bytes > kLimit)
    return thread.report(ReportKind::BarrierMisuse,
                         "expecting " + Twine(numBytes) + " bytes at " + nameOf(thread, address) +
                             ", which makes " + Twine(bytes) + "; the limit is " + Twine(kLimit));
  advance();
}

void Mbarrier::completeTx(int64_t numBytes, AsyncOpPtr op) {
  bytes -= numBytes;
  if (op) {
    if (Listener *watcher = op->issuer.listener())
      watcher->signalled(*op, this, completedPhases);
    landed.push_back(std::move(op));
  }
  advance();
}

void Mbarrier::arriveAsync(const Clocks &knowledge, unsigned arrivals) {
  gathering.join(knowledge);
  pending -= std::min(pending, arrivals);
  advance();
}

void Mbarrier::acquire(Thread &thread) const {
  if (Listener *watcher = thread.listener(); watcher && completedPhases > 0)
    watcher->passed(thread, this, completedPhases - 1);
  thread.clocks.join(released);
}

void Mbarrier::wait(Thread &thread, unsigned parity) {
  thread.block([&] { return isComplete(parity); },
               [&] {
                 return "phase " + std::to_string(completedPhases) + " (parity " +
                        std::to_string(parity & 1) + ") of " + nameOf(thread, address) +
                        ", where " + std::to_string(pending) + " of " + std::to_string(count) +
                        " arrivals and " + std::to_string(bytes) + " bytes are missing";
               });
  acquire(thread);
}

//===----------------------------------------------------------------------===//
// The mbarriers of a cluster
//===----------------------------------------------------------------------===//

static constexpr size_t kMbarrierBytes = 8;

Mbarrier *MbarrierUnit::init(Thread &thread, void *address, unsigned count) {
  constexpr unsigned kLimit = (1 << 20) - 1;
  if (count == 0 || count > kLimit) {
    thread.report(ReportKind::BarrierMisuse,
                  "an mbarrier for " + Twine(count) + " arrivals; expected 1 to " + Twine(kLimit));
    return nullptr;
  }
  if (const Mbarrier *old = overlapping(address, kMbarrierBytes)) {
    thread.report(ReportKind::BarrierMisuse, "initializing " + nameOf(thread, address) +
                                                 " over the one that " + old->initSite->text() +
                                                 " made; mbarrier.inval ends that one");
    return nullptr;
  }
  if (!thread.access(AccessKind::Write, address, kMbarrierBytes, kMbarrierBytes))
    return nullptr;
  auto *key = static_cast<std::byte *>(address);
  auto barrier = std::make_unique<Mbarrier>(key, count, cluster.newComponent());
  barrier->initComponent = thread.component();
  barrier->initEpoch = thread.epoch();
  barrier->initSite = &thread.site();
  Mbarrier *result = barrier.get();
  barriers[key] = std::move(barrier);
  return result;
}

Mbarrier *MbarrierUnit::find(Thread &thread, void *address, Proxy proxy) {
  auto it = barriers.find(static_cast<std::byte *>(address));
  if (it == barriers.end()) {
    if (thread.sharedAt(address))
      thread.report(ReportKind::BarrierMisuse,
                    "no mbarrier is initialized where it expects " + nameOf(thread, address));
    return nullptr;
  }
  Mbarrier &barrier = *it->second;
  if (thread.clocks.order[barrier.initComponent] < barrier.initEpoch) {
    thread.report(ReportKind::Race, "uses " + nameOf(thread, address) + ", but " +
                                        barrier.initSite->text() +
                                        " is not ordered before by any barrier");
    return nullptr;
  }
  if (proxy == Proxy::Async && thread.clocks.proxy[barrier.initComponent] < barrier.initEpoch) {
    thread.report(ReportKind::MissingProxyFence,
                  "a copy will signal " + nameOf(thread, address) + ", but " +
                      barrier.initSite->text() +
                      " is not followed by fence.mbarrier_init or fence.proxy.async");
    return nullptr;
  }
  return &barrier;
}

bool MbarrierUnit::invalidate(Thread &thread, void *address) {
  if (!find(thread, address))
    return false;
  barriers.erase(static_cast<std::byte *>(address));
  return thread.access(AccessKind::Write, address, kMbarrierBytes, kMbarrierBytes);
}

const Mbarrier *MbarrierUnit::overlapping(const void *address, size_t numBytes) const {
  if (barriers.empty())
    return nullptr;
  auto begin = reinterpret_cast<uintptr_t>(address);
  for (uintptr_t at = begin & ~uintptr_t(7); at < begin + numBytes; at += kMbarrierBytes) {
    auto it = barriers.find(reinterpret_cast<std::byte *>(at));
    if (it != barriers.end())
      return it->second.get();
  }
  return nullptr;
}
