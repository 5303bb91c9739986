//===- BulkCopies.cpp - Bulk copies of plain bytes ------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bulk.h"
#include "Groups.h"
#include "Operands.h"
#include "Semantics.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;
using llvm::Twine;

namespace {

/// Whether a size is one that bulk copies take; false after a report.
bool checkSize(Thread &thread, int32_t size) {
  if (size >= 0 && size % kBulkUnit == 0)
    return true;
  thread.report(ReportKind::BadOperand, "a bulk copy of " + Twine(size) +
                                            " bytes; expected a multiple of " + Twine(kBulkUnit));
  return false;
}

//===----------------------------------------------------------------------===//
// Into shared memory
//===----------------------------------------------------------------------===//

/// From global memory, or from the shared memory of this CTA.
class BulkLoad : public Instruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    auto size = get<int32_t>(args, sizeOffset);
    if (!checkSize(thread, size))
      return;
    std::byte *source = pointerAt(args, sourceOffset);
    auto bytes = static_cast<size_t>(size);
    if (!fromShared && !thread.accessGlobal(AccessKind::Read, source, bytes, kBulkUnit))
      return;
    std::optional<uint16_t> mask;
    if (maskOffset)
      mask = get<uint16_t>(args, *maskOffset);
    for (const SignalledCopy &copy : findTargets(thread, pointerAt(args, targetOffset),
                                                 pointerAt(args, barrierOffset), bytes, mask)) {
      auto move = [target = copy.target, source, bytes] { std::memcpy(target, source, bytes); };
      if (fromShared ? !issueFromShared(thread, copy, source, bytes)
                     : !issueSignalled(thread, copy, bytes, kBulkUnit, move))
        return;
    }
  }
  unsigned cycles() const override { return 16; }
  unsigned latency() const override { return 600; }

  static DecodeResult decode(NVVM::CpAsyncBulkGlobalToSharedClusterOp op) {
    Operands<decltype(op)> operands(op);
    auto load = std::make_unique<BulkLoad>();
    load->targetOffset = operands.at(0);
    load->sourceOffset = operands.at(1);
    load->barrierOffset = operands.at(2);
    load->sizeOffset = operands.at(3);
    load->maskOffset = operands.optional(4);
    return std::unique_ptr<Instruction>(std::move(load));
  }

  static DecodeResult decodeShared(NVVM::CpAsyncBulkSharedCTAToSharedClusterOp op) {
    auto load = std::make_unique<BulkLoad>();
    load->targetOffset = 0;
    load->sourceOffset = 8;
    load->barrierOffset = 16;
    load->sizeOffset = 24;
    load->fromShared = true;
    return std::unique_ptr<Instruction>(std::move(load));
  }

private:
  /// One operation that reads here and writes there.
  static bool issueFromShared(Thread &thread, const SignalledCopy &copy, std::byte *source,
                              size_t bytes) {
    SharedMemory *memory = thread.ownSharedAt(source);
    if (!memory)
      return false;
    auto op = std::make_shared<AsyncOp>(thread.site(), thread);
    Accessor accessor = thread.accessor(Proxy::Async);
    if (!op->begin(*memory, accessor, AccessKind::Read, source, bytes, kBulkUnit) ||
        !op->begin(*copy.memory, accessor, AccessKind::Write, copy.target, bytes, kBulkUnit))
      return false;
    op->move = [copy, source, bytes, self = std::weak_ptr<AsyncOp>(op)] {
      std::memcpy(copy.target, source, bytes);
      copy.barrier->deliver(static_cast<int64_t>(bytes), self.lock());
    };
    copy.barrier->announce(op);
    thread.launch().engine.issue(std::move(op), /*wakes=*/true);
    return true;
  }

  size_t targetOffset = 0, sourceOffset = 0, barrierOffset = 0, sizeOffset = 0;
  std::optional<size_t> maskOffset;
  bool fromShared = false;
};

//===----------------------------------------------------------------------===//
// Into global memory
//===----------------------------------------------------------------------===//

class BulkStore : public Instruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    auto size = get<int32_t>(args, 16);
    std::byte *target = pointerAt(args, 0), *source = pointerAt(args, 8);
    auto bytes = static_cast<size_t>(size);
    if (!checkSize(thread, size) ||
        !thread.accessGlobal(AccessKind::Write, target, bytes, kBulkUnit))
      return;
    uint16_t mask = maskOffset ? get<uint16_t>(args, *maskOffset) : 0xFFFF;
    issueGrouped(thread, source, bytes, kBulkUnit, [=, type = type] {
      if (type)
        return reduce(Reduction::Add, *type, target, source, bytes / bytesOf(*type));
      for (size_t i = 0; i != bytes; ++i)
        if (mask >> i % kBulkUnit & 1)
          target[i] = source[i];
    });
  }
  unsigned cycles() const override { return 16; }
  unsigned latency() const override { return 600; }

  static DecodeResult decode(NVVM::CpAsyncBulkSharedCTAToGlobalOp op) {
    auto store = std::make_unique<BulkStore>();
    store->maskOffset = Operands<decltype(op)>(op).optional(4);
    return std::unique_ptr<Instruction>(std::move(store));
  }

  static DecodeResult decodeReduce(attn::nv::BulkReduceOp op) {
    auto store = std::make_unique<BulkStore>();
    Type element = op.getElementType();
    store->type = element.isF32()    ? ReducedType::F32
                  : element.isF16()  ? ReducedType::F16
                  : element.isBF16() ? ReducedType::BF16
                                     : ReducedType::S32;
    return std::unique_ptr<Instruction>(std::move(store));
  }

private:
  std::optional<size_t> maskOffset;
  std::optional<ReducedType> type;
};

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

DecodeResult decodeCommitGroup(NVVM::CpAsyncBulkCommitGroupOp) {
  return makeInstruction<CommitGroup<&Thread::bulkCopies>>();
}
/// With and without .read: data lands in global memory when its source has been read.
DecodeResult decodeWaitGroup(NVVM::CpAsyncBulkWaitGroupOp op) {
  return makeInstruction<WaitGroup<&Thread::bulkCopies>>(op.getGroup());
}

} // namespace

void attn::emu::registerBulkCopies(InstructionTable &table) {
  addOp<NVVM::CpAsyncBulkGlobalToSharedClusterOp, BulkLoad::decode>(table);
  addOp<NVVM::CpAsyncBulkSharedCTAToSharedClusterOp, BulkLoad::decodeShared>(table);
  addOp<NVVM::CpAsyncBulkSharedCTAToGlobalOp, BulkStore::decode>(table);
  addOp<attn::nv::BulkReduceOp, BulkStore::decodeReduce>(table);
  addOp<NVVM::CpAsyncBulkCommitGroupOp, decodeCommitGroup>(table);
  addOp<NVVM::CpAsyncBulkWaitGroupOp, decodeWaitGroup>(table);
}
