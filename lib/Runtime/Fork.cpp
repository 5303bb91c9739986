//===- Fork.cpp - What survives a fork and what does not ------------------===//

#include "attn/Runtime/Fork.h"

#include <atomic>
#include <new>
#include <pthread.h>
#include <shared_mutex>

namespace attn::rt {

namespace {

/// Never destroyed: a fork may come after the destructors of static objects.
struct ForkState {
  std::atomic<unsigned> generation{0};
  std::shared_mutex gate; ///< Shared by scopes, owned by a fork.
};

} // namespace

static ForkState &state();
/// Scopes of this thread; its own fork must not wait for them.
static thread_local unsigned scopeDepth = 0;

static void beforeFork() {
  if (scopeDepth == 0)
    state().gate.lock();
}

static void afterForkInParent() {
  if (scopeDepth == 0)
    state().gate.unlock();
}

static void afterForkInChild() {
  // A lock knows its owner by a thread id that the child's thread does not have.
  auto *gate = new (&state().gate) std::shared_mutex();
  if (scopeDepth > 0)
    gate->lock_shared();
  state().generation.fetch_add(1, std::memory_order_relaxed);
}

static ForkState &state() {
  static ForkState *const made = [] {
    auto *fresh = new ForkState();
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    return fresh;
  }();
  return *made;
}

unsigned forkGeneration() { return state().generation.load(std::memory_order_relaxed); }

NoForkScope::NoForkScope() {
  ForkState &forks = state();
  if (scopeDepth++ == 0)
    forks.gate.lock_shared();
}

NoForkScope::~NoForkScope() {
  if (--scopeDepth == 0)
    state().gate.unlock_shared();
}

} // namespace attn::rt
