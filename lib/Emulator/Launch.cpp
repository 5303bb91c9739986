//===- Launch.cpp - Running a kernel --------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Launch.h"

#include "Scheduler.h"

#include <sys/mman.h>

using namespace attn::emu;

namespace {

/// 4 GiB of addresses, aligned to 4 GiB, with memory where CTAs have their shared memory.
class Region {
public:
  ~Region() {
    if (mapped)
      munmap(mapped, 2 * kBytes);
  }
  bool reserve(unsigned numCtas, size_t sharedBytes) {
    void *memory =
        mmap(nullptr, 2 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return false;
    mapped = static_cast<std::byte *>(memory);
    base = reinterpret_cast<std::byte *>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(mapped), uint64_t(kBytes)));
    for (unsigned rank = 0; rank != numCtas; ++rank)
      if (mprotect(base + rank * kCtaWindow, kSharedStart + sharedBytes, PROT_READ | PROT_WRITE) !=
          0)
        return false;
    return true;
  }

  std::byte *base = nullptr;

private:
  static constexpr size_t kBytes = size_t(1) << 32;
  std::byte *mapped = nullptr;
};

} // namespace

void Launch::stop(Report report) {
  if (!result)
    result = std::move(report);
}

/// The i-th index of a grid, x fastest.
static Dim3 indexIn(Dim3 grid, uint64_t i) {
  return {unsigned(i % grid.x), unsigned(i / grid.x % grid.y),
          unsigned(i / (uint64_t(grid.x) * grid.y))};
}

/// The number of the cluster that a CTA of the grid is in.
static uint64_t clusterOf(const LaunchShape &shape, uint64_t cta) {
  Dim3 at = indexIn(shape.grid, cta);
  uint64_t columns = shape.grid.x / shape.cluster.x, rows = shape.grid.y / shape.cluster.y;
  return at.x / shape.cluster.x +
         columns * (at.y / shape.cluster.y + rows * (at.z / shape.cluster.z));
}

std::optional<Report> Launch::run(ThreadFunction threadFunction, void **threadParameters) {
  function = threadFunction;
  parameters = threadParameters;
  unsigned ctasPerCluster = shape.cluster.count();
  uint64_t numClusters = shape.grid.count() / ctasPerCluster;
  uint64_t together = std::min<uint64_t>(std::max(options.interleave, 1u), numClusters);
  std::vector<std::unique_ptr<Region>> regions;
  for (uint64_t i = 0; i != together; ++i) {
    regions.push_back(std::make_unique<Region>());
    if (!regions.back()->reserve(ctasPerCluster, shape.sharedBytes))
      return Report{ReportKind::NoMemory, "out of host memory for the CTAs' shared memory"};
  }

  Scheduler scheduler(*this);
  Dim3 clusterGrid{shape.grid.x / shape.cluster.x, shape.grid.y / shape.cluster.y,
                   shape.grid.z / shape.cluster.z};
  uint64_t begin = 0, end = numClusters;
  if (options.onlyCta) {
    begin = clusterOf(shape, *options.onlyCta);
    end = begin + 1;
  }
  for (uint64_t first = begin; first < end && !stopped(); first += together) {
    std::vector<std::unique_ptr<Cluster>> clusters;
    llvm::SmallVector<Cluster *> pointers;
    for (uint64_t i = first; i != std::min(first + together, end); ++i) {
      auto cluster = std::make_unique<Cluster>(*this, regions[i - first]->base);
      Dim3 at = indexIn(clusterGrid, i);
      for (unsigned rank = 0; rank != ctasPerCluster; ++rank) {
        Dim3 within = indexIn(shape.cluster, rank);
        Dim3 blockIdx{at.x * shape.cluster.x + within.x, at.y * shape.cluster.y + within.y,
                      at.z * shape.cluster.z + within.z};
        cluster->ctas.push_back(std::make_unique<Cta>(
            *cluster, blockIdx, rank, cluster->region + rank * kCtaWindow + kSharedStart,
            shape.sharedBytes, shape.block.count()));
      }
      pointers.push_back(cluster.get());
      clusters.push_back(std::move(cluster));
    }
    scheduler.run(pointers);
  }
  return std::move(result);
}

void Launch::step(Thread &thread, const Site &site) {
  thread.currentSite = &site;
  if (++steps > options.maxSteps)
    thread.report(ReportKind::TooManySteps, "the launch has executed " +
                                                llvm::Twine(options.maxSteps) +
                                                " emulated instructions, its limit: it never ends, "
                                                "or needs a higher one (--max-steps)");
  if (stopped())
    thread.suspend();
}

void Launch::fail(Thread &thread, const Site &site, const llvm::Twine &message) {
  thread.currentSite = &site;
  thread.report(ReportKind::BadOperand, message);
  thread.suspend();
}

void Launch::execute(Thread &thread, const Site &site, const std::byte *args, std::byte *results) {
  step(thread, site);
  const Instruction &instruction = *site.instruction;
  switch (instruction.scope()) {
  case Scope::Thread:
    instruction.execute(thread, args, results);
    break;
  case Scope::Warp: {
    Warp &warp = thread.warp();
    if (instruction.takesWholeUnit() && warp.numLanes() != kLanes) {
      thread.report(ReportKind::DivergentCollective,
                    "executed by a warp of " + llvm::Twine(warp.numLanes()) +
                        " threads; it takes " + llvm::Twine(kLanes));
      break;
    }
    // Lanes that do not exist cannot come.
    uint32_t existing = ~uint32_t(0) >> (kLanes - warp.numLanes());
    uint32_t mask = instruction.members(thread, args) & existing;
    llvm::BitVector members(kLanes);
    members.setBitsInMask(&mask);
    warp.collectives.arrive(
        thread, thread.lane(), members, args, results,
        [&](llvm::ArrayRef<Lane> lanes) { instruction.execute(warp, site, lanes); });
    break;
  }
  case Scope::Warpgroup: {
    Warpgroup &group = thread.warpgroup();
    if (instruction.takesWholeUnit() && group.numThreads() != kWarpgroupThreads) {
      thread.report(ReportKind::DivergentCollective,
                    "executed by a warpgroup of " + llvm::Twine(group.numThreads()) +
                        " threads; it takes " + llvm::Twine(kWarpgroupThreads));
      break;
    }
    llvm::BitVector members(kWarpgroupThreads);
    members.set(0, group.numThreads());
    group.collectives.arrive(
        thread, thread.index() % kWarpgroupThreads, members, args, results,
        [&](llvm::ArrayRef<Lane> lanes) { instruction.execute(group, site, lanes); });
    if (!stopped())
      instruction.finish(thread);
    break;
  }
  }
  if (options.listener)
    options.listener->executed(thread, site);
  if (stopped())
    thread.suspend();
}

void Launch::access(Thread &thread, const Site &site, llvm::function_ref<void()> check) {
  step(thread, site);
  check();
  if (options.listener)
    options.listener->executed(thread, site);
  if (stopped())
    thread.suspend();
}
