//===- Machine.cpp - Threads, warps, CTAs and clusters of a launch -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Machine.h"

#include "Fiber.h"
#include "attn/Emulator/Launch.h"

using namespace attn::emu;
using llvm::ArrayRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Thread::Thread(Cta &cta, unsigned index, Component component)
    : block_(&cta), launch_(&cta.cluster.launch), number(index), self(component) {
  sharedBase = cta.memory.data();
  region = cta.cluster.region;
  // Epochs start at 1: nobody knows of a thread's accesses before they synchronize.
  clocks.order.set(self, 1);
  clocks.proxy.set(self, 0);
}

Cluster &Thread::cluster() const { return block_->cluster; }
Listener *Thread::listener() const { return launch().options.listener; }
Warp &Thread::warp() const { return *block_->warps[number / kLanes]; }
Warpgroup &Thread::warpgroup() const { return *block_->warpgroups[number / kWarpgroupThreads]; }

Dim3 Thread::threadIdx() const {
  Dim3 block = launch().shape.block;
  return {number % block.x, number / block.x % block.y, number / block.x / block.y};
}

void Thread::tick() {
  clocks.order.set(self, epoch() + 1);
  warp().stale = true;
  warpgroup().stale = true;
}

void Thread::fenceProxy() {
  clocks.fenceProxy();
  // Later writes of this thread are not fenced.
  tick();
}

Accessor Thread::accessor(Proxy proxy) {
  return {*this, site(), clocks, self, epoch(), proxy, nullptr};
}

bool Thread::access(AccessKind kind, const void *address, size_t bytes, size_t alignment,
                    const std::byte *value) {
  if (SharedMemory *memory = cluster().memoryAt(address)) {
    Accessor storing = accessor();
    storing.value = value;
    return memory->access(storing, kind, address, bytes, alignment);
  }
  return isLocal(address, bytes) || accessGlobal(kind, address, bytes, alignment);
}

bool Thread::isLocal(const void *address, size_t bytes) const {
  auto *first = static_cast<const std::byte *>(address);
  return llvm::any_of(locals, [&](auto local) {
    return first >= local.first && first < local.second &&
           bytes <= static_cast<size_t>(local.second - first);
  });
}

bool Thread::accessGlobal(AccessKind kind, const void *address, size_t bytes, size_t alignment) {
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0) {
    report(ReportKind::Misaligned, "an address that is no multiple of " + Twine(alignment) +
                                       ", at " + launch().memory.describe(address, bytes));
    return false;
  }
  if (launch().memory.contains(address, bytes, kind != AccessKind::Read))
    return true;
  auto inRegion = static_cast<const std::byte *>(address) - region;
  if (inRegion >= 0 && inRegion < ptrdiff_t(1) << 32) {
    report(ReportKind::SharedOutOfBounds,
           Twine(bytes) + " bytes at shared address " + Twine(inRegion) + ", where the CTA has " +
               Twine(block_->memory.size()) + " bytes from " + Twine(sharedBase - region));
    return false;
  }
  report(ReportKind::GlobalOutOfBounds,
         Twine(bytes) + " bytes at " + launch().memory.describe(address, bytes));
  return false;
}

SharedMemory *Thread::sharedAt(const void *address) {
  SharedMemory *memory = cluster().memoryAt(address);
  if (!memory)
    report(ReportKind::SharedOutOfBounds,
           "expected an address in shared memory, got one " +
               Twine(static_cast<const std::byte *>(address) - sharedBase) +
               " bytes from its start, where the CTA has " + Twine(block_->memory.size()) +
               " bytes");
  return memory;
}

SharedMemory *Thread::ownSharedAt(const void *address) {
  SharedMemory *memory = sharedAt(address);
  if (!memory || memory == &cta().memory)
    return memory;
  report(ReportKind::BadOperand, "expected an address in the shared memory of its own CTA, got one "
                                 "in that of another");
  return nullptr;
}

void Thread::complete(ArrayRef<AsyncOpPtr> ops) {
  for (const AsyncOpPtr &op : ops) {
    op->complete(self, epoch());
    if (Listener *watcher = listener())
      watcher->awaited(*this, *op);
  }
}

void Thread::reportAt(const Site &at, ReportKind kind, const Twine &message) {
  launch().stop({kind, (toString(kind) + ": " + at.text() + ", " + text() + ": " + message).str()});
}

void Thread::block(llvm::function_ref<bool()> isReady, llvm::function_ref<std::string()> what) {
  if (isReady() || launch().stopped())
    return;
  state = State::Blocked;
  ready = &isReady;
  waitsFor = &what;
  suspend();
}

void Thread::yield() {
  polls = true;
  if (Listener *watcher = listener())
    watcher->polled(*this);
  suspend();
}

void Thread::suspend() {
  do
    fiber->suspend();
  while (launch().stopped());
}

