//===- Launch.h - Running a kernel -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_LAUNCH_H
#define ATTN_EMULATOR_LAUNCH_H

#include "attn/Emulator/Machine.h"

#include <optional>

namespace attn::emu {

struct LaunchOptions {
  AsyncMode async = AsyncMode::Early;
  /// Random mode: of landings and of the order of threads.
  uint64_t seed = 0;
  /// Emulated instructions after which a launch is stopped.
  uint64_t maxSteps = uint64_t(1) << 32;
  /// Clusters that run in turns; 1 runs them one after the other.
  unsigned interleave = 1;
  Listener *listener = nullptr;
  /// Runs the cluster of this CTA alone, by its number in the grid (x fastest).
  std::optional<uint64_t> onlyCta;
};

/// The geometry of a launch.
struct LaunchShape {
  Dim3 grid, block, cluster;
  size_t sharedBytes = 0; ///< Static and dynamic.
  /// Of a thread, before any setmaxnreg: its share of what the CTA gets.
  unsigned registers = 0;
  size_t stackBytes = 0; ///< What a thread's compiled code may need.
};

/// Code of one thread: compiled code takes the thread and the parameters' addresses.
using ThreadFunction = void (*)(ThreadHeader *thread, void **parameters);

/// One kernel launch.
class Launch {
public:
  Launch(llvm::ArrayRef<Site> sites, LaunchShape shape, LaunchOptions options, GlobalMemory &memory)
      : sites(sites), shape(shape), options(options), memory(memory),
        engine(options.async, options.seed) {}

  /// Runs all CTAs; the report that stopped it, if one did.
  std::optional<Report> run(ThreadFunction function, void **parameters);

  /// Of the program, by index.
  const llvm::ArrayRef<Site> sites;
  const LaunchShape shape;
  const LaunchOptions options;
  GlobalMemory &memory;
  AsyncEngine engine;

  /// Executes a site for a thread: what compiled code calls.
  void execute(Thread &thread, const Site &site, const std::byte *args, std::byte *results);
  /// Checks a load, store or atomic of compiled code by `check`.
  void access(Thread &thread, const Site &site, llvm::function_ref<void()> check);

  /// A step without an instruction: a loop's next round.
  void step(Thread &thread, const Site &site);

  /// Stops at a site that must not be reached like this.
  void fail(Thread &thread, const Site &site, const llvm::Twine &message);

  /// Keeps the first report.
  void stop(Report report);
  bool stopped() const { return result.has_value(); }

private:
  friend class Scheduler;

  std::optional<Report> result;
  uint64_t steps = 0;
  ThreadFunction function = nullptr;
  void **parameters = nullptr;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_LAUNCH_H
