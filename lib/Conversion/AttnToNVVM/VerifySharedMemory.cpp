//===- VerifySharedMemory.cpp - Who has which bytes of shared memory ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyPlacement.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"

using namespace mlir;
using namespace attn;

namespace {

/// Bytes that an op places something in.
struct Place {
  Operation *op;
  StringRef what;
  int64_t begin, bytes;

  int64_t end() const { return begin + bytes; }
  /// Its end may lie beyond 64 bits.
  bool isWithin(int64_t size) const { return bytes <= size && begin <= size - bytes; }
  bool overlaps(const Place &other) const { return begin < other.end() && other.begin < end(); }
  /// The loops of one pass follow each other and share their scratch.
  bool sharesWith(const Place &other) const {
    return isa<LocalStoreOp>(op) && isa<LocalStoreOp>(other.op);
  }
};

} // namespace

/// What lacks an offset is refused where it is lowered.
static SmallVector<Place> collectPlaces(scf::ForallOp forall) {
  SmallVector<Place> places;
  auto add = [&](Operation *op, StringRef what, std::optional<uint64_t> offset, int64_t bytes) {
    if (offset)
      places.push_back({op, what, int64_t(*offset), bytes});
  };
  forall.walk([&](Operation *op) {
    if (auto create = dyn_cast<PipeCreateOp>(op)) {
      PipeType pipe = create.getPipe().getType();
      add(op, "tiles", create.getOffset(), pipeBytes(pipe));
      add(op, "barriers", create.getBarriers(), barrierBytes(pipe.getStages()));
    } else if (auto create = dyn_cast<MailboxCreateOp>(op)) {
      add(op, "messages", create.getOffset(),
          mailboxBytes(create.getMailbox().getType().getStages()));
    } else if (auto store = dyn_cast<LocalStoreOp>(op)) {
      add(op, "scratch", store.getOffset(), sharedTileBytes(store.getResult().getType()));
    }
  });
  return places;
}

static InFlightDiagnostic refuse(const Place &place) {
  return place.op->emitOpError() << "has its " << place.what << " at bytes [" << place.begin << ", "
                                 << uint64_t(place.begin) + uint64_t(place.bytes)
                                 << ") of shared memory, ";
}

static constexpr llvm::StringLiteral kWayOut = "; attn-allocate-smem places them anew";

LogicalResult attn::verifySharedMemory(scf::ForallOp forall) {
  int64_t bytes = forall->getAttrOfType<IntegerAttr>(kSmemBytesAttr).getInt();
  SmallVector<Place> places = collectPlaces(forall);
  for (auto [i, place] : llvm::enumerate(places)) {
    if (!place.isWithin(bytes))
      return refuse(place) << "expected them within the " << bytes << " of " << kSmemBytesAttr
                           << kWayOut;
    for (const Place &other : ArrayRef(places).take_front(i)) {
      if (!place.overlaps(other) || place.sharesWith(other))
        continue;
      InFlightDiagnostic diag = refuse(place)
                                << "expected them not to overlap the " << other.what << " at ["
                                << other.begin << ", " << other.end() << ")" << kWayOut;
      diag.attachNote(other.op->getLoc()) << "which are placed here";
      return diag;
    }
  }
  return success();
}
