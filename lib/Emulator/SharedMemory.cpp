//===- SharedMemory.cpp - Shared memory with its checks -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/SharedMemory.h"

#include "attn/Emulator/Machine.h"

using namespace attn::emu;
using llvm::Twine;

SharedMemory::SharedMemory(Cta &owner, std::byte *window, size_t size)
    : owner(owner), window(window), cells(size), records(1) {}

static llvm::StringRef toText(AccessKind kind) {
  static constexpr llvm::StringLiteral names[] = {"read", "write", "atomic access",
                                                  "initialization of an mbarrier",
                                                  "invalidation of an mbarrier"};
  return names[static_cast<size_t>(kind)];
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

bool SharedMemory::useFromAfar(Thread &thread, const Site &site, Component component,
                               uint32_t epoch) {
  if (&thread.cta() == &owner)
    return true;
  remote[component] = {epoch, &site, &thread};
  return isThere(thread);
}

bool SharedMemory::isThere(Thread &thread) const {
  if (!owner.hasEnded())
    return true;
  thread.report(ReportKind::AfterEnd, owner.text() + " has ended, and with it its shared memory");
  return false;
}

/// Whether the bytes are there, and may be accessed like this.
bool SharedMemory::check(const Accessor &accessor, AccessKind kind, const void *address,
                         size_t bytes, size_t alignment) {
  auto value = reinterpret_cast<uintptr_t>(address);
  size_t offset = offsetOf(address);
  if (!contains(address) || bytes > size() - offset) {
    accessor.thread.report(ReportKind::SharedOutOfBounds,
                           llvm::formatv("{0} of {1} bytes at shared offset {2}, where the CTA "
                                         "has {3} bytes",
                                         toText(kind), bytes,
                                         value >= reinterpret_cast<uintptr_t>(window)
                                             ? std::to_string(offset)
                                             : "-" + std::to_string(-offset),
                                         size())
                               .str());
    return false;
  }
  if (value % alignment != 0) {
    accessor.thread.report(ReportKind::Misaligned,
                           llvm::formatv("{0} of {1} bytes at shared offset {2}; expected a "
                                         "multiple of {3}",
                                         toText(kind), bytes, offset, alignment)
                               .str());
    return false;
  }
  return isThere(accessor.thread);
}

/// Whether the accessor's access comes after `other` as far as it matters.
bool SharedMemory::isOrdered(const Accessor &accessor, AccessKind kind,
                             const AccessRecord &other) const {
  // A later async-proxy access sees a generic write only through a proxy fence. Reads need
  // none: they are over.
  bool crosses = accessor.proxy == Proxy::Async && other.proxy == Proxy::Generic &&
                 other.kind != AccessKind::Read;
  const VectorClock &clock = crosses ? accessor.clocks.proxy : accessor.clocks.order;
  return clock[other.component] >= other.epoch;
}

void SharedMemory::reportConflict(const Accessor &accessor, AccessKind kind,
                                  const AccessRecord &other, size_t offset) {
  std::string what = (toText(kind) + " of shared offset " + Twine(offset)).str();
  std::string by =
      " by " + accessor.thread.cluster().threadOf(other.thread).text() + ", " + other.site->text();
  if (other.inFlight)
    return accessor.thread.report(ReportKind::InFlight, what +
                                                            (other.kind == AccessKind::Read
                                                                 ? ", which is still being read"
                                                                 : ", whose data is "
                                                                   "on its way") +
                                                            by + ", and not waited for");
  if (accessor.clocks.order[other.component] >= other.epoch)
    return accessor.thread.report(ReportKind::MissingProxyFence,
                                  what + " through the async proxy after a generic write" + by +
                                      " without fence.proxy.async between them");
  accessor.thread.report(ReportKind::Race, what + " and the " + toText(other.kind) + by +
                                               " are not ordered by any barrier");
}

/// Whether a lane stores what another one of its warp has just stored by the same op.
bool SharedMemory::isSameStore(const Accessor &accessor, const AccessRecord &write, size_t offset,
                               const std::byte *value) const {
  Warp &warp = accessor.thread.warp();
  return value && write.site == &accessor.site && !write.inFlight &&
         write.thread >= warp.thread(0).component() &&
         write.thread < warp.thread(0).component() + warp.numLanes() && *value == window[offset];
}

bool SharedMemory::checkCell(const Accessor &accessor, AccessKind kind, Cell cell, size_t offset,
                             const std::byte *value) {
  if (cell.write != 0) {
    const AccessRecord &write = records[cell.write];
    if (write.kind == AccessKind::MakeBarrier && kind != AccessKind::EndBarrier) {
      accessor.thread.report(ReportKind::BarrierMisuse,
                             toText(kind) + " at shared offset " + Twine(offset) +
                                 ", where there is the mbarrier that " + write.site->text() +
                                 " made; mbarrier.inval ends that one");
      return false;
    }
    bool bothAtomic = kind == AccessKind::Atomic && write.kind == AccessKind::Atomic;
    if (write.inFlight || (!bothAtomic && !isOrdered(accessor, kind, write) &&
                           !isSameStore(accessor, write, offset, value))) {
      reportConflict(accessor, kind, write, offset);
      return false;
    }
  } else if (kind == AccessKind::Read || kind == AccessKind::Atomic) {
    accessor.thread.report(ReportKind::Uninitialized, toText(kind) + " of shared offset " +
                                                          Twine(offset) +
                                                          ", which nobody has written");
    return false;
  }
  if (kind == AccessKind::Read)
    return true;
  auto checkRead = [&](uint32_t number) {
    const AccessRecord &read = records[number];
    if (!read.inFlight && isOrdered(accessor, kind, read))
      return true;
    reportConflict(accessor, kind, read, offset);
    return false;
  };
  if (cell.reads & kSetBit)
    return llvm::all_of(readSets[cell.reads & ~kSetBit], checkRead);
  return cell.reads == 0 || checkRead(cell.reads);
}

//===----------------------------------------------------------------------===//
// Remembering
//===----------------------------------------------------------------------===//

uint32_t SharedMemory::newRecord(const Accessor &accessor, AccessKind kind, bool inFlight) {
  // A thread that repeats an access in the same epoch needs no new record.
  uint64_t key = uint64_t(accessor.component) << 36 | uint64_t(accessor.site.index) << 4 |
                 uint64_t(kind) << 1 | uint64_t(accessor.proxy);
  if (!inFlight) {
    auto it = newest.find(key);
    if (it != newest.end() && records[it->second].epoch == accessor.epoch)
      return it->second;
  }
  uint32_t number = records.size();
  records.push_back({accessor.component, accessor.epoch, &accessor.site,
                     accessor.thread.component(), accessor.proxy, inFlight, inFlight, kind});
  if (!inFlight)
    newest[key] = number;
  return number;
}

/// The reads of a cell with one more. Those that happened before it are implied by it.
uint32_t SharedMemory::withRead(uint32_t reads, uint32_t record, const Accessor &accessor) {
  auto isImplied = [&](uint32_t number) {
    const AccessRecord &read = records[number];
    return number == record || (!read.inFlight && !records[record].inFlight &&
                                accessor.clocks.order[read.component] >= read.epoch);
  };
  if (reads == 0 || reads == record)
    return record;
  llvm::SmallVector<uint32_t, 4> set;
  if (reads & kSetBit) {
    for (uint32_t number : readSets[reads & ~kSetBit])
      if (!isImplied(number))
        set.push_back(number);
  } else if (!isImplied(reads)) {
    set.push_back(reads);
  }
  if (set.empty())
    return record;
  set.push_back(record);
  readSets.push_back(std::move(set));
  return kSetBit | uint32_t(readSets.size() - 1);
}

bool SharedMemory::touch(const Accessor &accessor, AccessKind kind, size_t offset, size_t bytes,
                         uint32_t record) {
  // Neighbouring bytes mostly have the same history: look at it once.
  Cell before, after;
  bool known = false;
  for (size_t i = offset, end = offset + bytes; i != end; ++i) {
    Cell &cell = cells[i];
    const std::byte *value = accessor.value ? accessor.value + (i - offset) : nullptr;
    if (value || !known || !(cell == before)) {
      if (!checkCell(accessor, kind, cell, i, value))
        return false;
      before = cell;
      after = kind == AccessKind::Read ? Cell{cell.write, withRead(cell.reads, record, accessor)}
                                       : Cell{record, 0};
      known = true;
    }
    cell = after;
  }
  return true;
}

bool SharedMemory::access(const Accessor &accessor, AccessKind kind, const void *address,
                          size_t bytes, size_t alignment) {
  return check(accessor, kind, address, bytes, alignment) &&
         useFromAfar(accessor.thread, accessor.site, accessor.component, accessor.epoch) &&
         touch(accessor, kind, offsetOf(address), bytes,
               newRecord(accessor, kind, /*inFlight=*/false));
}

uint32_t SharedMemory::begin(const Accessor &accessor, AccessKind kind, const void *address,
                             size_t bytes, size_t alignment, uint32_t record) {
  if (!check(accessor, kind, address, bytes, alignment))
    return kNoRecord;
  if (record == kNoRecord)
    record = newRecord(accessor, kind, /*inFlight=*/true);
  return touch(accessor, kind, offsetOf(address), bytes, record) ? record : kNoRecord;
}

void SharedMemory::complete(uint32_t number, Component component, uint32_t epoch) {
  AccessRecord &record = records[number];
  record.inFlight = false;
  record.component = component;
  record.epoch = epoch;
}

const AccessRecord *
SharedMemory::findUnawaited(llvm::function_ref<bool(Component, uint32_t)> isKnown) const {
  auto it = llvm::find_if(records, [&](const AccessRecord &record) {
    return record.wasInFlight && (record.inFlight || !isKnown(record.component, record.epoch));
  });
  return it == records.end() ? nullptr : &*it;
}
