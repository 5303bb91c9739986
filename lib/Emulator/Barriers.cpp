//===- Barriers.cpp - Barriers of a CTA and of a cluster ------------------===//
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

bool NamedBarrier::enter(Thread &thread, unsigned count) {
  unsigned numThreads = thread.cta().threads.size();
  if (count == 0 || (count % kLanes != 0 && count != numThreads) || count > numThreads) {
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
  gathering.join(thread.clocks);
  thread.tick();
  if (arrived.size() < expected)
    return true;
  if (!checkAligned(thread))
    return false;
  released = std::move(gathering);
  gathering.clear();
  arrived.clear();
  sites.clear();
  expected = 0;
  ++generation;
  return true;
}

void NamedBarrier::sync(Thread &thread, unsigned count) {
  uint64_t mine = generation;
  if (!enter(thread, count))
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
  gathering.join(release ? thread.clocks : thread.fencedInits);
  if (release)
    thread.tick();
  ++arrived;
  advance(thread.cluster());
}

void ClusterBarrier::exited(Thread &thread) {
  ++numExited;
  if (arrivals.lookup(&thread) != phase + 1)
    ++absent;
  advance(thread.cluster());
}

void ClusterBarrier::advance(Cluster &cluster) {
  if (arrived == 0 || arrived + absent < numThreads(cluster))
    return;
  released = std::move(gathering);
  gathering.clear();
  arrived = 0;
  absent = numExited;
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
