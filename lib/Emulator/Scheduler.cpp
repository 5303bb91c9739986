//===- Scheduler.cpp - Who runs next --------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"

#include <map>

using namespace attn::emu;

/// What a fiber runs.
void Scheduler::runKernel(void *argument) {
  auto &thread = *static_cast<Thread *>(argument);
  thread.launch().function(&thread, thread.launch().parameters);
  thread.state = Thread::State::Exited;
  thread.warp().collectives.exited(thread, thread.lane(), kLanes);
  thread.warpgroup().collectives.exited(thread, thread.index() % kWarpgroupThreads,
                                        kWarpgroupThreads);
  thread.cluster().barrier.exited(thread);
  thread.cta().threadExited();
}

bool Scheduler::start(Thread &thread) {
  thread.fiber = pool.start(runKernel, &thread);
  if (!thread.fiber) {
    launch.stop({ReportKind::NoMemory, "out of host memory for the threads' stacks"});
    return false;
  }
  threads.push_back(&thread);
  return true;
}

void Scheduler::run(llvm::ArrayRef<Cluster *> clusters) {
  running.assign(clusters.begin(), clusters.end());
  for (Cluster *cluster : running)
    for (const std::unique_ptr<Cta> &cta : cluster->ctas) {
      for (const std::unique_ptr<Warp> &warp : cta->warps)
        warps.push_back(warp.get());
      for (Thread &thread : cta->threads)
        if (!start(thread))
          return;
    }
  runAll();
  for (Thread *thread : threads)
    pool.release(thread->fiber);
  threads.clear();
  warps.clear();
  launch.engine.clear();
}

void Scheduler::runThread(Thread &thread) {
  thread.polls = false;
  thread.fiber->resume();
  anyRan = true;
  progress |= !thread.polls;
  launch.engine.perhapsLand();
}

/// Lets the lanes of a warp run in turns until none can; in random mode, until chance says so.
void Scheduler::runWarp(Warp &warp) {
  std::mt19937_64 &random = launch.engine.generator();
  bool shuffles = launch.engine.getMode() == AsyncMode::Random;
  uint64_t rounds = shuffles ? 1 + random() % 64 : ~uint64_t(0);
  bool hasReady = true;
  for (uint64_t round = 0; hasReady && round != rounds; ++round) {
    hasReady = false;
    unsigned numLanes = warp.numLanes();
    unsigned first = shuffles ? random() % numLanes : 0;
    for (unsigned i = 0; i != numLanes; ++i) {
      Thread &thread = warp.thread((first + i) % numLanes);
      if (thread.state != Thread::State::Ready)
        continue;
      runThread(thread);
      if (launch.stopped())
        return;
      // Who polls in vain waits for other warps.
      hasReady |= !thread.polls;
    }
  }
}

bool Scheduler::wake() {
  bool any = false;
  for (Thread *thread : threads)
    if (thread->state == Thread::State::Blocked && (*thread->ready)()) {
      thread->state = Thread::State::Ready;
      any = true;
    }
  return any;
}

void Scheduler::runAll() {
  std::mt19937_64 &random = launch.engine.generator();
  unsigned idleRounds = 0;
  while (!launch.stopped()) {
    anyRan = progress = false;
    if (launch.engine.getMode() == AsyncMode::Random)
      std::shuffle(warps.begin(), warps.end(), random);
    for (Warp *warp : warps) {
      runWarp(*warp);
      if (launch.stopped())
        return;
    }
    if (wake() || progress) {
      idleRounds = 0;
      continue;
    }
    if (llvm::all_of(threads, [](Thread *t) { return t->state == Thread::State::Exited; }))
      return;
    // Nobody can go on by himself.
    if (launch.engine.landOne())
      continue;
    if (!anyRan || ++idleRounds == kPatience)
      return reportDeadlock();
  }
}

void Scheduler::reportDeadlock() {
  // Threads that wait for the same thing at the same op are one line.
  struct Group {
    const Thread *first = nullptr;
    unsigned count = 0;
  };
  std::map<std::string, Group> groups;
  for (Thread *thread : threads) {
    if (thread->state == Thread::State::Exited)
      continue;
    std::string what = thread->state == Thread::State::Blocked      ? (*thread->waitsFor)()
                       : thread->state == Thread::State::Collective ? "the other members"
                                                                    : "what it polls";
    Group &group = groups[thread->site().text() + " for " + what];
    if (group.count++ == 0)
      group.first = thread;
  }
  std::string message = "deadlock: no thread can go on, and nothing is on its way";
  for (const auto &[what, group] : groups)
    message += llvm::formatv("\n  {0} thread{1} at {2}; the first is {3}", group.count,
                             group.count == 1 ? " waits" : "s wait", what, group.first->text())
                   .str();
  launch.stop({ReportKind::Deadlock, std::move(message)});
}
