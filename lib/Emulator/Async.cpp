//===- Async.cpp - Asynchronous operations -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Machine.h"

#include <algorithm>
#include <utility>

using namespace attn::emu;

bool AsyncOp::begin(SharedMemory &memory, const Accessor &accessor, AccessKind kind,
                    const void *address, size_t bytes, size_t alignment) {
  uint32_t record = SharedMemory::kNoRecord;
  for (const Flight &flight : flights)
    if (flight.memory == &memory && memory.record(flight.record).kind == kind)
      record = flight.record;
  bool isNew = record == SharedMemory::kNoRecord;
  record = memory.begin(accessor, kind, address, bytes, alignment, record);
  if (record == SharedMemory::kNoRecord)
    return false;
  if (isNew)
    flights.push_back({&memory, record});
  return true;
}

void AsyncOp::land() {
  if (landed)
    return;
  landed = true;
  // What it holds, such as the product before it, is free then.
  if (auto once = std::exchange(move, nullptr))
    once();
}

void AsyncOp::complete(Component component, uint32_t epoch) {
  land();
  for (const Flight &flight : flights)
    flight.memory->complete(flight.record, component, epoch);
  flights.clear();
  completed = true;
}

void AsyncOp::report(ReportKind kind, const llvm::Twine &message) const {
  issuer.reportAt(site, kind, message);
}

//===----------------------------------------------------------------------===//
// When operations land
//===----------------------------------------------------------------------===//

void AsyncEngine::issue(AsyncOpPtr op, bool wakes) {
  if (Listener *watcher = op->issuer.listener())
    watcher->issued(*op);
  if (mode == AsyncMode::Early || (mode == AsyncMode::Random && random() % 4 == 0)) {
    op->land();
    return;
  }
  pending.push_back({std::move(op), wakes});
  if (pending.size() < sweepAt)
    return;
  dropLanded();
  sweepAt = std::max<size_t>(1024, 2 * pending.size());
}

void AsyncEngine::dropLanded() {
  std::erase_if(pending, [](const Pending &entry) { return entry.op->hasLanded(); });
}

bool AsyncEngine::landOne() {
  dropLanded();
  std::vector<AsyncOpPtr> waking;
  for (const Pending &entry : pending) {
    if (!entry.wakes)
      continue;
    waking.push_back(entry.op);
    if (mode != AsyncMode::Random)
      break;
  }
  if (waking.empty())
    return false;
  waking[waking.size() == 1 ? 0 : random() % waking.size()]->land();
  return true;
}

void AsyncEngine::perhapsLand() {
  if (mode != AsyncMode::Random || pending.empty() || random() % 2 == 0)
    return;
  AsyncOpPtr op = pending[random() % pending.size()].op;
  op->land();
  dropLanded();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void AsyncGroups::commit() {
  groups.push_back(std::move(open));
  open.clear();
}

std::vector<AsyncOpPtr> AsyncGroups::take(size_t pending) {
  std::vector<AsyncOpPtr> ops;
  while (groups.size() > pending) {
    ops.insert(ops.end(), groups.front().begin(), groups.front().end());
    groups.pop_front();
  }
  return ops;
}

std::vector<AsyncOpPtr> AsyncGroups::unfinished() {
  std::vector<AsyncOpPtr> ops;
  auto visit = [&](std::vector<AsyncOpPtr> &group) {
    std::erase_if(group, [](const AsyncOpPtr &op) { return op->isComplete(); });
    ops.insert(ops.end(), group.begin(), group.end());
  };
  llvm::for_each(groups, visit);
  visit(open);
  return ops;
}
