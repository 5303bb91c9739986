//===- Fiber.h - Stacks that threads run on ------------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_FIBER_H
#define ATTN_LIB_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace attn::emu {

/// A function on a stack of its own. Suspending and resuming costs nanoseconds; abandoning one
/// runs no destructors.
struct Fiber {
  /// Runs, or continues, until it suspends or ends.
  void resume();
  /// Called on the fiber's stack: back to whoever resumed it.
  void suspend();

  /// At the first resume: where its resumer goes on.
  void resumedFrom(void *context) { caller = context; }

  void (*entry)(void *argument) = nullptr;
  void *argument = nullptr;

private:
  friend class FiberPool;
  void *next = nullptr;   ///< Where the fiber goes on.
  void *caller = nullptr; ///< Where its resumer goes on.
  std::byte *stackBegin = nullptr, *stackEnd = nullptr;
};

/// Fibers whose stacks are reused by one CTA after the other.
class FiberPool {
public:
  explicit FiberPool(size_t stackBytes);
  ~FiberPool();
  /// A fiber that will run entry(argument); null when the machine has no memory for its stack.
  Fiber *start(void (*entry)(void *), void *argument);
  /// The fiber has ended or is abandoned.
  void release(Fiber *fiber) { unused.push_back(fiber); }

private:
  size_t stackBytes; ///< Whole pages.
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber *> unused;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_FIBER_H
