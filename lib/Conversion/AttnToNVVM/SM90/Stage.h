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

inline int64_t tileBytes(PipeType pipe) {
  return boxedTileBytes(pipe.getTile().getRows(), pipe.getTile().getCols());
}

/// The stage of a pipe that an op is about: the buffer's offset, the addresses of its barriers.
class Stage {
public:
  template <typename OpTy, typename Adaptor>
  Stage(ThreadBuilder &t, OpTy op, Adaptor adaptor) : t(t) {
    PipeType pipe = op.getPipe().getType();
    // The offsets of the pipe's buffers and of its barriers.
    mlir::ValueRange converted = adaptor.getPipe();
    mlir::Value counter = t.toI32(adaptor.getIteration().front());
    int64_t stages = pipe.getStages();
    mlir::Value stage = t.rem(counter, stages);
    buffer = t.add(converted[0], t.mul(stage, tileBytes(pipe)));
    full = sharedPointer(t, t.add(converted[1], t.mul(stage, 8)));
    empty = t.offset(full, 8 * stages);
    parity = t.bitAnd(t.div(counter, stages), 1);
  }

  void waitFull() { nv::MBarrierWaitOp::create(t.b, t.loc, full, parity, mlir::UnitAttr()); }
  void waitEmpty() {
    nv::MBarrierWaitOp::create(t.b, t.loc, empty, t.bitXor(parity, t.i32(1)), mlir::UnitAttr());
  }

  mlir::Value buffer, full, empty, parity;

private:
  ThreadBuilder &t;
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_STAGE_H