std::string Thread::text() const {
  return block_->text() + ", warp " + std::to_string(number / kLanes) + ", lane " +
         std::to_string(lane()) + " (thread " + std::to_string(number) + ")";
}

//===----------------------------------------------------------------------===//
// Warps and warpgroups
//===----------------------------------------------------------------------===//

Thread &Warp::thread(unsigned lane) const { return cta.threads[index * kLanes + lane]; }

unsigned Warp::numLanes() const {
  return std::min<size_t>(kLanes, cta.threads.size() - index * kLanes);
}

Accessor Warp::accessor(Thread &lane, const Site &site) {
  if (stale) {
    stale = false;
    ++epoch;
    for (unsigned i = 0, e = numLanes(); i != e; ++i)
      thread(i).clocks.order.set(self, epoch);
  }
  return {lane, site, lane.clocks, self, epoch, Proxy::Generic, nullptr};
}

void Warp::synchronize(ArrayRef<Lane> lanes) {
  Clocks all;
  for (const Lane &lane : lanes)
    if (lane.thread)
      all.join(lane.thread->clocks);
  for (const Lane &lane : lanes)
    if (lane.thread) {
      lane.thread->clocks = all;
      lane.thread->tick();
    }
}

Thread &Warpgroup::thread(unsigned i) const { return cta.threads[index * kWarpgroupThreads + i]; }

unsigned Warpgroup::numThreads() const {
  return std::min<size_t>(kWarpgroupThreads, cta.threads.size() - index * kWarpgroupThreads);
}

Clocks Warpgroup::meet() const {
  Clocks common = thread(0).clocks;
  for (unsigned i = 1, e = numThreads(); i != e; ++i)
    common.meet(thread(i).clocks);
  return common;
}

uint32_t Warpgroup::publish() {
  if (stale) {
    stale = false;
    ++epoch;
    for (unsigned i = 0, e = numThreads(); i != e; ++i)
      thread(i).clocks.order.set(self, epoch);
  }
  return epoch;
}

Accessor Warpgroup::accessor(Thread &issuer, const Site &site, const Clocks &clocks, Proxy proxy) {
  return {issuer, site, clocks, self, publish(), proxy, nullptr};
}

void Warpgroup::complete(ArrayRef<AsyncOpPtr> ops) {
  for (const AsyncOpPtr &op : ops) {
    op->complete(self, publish());
    for (unsigned i = 0, e = numThreads(); i != e; ++i)
      if (Listener *watcher = thread(i).listener())
        watcher->awaited(thread(i), *op);
  }
}

//===----------------------------------------------------------------------===//
// CTAs and clusters
//===----------------------------------------------------------------------===//

Cta::Cta(Cluster &cluster, Dim3 blockIdx, unsigned rank, std::byte *window, size_t sharedBytes,
         unsigned numThreads)
    : cluster(cluster), blockIdx(blockIdx), rank(rank), memory(*this, window, sharedBytes) {
  threads.reserve(numThreads);
  for (unsigned i = 0; i != numThreads; ++i)
    threads.emplace_back(*this, i, cluster.newComponent());
  unsigned numWarps = llvm::divideCeil(numThreads, kLanes);
  unsigned numGroups = llvm::divideCeil(numThreads, kWarpgroupThreads);
  for (unsigned i = 0; i != numWarps; ++i)
    warps.push_back(std::make_unique<Warp>(*this, i, cluster.newComponent()));
  for (unsigned i = 0; i != numGroups; ++i)
    warpgroups.push_back(std::make_unique<Warpgroup>(*this, i, cluster.newComponent()));
  for (unsigned id = 0; id != 16; ++id)
    barriers.emplace_back(id);
}

std::string Cta::text() const {
  std::string text = "CTA " + std::to_string(blockIdx.x);
  if (blockIdx.y != 0 || blockIdx.z != 0)
    text += "," + std::to_string(blockIdx.y) + "," + std::to_string(blockIdx.z);
  return text;
}

Cluster::Cluster(Launch &launch, std::byte *region)
    : launch(launch), region(region), mbarriers(*this) {}

SharedMemory *Cluster::memoryAt(const void *address) {
  auto offset = static_cast<size_t>(static_cast<const std::byte *>(address) - region);
  size_t rank = offset / kCtaWindow;
  if (rank >= ctas.size() || !ctas[rank]->memory.contains(address))
    return nullptr;
  return &ctas[rank]->memory;
}

Thread &Cluster::threadOf(Component component) {
  for (const std::unique_ptr<Cta> &cta : ctas) {
    // A CTA's threads are numbered one after the other.
    Component first = cta->threads.front().component();
    if (component >= first && component - first < cta->threads.size())
      return cta->threads[component - first];
  }
  llvm_unreachable("not the component of a thread");
}
