//===- KernelTable.cpp - Kernels by spec and device -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"

#include <llvm/ADT/Hashing.h>

using namespace attn;

/// Of the fields that tell kernels of one process apart as a rule; equality compares all.
static size_t hashOf(const KernelSpec &spec, Device device) {
  return llvm::hash_combine(device.ordinal, spec.phase, spec.dtype, spec.headDim.value_or(0),
                            spec.headsQ.value_or(0), spec.headsKV.value_or(0), spec.mask,
                            spec.windowLeft.value_or(0), spec.lse, spec.alignment,
                            spec.maxSeqLen.value_or(0));
}

static constexpr size_t kFirstSlots = 64;

KernelTable::KernelTable() {
  tables.push_back(std::make_unique<Slots>(kFirstSlots));
  current.store(tables.back().get(), std::memory_order_release);
}

const JitKernelPtr *KernelTable::find(const KernelSpec &spec, Device device) const {
  const Slots &table = *current.load(std::memory_order_acquire);
  size_t mask = table.slots.size() - 1;
  for (size_t i = hashOf(spec, device) & mask;; i = (i + 1) & mask) {
    const Entry *entry = table.slots[i].load(std::memory_order_acquire);
    if (!entry)
      return nullptr;
    if (entry->key.device == device && entry->key.spec == spec)
      return &entry->kernel;
  }
}

void KernelTable::place(Slots &table, const Entry *entry) {
  size_t mask = table.slots.size() - 1;
  size_t i = hashOf(entry->key.spec, entry->key.device) & mask;
  while (table.slots[i].load(std::memory_order_relaxed))
    i = (i + 1) & mask;
  table.slots[i].store(entry, std::memory_order_release);
}

void KernelTable::insert(KernelKey key, JitKernelPtr kernel) {
  std::lock_guard<std::mutex> guard(mutex);
  if (find(key.spec, key.device))
    return;
  entries.push_back(std::make_unique<Entry>(Entry{std::move(key), std::move(kernel)}));
  if (entries.size() * 2 <= tables.back()->slots.size()) {
    place(*tables.back(), entries.back().get());
    return;
  }
  auto larger = std::make_unique<Slots>(tables.back()->slots.size() * 2);
  for (const std::unique_ptr<Entry> &entry : entries)
    place(*larger, entry.get());
  current.store(larger.get(), std::memory_order_release);
  tables.push_back(std::move(larger));
}
