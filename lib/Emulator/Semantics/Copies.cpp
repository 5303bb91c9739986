//===- Copies.cpp - cp.async -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "Semantics.h"
#include "attn/Emulator/Launch.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

/// Copies 4, 8 or 16 bytes, of which the last may be zeros instead.
class CopyAsync : public Instruction {
public:
  CopyAsync(size_t bytes, bool hasSourceBytes) : bytes(bytes), hasSourceBytes(hasSourceBytes) {}
  unsigned cycles() const override { return 8; }
  unsigned latency() const override { return 400; }

  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    auto *target = get<std::byte *>(args, 0);
    auto *source = get<const std::byte *>(args, 8);
    size_t sourceBytes = hasSourceBytes ? get<uint32_t>(args, 16) : bytes;
    if (sourceBytes > bytes)
      return thread.report(ReportKind::BadOperand,
                           "copies " + Twine(sourceBytes) + " of " + Twine(bytes) + " bytes");
    SharedMemory *memory = thread.ownSharedAt(target);
    if (!memory ||
        (sourceBytes != 0 && !thread.accessGlobal(AccessKind::Read, source, sourceBytes, bytes)))
      return;
    auto op = std::make_shared<AsyncOp>(thread.site(), thread);
    if (!op->begin(*memory, thread.accessor(), AccessKind::Write, target, bytes, bytes))
      return;
    op->move = [=, size = bytes] {
      std::memcpy(target, source, sourceBytes);
      std::memset(target + sourceBytes, 0, size - sourceBytes);
    };
    thread.launch().engine.issue(op, /*wakes=*/false);
    thread.copies.add(std::move(op));
  }

private:
  size_t bytes;
  bool hasSourceBytes;
};

DecodeResult decodeCopyAsync(NVVM::CpAsyncOp op) {
  return makeInstruction<CopyAsync>(op.getSize(), !!op.getCpSize());
}

DecodeResult decodeCommitGroup(NVVM::CpAsyncCommitGroupOp) {
  return makeInstruction<CommitGroup<&Thread::copies>>();
}
DecodeResult decodeWaitGroup(NVVM::CpAsyncWaitGroupOp op) {
  return makeInstruction<WaitGroup<&Thread::copies>>(op.getN());
}

} // namespace

void attn::emu::registerCopies(InstructionTable &table) {
  addOp<NVVM::CpAsyncOp, decodeCopyAsync>(table);
  addOp<NVVM::CpAsyncCommitGroupOp, decodeCommitGroup>(table);
  addOp<NVVM::CpAsyncWaitGroupOp, decodeWaitGroup>(table);
}
