//===- KernelTable.h - Kernels by spec and device ---------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_KERNELTABLE_H
#define ATTN_LIB_COMPILER_KERNELTABLE_H

#include "attn/Compiler/JitKernel.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace attn {

/// What a kernel is looked up by. Specs are compared as they are: a canonical one and its
/// abbreviation are two keys.
struct KernelKey {
  KernelSpec spec;
  Device device;
  bool operator==(const KernelKey &) const = default;
};

/// Grows, and never forgets: readers take no lock, and what they found stays.
class KernelTable {
public:
  KernelTable();

  /// The kernel of a key, or null.
  const JitKernelPtr *find(const KernelSpec &spec, Device device) const;

  /// Adds a key, unless it is there.
  void insert(KernelKey key, JitKernelPtr kernel);

private:
  struct Entry {
    KernelKey key;
    JitKernelPtr kernel;
  };
  /// Open addressing with a power of two of slots, at most half of them taken.
  struct Slots {
    explicit Slots(size_t count) : slots(count) {}
    std::vector<std::atomic<const Entry *>> slots;
  };
  static void place(Slots &table, const Entry *entry);

  std::atomic<const Slots *> current;
  std::mutex mutex; ///< Of what follows.
  std::vector<std::unique_ptr<Entry>> entries;
  std::vector<std::unique_ptr<Slots>> tables; ///< The last is the current one.
};

} // namespace attn

#endif // ATTN_LIB_COMPILER_KERNELTABLE_H
