//===- SharedMemory.h - Shared memory with its checks -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every byte has a shadow: its last write and the reads since. An access is compared with
// them under what the accessing agent knows (Clocks); two accesses that nothing orders, one
// of them a write, are a race. Bytes that an asynchronous operation reads or writes are in
// flight until the operation completes; then they become accesses of the component that
// completes it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_SHAREDMEMORY_H
#define ATTN_EMULATOR_SHAREDMEMORY_H

#include "attn/Emulator/Instruction.h"
#include "attn/Emulator/VectorClock.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include <vector>

namespace attn::emu {

class Cta;

/// Generic: ordinary loads and stores, ldmatrix, cp.async. Async: bulk copies, TMA, wgmma.
enum class Proxy : uint8_t { Generic, Async };

/// MakeBarrier and EndBarrier turn bytes into an mbarrier, which nothing else may access, and back.
enum class AccessKind : uint8_t { Read, Write, Atomic, MakeBarrier, EndBarrier };

/// An access, or one that an asynchronous operation has begun. Cells of the shadow refer to
/// these by number, so completing an operation touches no cell.
struct AccessRecord {
  Component component = 0; ///< Whose epoch; meaningless while in flight.
  uint32_t epoch = 0;
  const Site *site = nullptr;
  uint32_t thread = 0; ///< Who issued it: rank in the cluster.
  Proxy proxy = Proxy::Generic;
  bool inFlight = false, wasInFlight = false;
  AccessKind kind = AccessKind::Read;
};

/// Who accesses: whose epoch it will be, and what the accessor knows.
struct Accessor {
  Thread &thread; ///< Reports name it.
  const Site &site;
  const Clocks &clocks;
  Component component;
  uint32_t epoch;
  Proxy proxy = Proxy::Generic;
  /// What a plain store writes, if known: lanes of a warp may store one value to one place by
  /// one op, in any order.
  const std::byte *value = nullptr;
};

/// The shared memory of one CTA. Addresses are host pointers into it.
class SharedMemory {
public:
  /// What another CTA of the cluster does here: until when, and by which op.
  struct RemoteUse {
    uint32_t epoch = 0;
    const Site *site = nullptr;
    Thread *thread = nullptr;
  };

  /// `window` has room for `size` bytes; all are uninitialized.
  SharedMemory(Cta &owner, std::byte *window, size_t size);

  std::byte *data() const { return window; }
  size_t size() const { return cells.size(); }
  bool contains(const void *address) const {
    return address >= window && address < window + cells.size();
  }
  /// Offset from the start of the window, which messages show.
  size_t offsetOf(const void *address) const {
    return static_cast<const std::byte *>(address) - window;
  }

  /// An access that is over when this returns. Checks bounds, alignment (of the address, a
  /// power of two), initialization and order, and remembers it. False: reported.
  bool access(const Accessor &accessor, AccessKind kind, const void *address, size_t bytes,
              size_t alignment);

  /// Begins an asynchronous access: the same checks; the bytes are in flight until complete()
  /// of the returned record. `record` joins several ranges to one record; kNoRecord makes a
  /// new one. Returns kNoRecord after a report.
  static constexpr uint32_t kNoRecord = 0;
  uint32_t begin(const Accessor &accessor, AccessKind kind, const void *address, size_t bytes,
                 size_t alignment, uint32_t record = kNoRecord);

  /// The operation behind a record is over; its accesses become those of a component.
  void complete(uint32_t record, Component component, uint32_t epoch);

  const AccessRecord &record(uint32_t number) const { return records[number]; }
  /// The first asynchronous access that is not over, or of whose end nobody knows; null for none.
  const AccessRecord *
  findUnawaited(llvm::function_ref<bool(Component, uint32_t epoch)> isKnown) const;

  /// Whether the owner has not ended; else reports.
  bool isThere(Thread &thread) const;

  /// A thread of any CTA uses this memory, or an mbarrier in it. False: reported, the owner has
  /// ended.
  bool useFromAfar(Thread &thread, const Site &site, Component component, uint32_t epoch);
  /// The latest uses from afar, by component.
  const llvm::MapVector<Component, RemoteUse> &remoteUses() const { return remote; }

private:
  /// The last write, and the reads since: 0 for none, a record, or kSetBit + a set of records.
  struct Cell {
    uint32_t write = 0, reads = 0;
    bool operator==(const Cell &) const = default;
  };
  static constexpr uint32_t kSetBit = 1u << 31;

  bool check(const Accessor &accessor, AccessKind kind, const void *address, size_t bytes,
             size_t alignment);
  bool touch(const Accessor &accessor, AccessKind kind, size_t offset, size_t bytes,
             uint32_t record);
  bool checkCell(const Accessor &accessor, AccessKind kind, Cell cell, size_t offset,
                 const std::byte *value);
  bool isSameStore(const Accessor &accessor, const AccessRecord &write, size_t offset,
                   const std::byte *value) const;
  bool isOrdered(const Accessor &accessor, AccessKind kind, const AccessRecord &other) const;
  uint32_t withRead(uint32_t reads, uint32_t record, const Accessor &accessor);
  uint32_t newRecord(const Accessor &accessor, AccessKind kind, bool inFlight);
  void reportConflict(const Accessor &accessor, AccessKind kind, const AccessRecord &other,
                      size_t offset);

  Cta &owner;
  std::byte *window;
  llvm::MapVector<Component, RemoteUse> remote;
  std::vector<Cell> cells;
  std::vector<AccessRecord> records;
  std::vector<llvm::SmallVector<uint32_t, 4>> readSets;
  /// The newest finished record of a site, component and kind.
  llvm::DenseMap<uint64_t, uint32_t> newest;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_SHAREDMEMORY_H
