//===- Mbarrier.cpp - mbarriers and their phases --------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Barriers.h"

#include "attn/Emulator/Machine.h"

using namespace attn::emu;
using llvm::Twine;

static constexpr size_t kMbarrierBytes = 8;
/// Most arrivals of a phase, and most bytes that it waits for, or has got too early.
static constexpr int64_t kMbarrierLimit = (1 << 20) - 1;

static std::string nameOf(const Thread &thread, const void *address) {
  SharedMemory *memory = thread.cluster().memoryAt(address);
  return "the mbarrier at shared offset " + std::to_string(memory->offsetOf(address));
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

Mbarrier::Mbarrier(std::byte *address, unsigned count, Component component, Thread &maker)
    : address(address), component(component), count(count), pending(count),
      initComponent(maker.component()), initEpoch(maker.epoch()), initSite(&maker.site()) {}

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
  if (landed.empty())
    return;
  for (const AsyncOpPtr &op : landed)
    op->complete(component, completedPhases);
  lastCopy = landed.back();
  lastCopyPhase = completedPhases;
  landed.clear();
}

bool Mbarrier::addBytes(int64_t numBytes, std::string &fault) {
  bytes += numBytes;
  if (std::abs(bytes) <= kMbarrierLimit)
    return true;
  fault = (numBytes < 0 ? "delivering " : "expecting ") + std::to_string(std::abs(numBytes)) +
          " bytes makes " + std::to_string(std::abs(bytes)) +
          (bytes < 0 ? " that nobody expects" : " that are missing") +
          "; the limit of an mbarrier is " + std::to_string(kMbarrierLimit);
  return false;
}

bool Mbarrier::addBytes(Thread &thread, int64_t numBytes) {
  std::string fault;
  if (addBytes(numBytes, fault))
    return true;
  thread.report(ReportKind::BarrierMisuse, fault);
  return false;
}

void Mbarrier::arrive(Thread &thread, unsigned arrivals, bool drop, int64_t moreBytes) {
  if (arrivals == 0 || arrivals > pending)
    return thread.report(ReportKind::BarrierMisuse, Twine(arrivals) + " arrivals at " +
                                                        nameOf(thread, address) +
                                                        ", which waits for " + Twine(pending) +
                                                        " in phase " + Twine(completedPhases));
  if (!addBytes(thread, moreBytes))
    return;
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
  if (addBytes(thread, numBytes))
    advance();
}

void Mbarrier::completeTx(Thread &thread, int64_t numBytes) {
  if (addBytes(thread, -numBytes))
    advance();
}

void Mbarrier::deliver(int64_t numBytes, const AsyncOpPtr &op) {
  std::string fault;
  if (!addBytes(-numBytes, fault))
    return op->report(ReportKind::BarrierMisuse, fault);
  if (Listener *watcher = op->issuer.listener())
    watcher->signalled(*op, this, completedPhases);
  std::erase(onTheirWay, op);
  landed.push_back(op);
  advance();
}

void Mbarrier::addPending(Thread &thread) {
  if (pending == kMbarrierLimit)
    return thread.report(ReportKind::BarrierMisuse, "one more arrival at " +
                                                        nameOf(thread, address) + " than " +
                                                        Twine(kMbarrierLimit) + ", the limit");
  ++pending;
}

void Mbarrier::arriveAsync(const AsyncOp &arrival, const Clocks &knowledge,
                           llvm::ArrayRef<AsyncOpPtr> copies) {
  if (pending == 0)
    return arrival.report(ReportKind::BarrierMisuse,
                          "arrives at " + nameOf(arrival.issuer, address) +
                              ", which waits for no more arrivals in phase " +
                              Twine(completedPhases));
  for (const AsyncOpPtr &copy : copies) {
    if (Listener *watcher = copy->issuer.listener())
      watcher->signalled(*copy, this, completedPhases);
    landed.push_back(copy);
  }
  std::erase_if(onTheirWay, [&](const AsyncOpPtr &op) { return op.get() == &arrival; });
  gathering.join(knowledge);
  --pending;
  advance();
}

