//===- Stage.h - A stage of a pipe between roles ----------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_STAGE_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_STAGE_H

#include "Roles.h"
#include "attn/Dialect/Attn/Transforms/SharedMemory.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"

namespace attn {

/// Bytes of a row of a box.
constexpr int64_t kBoxRowBytes = 128;

/// Bytes of a stage.
inline int64_t stageBytes(PipeType pipe) {
  return boxedTileBytes(pipe.getStageRows(), pipe.getTile().getCols());
}

/// Rows of a boxed tile that lie together.
inline int64_t partRows(TileType tile) {
  return tile.getRows() / mlir::cast<BoxedLayoutAttr>(tile.getLayout()).getParts();
}

/// Sets up the barriers of a ring's stages, which lie at `offset`: those for "full", where
/// `writers` arrive, then those for "empty", where `readers` do.
void createBarriers(ThreadBuilder &t, int64_t offset, int64_t stages, int64_t writers,
                    int64_t readers);

/// The barriers of the stage that tile or message `iteration` of a ring lies in.
class StageBarriers {
public:
  StageBarriers(ThreadBuilder &t, mlir::Value barriers, mlir::Value iteration, int64_t stages)
      : t(t) {
    mlir::Value counter = t.toI32(iteration);
    stage = t.rem(counter, stages);
    full = sharedPointer(t, t.add(barriers, t.mul(stage, 8)));
    empty = t.offset(full, 8 * stages);
    parity = t.bitAnd(t.div(counter, stages), 1);
  }

  void waitFull() { nv::MBarrierWaitOp::create(t.b, t.loc, full, parity, mlir::UnitAttr()); }
  void waitEmpty() {
    nv::MBarrierWaitOp::create(t.b, t.loc, empty, t.bitXor(parity, t.i32(1)), mlir::UnitAttr());
  }
  /// One arrival a warp. The predicate is the instruction's, so that the warp stays together.
  void release() {
    nv::MBarrierArriveOp::create(t.b, t.loc, empty, mlir::Value(), t.equal(t.lane(), t.i32(0)));
  }

  /// Number of the stage (i32), addresses of its barriers, and the phase that they complete.
  mlir::Value stage, full, empty, parity;

protected:
  ThreadBuilder &t;
};

/// The stage of a pipe that an op is about: also the buffer's offset. Fills count parts; who reads
/// counts tiles, of which a warpgroup's part is meant.
class Stage : public StageBarriers {
public:
  template <typename OpTy, typename Adaptor>
  Stage(ThreadBuilder &t, OpTy op, Adaptor adaptor)
      : StageBarriers(t, adaptor.getPipe()[1], number(t, op, adaptor.getIteration().front()),
                      op.getPipe().getType().getStages()) {
    buffer = t.add(adaptor.getPipe()[0], t.mul(stage, stageBytes(op.getPipe().getType())));
  }

  mlir::Value buffer;

private:
  template <typename OpTy>
  static mlir::Value number(ThreadBuilder &t, OpTy op, mlir::Value iteration) {
    int64_t parts = op.getPipe().getType().getParts();
    bool isFill = mlir::isa<PipeAcquireOp, CopyTileOp>(op);
    if (isFill || parts == 1)
      return iteration;
    return t.add(t.mul(t.toI32(iteration), parts), warpgroup(t));
  }
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_STAGE_H
