//===- SpecialRegisters.cpp - Registers that say who a thread is -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include "attn/Emulator/Launch.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

using Reader = uint64_t (*)(const Thread &);

/// A register as a function of the thread.
class SpecialRegister : public Instruction {
public:
  SpecialRegister(Reader read, bool wide) : read(read), wide(wide) {}
  void execute(Thread &thread, const std::byte *, std::byte *results) const override {
    uint64_t value = read(thread);
    if (wide)
      put<uint64_t>(results, 0, value);
    else
      put<uint32_t>(results, 0, static_cast<uint32_t>(value));
  }
  unsigned cycles() const override { return 1; }

private:
  Reader read;
  bool wide;
};

template <typename OpTy, Reader reader> void addRegister(InstructionTable &table) {
  table.add(OpTy::getOperationName(), [](Operation *op) -> DecodeResult {
    return makeInstruction<SpecialRegister>(reader, op->getResult(0).getType().isInteger(64));
  });
}

const LaunchShape &shapeOf(const Thread &t) { return t.launch().shape; }
uint32_t laneBit(const Thread &t) { return uint32_t(1) << t.lane(); }

} // namespace

void attn::emu::registerSpecialRegisters(InstructionTable &table) {
  using namespace NVVM;
  addRegister<ThreadIdXOp, [](const Thread &t) -> uint64_t { return t.threadIdx().x; }>(table);
  addRegister<ThreadIdYOp, [](const Thread &t) -> uint64_t { return t.threadIdx().y; }>(table);
  addRegister<ThreadIdZOp, [](const Thread &t) -> uint64_t { return t.threadIdx().z; }>(table);
  addRegister<BlockDimXOp, [](const Thread &t) -> uint64_t { return shapeOf(t).block.x; }>(table);
  addRegister<BlockDimYOp, [](const Thread &t) -> uint64_t { return shapeOf(t).block.y; }>(table);
  addRegister<BlockDimZOp, [](const Thread &t) -> uint64_t { return shapeOf(t).block.z; }>(table);
  addRegister<BlockIdXOp, [](const Thread &t) -> uint64_t { return t.cta().blockIdx.x; }>(table);
  addRegister<BlockIdYOp, [](const Thread &t) -> uint64_t { return t.cta().blockIdx.y; }>(table);
  addRegister<BlockIdZOp, [](const Thread &t) -> uint64_t { return t.cta().blockIdx.z; }>(table);
  addRegister<GridDimXOp, [](const Thread &t) -> uint64_t { return shapeOf(t).grid.x; }>(table);
  addRegister<GridDimYOp, [](const Thread &t) -> uint64_t { return shapeOf(t).grid.y; }>(table);
  addRegister<GridDimZOp, [](const Thread &t) -> uint64_t { return shapeOf(t).grid.z; }>(table);
  addRegister<LaneIdOp, [](const Thread &t) -> uint64_t { return t.lane(); }>(table);
  addRegister<WarpIdOp, [](const Thread &t) -> uint64_t { return t.index() / kLanes; }>(table);
  addRegister<WarpSizeOp, [](const Thread &) -> uint64_t { return kLanes; }>(table);
  addRegister<WarpDimOp, [](const Thread &t) -> uint64_t { return t.cta().warps.size(); }>(table);
  addRegister<LaneMaskEqOp, [](const Thread &t) -> uint64_t { return laneBit(t); }>(table);
  addRegister<LaneMaskLtOp, [](const Thread &t) -> uint64_t { return laneBit(t) - 1; }>(table);
  addRegister<LaneMaskLeOp,
              [](const Thread &t) -> uint64_t { return laneBit(t) | (laneBit(t) - 1); }>(table);
  addRegister<LaneMaskGtOp,
              [](const Thread &t) -> uint64_t { return ~(laneBit(t) | (laneBit(t) - 1)); }>(table);
  addRegister<LaneMaskGeOp, [](const Thread &t) -> uint64_t { return ~(laneBit(t) - 1); }>(table);
  addRegister<ClusterIdXOp, [](const Thread &t) -> uint64_t {
    return t.cta().blockIdx.x / shapeOf(t).cluster.x;
  }>(table);
  addRegister<ClusterIdYOp, [](const Thread &t) -> uint64_t {
    return t.cta().blockIdx.y / shapeOf(t).cluster.y;
  }>(table);
  addRegister<ClusterIdZOp, [](const Thread &t) -> uint64_t {
    return t.cta().blockIdx.z / shapeOf(t).cluster.z;
  }>(table);
  addRegister<ClusterDimXOp, [](const Thread &t) -> uint64_t {
    return shapeOf(t).grid.x / shapeOf(t).cluster.x;
  }>(table);
  addRegister<ClusterDimYOp, [](const Thread &t) -> uint64_t {
    return shapeOf(t).grid.y / shapeOf(t).cluster.y;
  }>(table);
  addRegister<ClusterDimZOp, [](const Thread &t) -> uint64_t {
    return shapeOf(t).grid.z / shapeOf(t).cluster.z;
  }>(table);
  addRegister<BlockInClusterIdXOp, [](const Thread &t) -> uint64_t {
    return t.cta().blockIdx.x % shapeOf(t).cluster.x;
  }>(table);
  addRegister<BlockInClusterIdYOp, [](const Thread &t) -> uint64_t {
    return t.cta().blockIdx.y % shapeOf(t).cluster.y;
  }>(table);
  addRegister<BlockInClusterIdZOp, [](const Thread &t) -> uint64_t {
    return t.cta().blockIdx.z % shapeOf(t).cluster.z;
  }>(table);
  addRegister<ClusterDimBlocksXOp,
              [](const Thread &t) -> uint64_t { return shapeOf(t).cluster.x; }>(table);
  addRegister<ClusterDimBlocksYOp,
              [](const Thread &t) -> uint64_t { return shapeOf(t).cluster.y; }>(table);
  addRegister<ClusterDimBlocksZOp,
              [](const Thread &t) -> uint64_t { return shapeOf(t).cluster.z; }>(table);
  addRegister<NVVM::ClusterId, [](const Thread &t) -> uint64_t { return t.cta().rank; }>(table);
  addRegister<NVVM::ClusterDim,
              [](const Thread &t) -> uint64_t { return shapeOf(t).cluster.count(); }>(table);
}
