//===- VectorClock.h - Who knows of whose accesses -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_VECTORCLOCK_H
#define ATTN_EMULATOR_VECTORCLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attn::emu {

/// An agent that accesses memory: a thread, a warp or warpgroup (for instructions that all of
/// its threads execute as one), or an mbarrier (for the copies that signal it). Numbered
/// within a cluster.
using Component = uint32_t;

/// For each component, how many of its epochs have happened before.
class VectorClock {
public:
  uint32_t operator[](Component c) const { return c < epochs.size() ? epochs[c] : 0; }
  void set(Component c, uint32_t epoch) {
    if (c >= epochs.size())
      epochs.resize(c + 1);
    epochs[c] = epoch;
  }
  /// Knows afterwards what either knew.
  void join(const VectorClock &other) {
    if (epochs.size() < other.epochs.size())
      epochs.resize(other.epochs.size());
    for (size_t i = 0, e = other.epochs.size(); i != e; ++i)
      epochs[i] = std::max(epochs[i], other.epochs[i]);
  }
  /// Knows afterwards what both knew.
  void meet(const VectorClock &other) {
    epochs.resize(std::min(epochs.size(), other.epochs.size()));
    for (size_t i = 0, e = epochs.size(); i != e; ++i)
      epochs[i] = std::min(epochs[i], other.epochs[i]);
  }
  void clear() { epochs.clear(); }

private:
  std::vector<uint32_t> epochs;
};

/// What an agent knows. Every synchronization passes on both clocks.
struct Clocks {
  /// Accesses that happened before.
  VectorClock order;
  /// Those of them that the async proxy sees too: a proxy fence copies `order` here.
  VectorClock proxy;

  void join(const Clocks &other) {
    order.join(other.order);
    proxy.join(other.proxy);
  }
  void meet(const Clocks &other) {
    order.meet(other.order);
    proxy.meet(other.proxy);
  }
  void clear() {
    order.clear();
    proxy.clear();
  }
  /// fence.proxy.async: what happened before becomes visible to the async proxy.
  void fenceProxy() { proxy.join(order); }
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_VECTORCLOCK_H
