//===- Persist.cpp - CTAs that take tiles until there are none left -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/Dialect/Utils/StaticValueUtils.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNPERSIST
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// forall (ids) in (bounds) { body }  becomes
/// forall (cta) in (n = num_ctas(tiles)) { for tile = cta to tiles step n { ids of tile; body } }
static void persist(scf::ForallOp forall) {
  OpBuilder b(forall);
  Location loc = forall.getLoc();
  SmallVector<Value> bounds;
  for (OpFoldResult bound : forall.getMixedUpperBound())
    bounds.push_back(getValueOrCreateConstantIndexOp(b, loc, bound));
  Value tiles = bounds.front();
  for (Value bound : ArrayRef(bounds).drop_front())
    tiles = arith::MulIOp::create(b, loc, tiles, bound);
  Value ctas = NumCtasOp::create(b, loc, tiles);
  auto grid = scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{ctas}, ValueRange{},
                                    std::nullopt);
  grid->setDiscardableAttrs(forall->getDiscardableAttrDictionary());
  b.setInsertionPoint(grid.getTerminator());
  auto loop = scf::ForOp::create(b, loc, grid.getInductionVar(0), tiles, ctas);
  b.setInsertionPointToStart(loop.getBody());
  // The last id runs fastest. Grids are smaller than 2^31, and division costs by the bit.
  auto narrow = [&](Value value) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), value).getResult();
  };
  auto bind = [&](unsigned i, Value id) {
    forall.getInductionVar(i).replaceAllUsesWith(
        arith::IndexCastOp::create(b, loc, b.getIndexType(), id).getResult());
  };
  Value rest = narrow(loop.getInductionVar());
  for (unsigned i = bounds.size() - 1; i > 0; --i) {
    Value bound = narrow(bounds[i]);
    bind(i, arith::RemUIOp::create(b, loc, rest, bound));
    rest = arith::DivUIOp::create(b, loc, rest, bound);
  }
  bind(0, rest);
  forall.getTerminator()->erase();
  loop.getBody()->getOperations().splice(loop.getBody()->getTerminator()->getIterator(),
                                         forall.getBody()->getOperations());
  forall.erase();
}

namespace {

struct Persist : attn::impl::AttnPersistBase<Persist> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> grids;
    getOperation().walk([&](scf::ForallOp forall) {
      ScheduleAttr schedule = wgmmaSchedule(forall);
      if (schedule && schedule.getPersistent() == Persistence::Static)
        grids.push_back(forall);
    });
    llvm::for_each(grids, persist);
  }
};

} // namespace