const AsyncOp *Mbarrier::findUnawaited(const VectorClock &known) const {
  if (!onTheirWay.empty())
    return onTheirWay.front().get();
  if (!landed.empty())
    return landed.front().get();
  return lastCopy && known[component] < lastCopyPhase ? lastCopy.get() : nullptr;
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

void MbarrierUnit::init(Thread &thread, void *address, unsigned count) {
  if (count == 0 || count > kMbarrierLimit)
    return thread.report(ReportKind::BarrierMisuse, "an mbarrier for " + Twine(count) +
                                                        " arrivals; expected 1 to " +
                                                        Twine(kMbarrierLimit));
  if (!thread.ownSharedAt(address) ||
      !thread.access(AccessKind::MakeBarrier, address, kMbarrierBytes, kMbarrierBytes))
    return;
  auto *key = static_cast<std::byte *>(address);
  barriers[key] = std::make_unique<Mbarrier>(key, count, cluster.newComponent(), thread);
}

void MbarrierUnit::fenceInits(Thread &thread) {
  for (auto &[address, barrier] : barriers)
    if (barrier->initComponent == thread.component() && !barrier->fence) {
      barrier->fence = cluster.newComponent();
      thread.clocks.order.set(*barrier->fence, 1);
      thread.fencedInits.order.set(*barrier->fence, 1);
    }
}

Mbarrier *MbarrierUnit::find(Thread &thread, void *address, Proxy proxy) {
  SharedMemory *memory = thread.sharedAt(address);
  if (!memory)
    return nullptr;
  auto it = barriers.find(static_cast<std::byte *>(address));
  if (it == barriers.end()) {
    thread.report(ReportKind::BarrierMisuse,
                  "no mbarrier is initialized where it expects " + nameOf(thread, address));
    return nullptr;
  }
  Mbarrier &barrier = *it->second;
  bool isThere = proxy == Proxy::Async ? memory->isThere(thread)
                                       : memory->useFromAfar(thread, thread.site(),
                                                             thread.component(), thread.epoch());
  if (!isThere)
    return nullptr;
  bool knowsFence = barrier.fence && thread.clocks.order[*barrier.fence] != 0;
  if (!knowsFence && thread.clocks.order[barrier.initComponent] < barrier.initEpoch) {
    thread.report(ReportKind::Race, "uses " + nameOf(thread, address) + ", but " +
                                        barrier.initSite->text() +
                                        " is not ordered before by any barrier");
    return nullptr;
  }
  if (proxy == Proxy::Async && !knowsFence &&
      thread.clocks.proxy[barrier.initComponent] < barrier.initEpoch) {
    thread.report(ReportKind::MissingProxyFence,
                  "a copy will signal " + nameOf(thread, address) + ", but " +
                      barrier.initSite->text() +
                      " is not followed by fence.mbarrier_init or fence.proxy.async");
    return nullptr;
  }
  barrier.uses[thread.component()] = {thread.epoch(), &thread.site()};
  return &barrier;
}

void MbarrierUnit::invalidate(Thread &thread, void *address) {
  const Mbarrier *barrier = find(thread, address);
  if (!barrier)
    return;
  const VectorClock &known = thread.clocks.order;
  if (const AsyncOp *op = barrier->findUnawaited(known))
    return thread.report(ReportKind::InFlight, "ends " + nameOf(thread, address) + ", which " +
                                                   op->site.text() + " by " + op->issuer.text() +
                                                   " signals, and this thread has not waited for "
                                                   "that phase");
  for (const auto &[component, use] : barrier->uses)
    if (known[component] < use.epoch)
      return thread.report(ReportKind::Race, "ends " + nameOf(thread, address) + ", but " +
                                                 use.site->text() + " by " +
                                                 cluster.threadOf(component).text() +
                                                 " is not ordered before by any barrier");
  barriers.erase(static_cast<std::byte *>(address));
  thread.access(AccessKind::EndBarrier, address, kMbarrierBytes, kMbarrierBytes);
}
