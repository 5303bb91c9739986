//===- Scheduler.h - Who runs next ------------------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SCHEDULER_H
#define ATTN_LIB_EMULATOR_SCHEDULER_H

#include "Fiber.h"
#include "attn/Emulator/Launch.h"

namespace attn::emu {

/// Runs the threads of some clusters in turns until all have ended or the launch is stopped.
class Scheduler {
public:
  explicit Scheduler(Launch &launch) : launch(launch), pool(launch.shape.stackBytes) {}

  /// Runs clusters together; call again for the next ones.
  void run(llvm::ArrayRef<Cluster *> clusters);

private:
  /// Rounds without progress after which polling threads count as stuck.
  static constexpr unsigned kPatience = 10000;

  bool start(Thread &thread);
  void runAll();
  void runWarp(Warp &warp);
  /// Runs a thread until it suspends.
  void runThread(Thread &thread);
  /// Lets blocked threads go on whose condition holds. False: there is none.
  bool wake();
  void reportDeadlock();
  static void runKernel(void *thread);

  Launch &launch;
  FiberPool pool;
  llvm::SmallVector<Cluster *> running;
  std::vector<Thread *> threads;
  std::vector<Warp *> warps;
  /// In the present round: somebody ran; somebody did more than poll in vain.
  bool anyRan = false, progress = false;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SCHEDULER_H
