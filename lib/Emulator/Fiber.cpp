//===- Fiber.cpp - Stacks that threads run on -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include <boost/context/detail/fcontext.hpp>

#include <sys/mman.h>
#include <unistd.h>

using namespace attn::emu;
namespace context = boost::context::detail;

/// What the emulator itself needs on a thread's stack.
static constexpr size_t kOwnBytes = size_t(256) << 10;

static void run(context::transfer_t from) {
  auto *fiber = static_cast<Fiber *>(from.data);
  fiber->resumedFrom(from.fctx);
  fiber->entry(fiber->argument);
  fiber->suspend();
  __builtin_unreachable();
}

void Fiber::resume() {
  context::transfer_t from = context::jump_fcontext(next, this);
  next = from.fctx;
}

void Fiber::suspend() {
  context::transfer_t from = context::jump_fcontext(caller, nullptr);
  caller = from.fctx;
}

FiberPool::FiberPool(size_t bytes) {
  size_t page = getpagesize();
  stackBytes = (bytes + kOwnBytes + page - 1) / page * page;
}

FiberPool::~FiberPool() {
  for (const std::unique_ptr<Fiber> &fiber : fibers)
    munmap(fiber->stackBegin - getpagesize(), stackBytes + getpagesize());
}

Fiber *FiberPool::start(void (*entry)(void *), void *argument) {
  if (unused.empty()) {
    // The lowest page stays inaccessible: an overflow faults instead of overwriting.
    size_t guard = getpagesize();
    void *memory = mmap(nullptr, stackBytes + guard, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    if (mprotect(memory, guard, PROT_NONE) != 0) {
      munmap(memory, stackBytes + guard);
      return nullptr;
    }
    auto fiber = std::make_unique<Fiber>();
    fiber->stackBegin = static_cast<std::byte *>(memory) + guard;
    fiber->stackEnd = fiber->stackBegin + stackBytes;
    unused.push_back(fiber.get());
    fibers.push_back(std::move(fiber));
  }
  Fiber *fiber = unused.back();
  unused.pop_back();
  fiber->entry = entry;
  fiber->argument = argument;
  fiber->next = context::make_fcontext(fiber->stackEnd, stackBytes, run);
  return fiber;
}
