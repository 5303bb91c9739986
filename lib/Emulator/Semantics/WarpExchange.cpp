//===- WarpExchange.cpp - Shuffles and votes -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

/// An instruction of the lanes in its first operand. These order no memory.
class OfMembers : public Instruction {
public:
  Scope scope() const override { return Scope::Warp; }
  uint32_t members(const Thread &, const std::byte *args) const override {
    return get<uint32_t>(args, 0);
  }
};

/// shfl.sync: operands mask, value, b, c; c holds the clamp in bits 0-4 and the segment mask in
/// bits 8-12.
class Shuffle : public OfMembers {
public:
  Shuffle(NVVM::ShflKind kind, bool hasPredicate) : kind(kind), hasPredicate(hasPredicate) {}
  unsigned cycles() const override { return 8; }

  void execute(Warp &, const Site &, ArrayRef<Lane> lanes) const override {
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      if (!lanes[lane].thread)
        continue;
      const std::byte *args = lanes[lane].args;
      int b = get<uint32_t>(args, 16) & 31;
      auto c = get<uint32_t>(args, 24);
      int segment = c >> 8 & 31;
      int lowest = lane & segment;
      int limit = lowest | (c & 31 & ~segment);
      int from = 0;
      bool inside = true;
      switch (kind) {
      case NVVM::ShflKind::up:
        from = int(lane) - b;
        inside = from >= limit;
        break;
      case NVVM::ShflKind::down:
        from = int(lane) + b;
        inside = from <= limit;
        break;
      case NVVM::ShflKind::bfly:
        from = int(lane) ^ b;
        inside = from <= limit;
        break;
      case NVVM::ShflKind::idx:
        from = lowest | (b & ~segment);
        inside = from <= limit;
        break;
      }
      if (!inside)
        from = lane;
      if (!lanes[from].thread)
        return lanes[lane].thread->report(ReportKind::BadOperand,
                                          "lane " + Twine(lane) + " reads from lane " +
                                              Twine(from) + ", which is not a member");
      put(lanes[lane].results, 0, get<uint32_t>(lanes[from].args, 8));
      if (hasPredicate)
        put<uint8_t>(lanes[lane].results, 4, inside);
    }
  }

private:
  NVVM::ShflKind kind;
  bool hasPredicate;
};

DecodeResult decodeShuffle(NVVM::ShflOp op) {
  return makeInstruction<Shuffle>(op.getKind(), op.getReturnValueAndIsValid().value_or(false));
}

/// vote.sync: operands mask and predicate.
class Vote : public OfMembers {
public:
  explicit Vote(NVVM::VoteSyncKind kind) : kind(kind) {}
  unsigned cycles() const override { return 8; }

  void execute(Warp &, const Site &, ArrayRef<Lane> lanes) const override {
    uint32_t members = 0, ayes = 0;
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      if (!lanes[lane].thread)
        continue;
      members |= uint32_t(1) << lane;
      if (get<uint8_t>(lanes[lane].args, 8) & 1)
        ayes |= uint32_t(1) << lane;
    }
    for (const Lane &lane : lanes) {
      if (!lane.thread)
        continue;
      switch (kind) {
      case NVVM::VoteSyncKind::any:
        put<uint8_t>(lane.results, 0, ayes != 0);
        break;
      case NVVM::VoteSyncKind::all:
        put<uint8_t>(lane.results, 0, ayes == members);
        break;
      case NVVM::VoteSyncKind::uni:
        put<uint8_t>(lane.results, 0, ayes == 0 || ayes == members);
        break;
      case NVVM::VoteSyncKind::ballot:
        put(lane.results, 0, ayes);
        break;
      }
    }
  }

private:
  NVVM::VoteSyncKind kind;
};

DecodeResult decodeVote(NVVM::VoteSyncOp op) { return makeInstruction<Vote>(op.getKind()); }

} // namespace

void attn::emu::registerWarpExchange(InstructionTable &table) {
  addOp<NVVM::ShflOp, decodeShuffle>(table);
  addOp<NVVM::VoteSyncOp, decodeVote>(table);
}
