//===- Bulk.cpp - What the bulk copies share ------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bulk.h"

#include "Numbers.h"

using namespace attn::emu;
using llvm::Twine;

llvm::SmallVector<SignalledCopy, 2> attn::emu::findTargets(Thread &thread, std::byte *target,
                                                           std::byte *barrier, size_t bytes,
                                                           std::optional<uint16_t> multicast) {
  llvm::SmallVector<SignalledCopy, 2> copies;
  SharedMemory *memory = thread.sharedAt(target), *barrierMemory = thread.sharedAt(barrier);
  if (!memory || !barrierMemory)
    return copies;
  Cluster &cluster = thread.cluster();
  if (!multicast && memory != barrierMemory) {
    thread.report(ReportKind::BadOperand,
                  "the copy writes to the shared memory of one CTA and signals an mbarrier in "
                  "that of another");
    return copies;
  }
  size_t numCtas = cluster.ctas.size();
  unsigned mask = multicast.value_or(0);
  if (multicast && (mask == 0 || mask >> numCtas != 0)) {
    thread.report(ReportKind::BadOperand, "multicast to mask " + Twine(mask) + " in a cluster of " +
                                              Twine(numCtas) + " CTAs");
    return copies;
  }
  for (const std::unique_ptr<Cta> &cta : cluster.ctas) {
    if (multicast ? !(mask >> cta->rank & 1) : &cta->memory != memory)
      continue;
    std::byte *here = cta->memory.data();
    SignalledCopy copy;
    copy.memory = &cta->memory;
    copy.target = here + memory->offsetOf(target);
    copy.barrier =
        cluster.mbarriers.find(thread, here + barrierMemory->offsetOf(barrier), Proxy::Async);
    if (!copy.barrier)
      return {};
    copies.push_back(copy);
  }
  return copies;
}

bool attn::emu::issueSignalled(Thread &thread, const SignalledCopy &copy, size_t bytes,
                               size_t alignment, llvm::unique_function<void()> move) {
  auto op = std::make_shared<AsyncOp>(thread.site(), thread);
  if (!op->begin(*copy.memory, thread.accessor(Proxy::Async), AccessKind::Write, copy.target, bytes,
                 alignment))
    return false;
  // The operation owns the closure, which must not own the operation.
  op->move = [barrier = copy.barrier, bytes, move = std::move(move),
              self = std::weak_ptr<AsyncOp>(op)]() mutable {
    move();
    barrier->deliver(static_cast<int64_t>(bytes), self.lock());
  };
  copy.barrier->announce(op);
  thread.launch().engine.issue(std::move(op), /*wakes=*/true);
  return true;
}

bool attn::emu::issueGrouped(Thread &thread, std::byte *source, size_t bytes, size_t alignment,
                             llvm::unique_function<void()> move) {
  SharedMemory *memory = thread.ownSharedAt(source);
  if (!memory)
    return false;
  auto op = std::make_shared<AsyncOp>(thread.site(), thread);
  if (!op->begin(*memory, thread.accessor(Proxy::Async), AccessKind::Read, source, bytes,
                 alignment))
    return false;
  op->move = std::move(move);
  thread.bulkCopies.add(op);
  thread.launch().engine.issue(std::move(op), /*wakes=*/false);
  return true;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

size_t attn::emu::bytesOf(ReducedType type) {
  switch (type) {
  case ReducedType::F16:
  case ReducedType::BF16:
    return 2;
  case ReducedType::F32:
  case ReducedType::S32:
  case ReducedType::U32:
    return 4;
  case ReducedType::S64:
  case ReducedType::U64:
    return 8;
  }
  llvm_unreachable("all types are handled");
}

template <typename T> static T combine(Reduction reduction, T a, T b) {
  switch (reduction) {
  case Reduction::Add:
    return a + b;
  case Reduction::Min:
    return std::min(a, b);
  case Reduction::Max:
    return std::max(a, b);
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (reduction == Reduction::And)
      return a & b;
    return reduction == Reduction::Or ? a | b : a ^ b;
  }
  llvm_unreachable("bitwise reductions have integer types");
}

/// With `Decode` from the stored type to the one of the arithmetic, and `Encode` back.
template <typename Stored, typename Decode, typename Encode>
static void reduceAs(Reduction reduction, std::byte *target, const std::byte *source, size_t count,
                     Decode decode, Encode encode) {
  for (size_t i = 0; i != count; ++i) {
    auto a = get<Stored>(target, i * sizeof(Stored)), b = get<Stored>(source, i * sizeof(Stored));
    put(target, i * sizeof(Stored), encode(combine(reduction, decode(a), decode(b))));
  }
}

template <typename T>
static void reducePlain(Reduction reduction, std::byte *target, const std::byte *source,
                        size_t count) {
  auto same = [](T x) { return x; };
  reduceAs<T>(reduction, target, source, count, same, same);
}

void attn::emu::reduce(Reduction reduction, ReducedType type, std::byte *target,
                       const std::byte *source, size_t count) {
  switch (type) {
  case ReducedType::F32:
    return reducePlain<float>(reduction, target, source, count);
  case ReducedType::S32:
    return reducePlain<int32_t>(reduction, target, source, count);
  case ReducedType::U32:
    return reducePlain<uint32_t>(reduction, target, source, count);
  case ReducedType::S64:
    return reducePlain<int64_t>(reduction, target, source, count);
  case ReducedType::U64:
    return reducePlain<uint64_t>(reduction, target, source, count);
  case ReducedType::F16:
    return reduceAs<uint16_t>(reduction, target, source, count, fromF16, toF16);
  case ReducedType::BF16:
    return reduceAs<uint16_t>(reduction, target, source, count, fromBF16, toBF16);
  }
}
