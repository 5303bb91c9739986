//===- Hopper.cpp - Clusters, proxies, registers, election ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Semantics.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"
#include "attn/Emulator/Launch.h"

#include <llvm/ADT/bit.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;
using llvm::Twine;

namespace {

using Result = FailureOr<std::unique_ptr<Instruction>>;

/// An instruction that is a function of the thread and nothing else.
template <void (*run)(Thread &)> class Simple : public Instruction {
public:
  void execute(Thread &thread, const std::byte *, std::byte *) const override { run(thread); }
};

void fenceProxy(Thread &thread) { thread.fenceProxy(); }
void nothing(Thread &) {}
template <bool release> void clusterArrive(Thread &thread) {
  thread.cluster().barrier.arrive(thread, release);
}
void clusterWait(Thread &thread) { thread.cluster().barrier.wait(thread); }

template <typename OpTy, void (*run)(Thread &)> Result simple(OpTy) {
  return std::unique_ptr<Instruction>(std::make_unique<Simple<run>>());
}

Result decodeFenceProxy(NVVM::FenceProxyOp op) {
  switch (op.getKind()) {
  case NVVM::ProxyKind::async:
  case NVVM::ProxyKind::async_shared:
    return simple<NVVM::FenceProxyOp, fenceProxy>(op);
  case NVVM::ProxyKind::async_global:
    return simple<NVVM::FenceProxyOp, nothing>(op);
  default:
    return op.emitError() << "the emulator has semantics for the async proxy of '" << op->getName()
                          << "' alone";
  }
}

//===----------------------------------------------------------------------===//
// Barriers by name
//===----------------------------------------------------------------------===//

class BarrierArrive : public Instruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    auto id = get<uint32_t>(args, 0), threads = get<uint32_t>(args, 8);
    auto &barriers = thread.cta().barriers;
    if (id >= barriers.size())
      return thread.report(ReportKind::BarrierMisuse,
                           "barrier " + Twine(id) + "; expected one of 0 to 15");
    barriers[id].arrive(thread, threads, /*aligned=*/true);
  }
  static Result decode(attn::nv::BarrierArriveOp) {
    return std::unique_ptr<Instruction>(std::make_unique<BarrierArrive>());
  }
};

//===----------------------------------------------------------------------===//
// Shared memory of other CTAs
//===----------------------------------------------------------------------===//

/// The address in another CTA of the cluster that corresponds to one of this CTA's.
class Mapa : public Instruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *results) const override {
    auto rank = get<uint32_t>(args, 8);
    Cluster &cluster = thread.cluster();
    if (rank >= cluster.ctas.size())
      return thread.report(ReportKind::BadOperand,
                           "CTA " + Twine(rank) + " of a cluster of " + Twine(cluster.ctas.size()));
    auto offset = static_cast<size_t>(pointerAt(args, 0) - cluster.region) % kCtaWindow;
    put(results, 0, cluster.region + rank * kCtaWindow + offset);
  }
  static Result decode(NVVM::MapaOp) {
    return std::unique_ptr<Instruction>(std::make_unique<Mapa>());
  }
};

//===----------------------------------------------------------------------===//
// Warps and warpgroups
//===----------------------------------------------------------------------===//

/// The lowest member leads.
class Elect : public Instruction {
public:
  explicit Elect(bool hasMask) : hasMask(hasMask) {}
  Scope scope() const override { return Scope::Warp; }
  uint32_t members(const Thread &, const std::byte *args) const override {
    return hasMask ? get<uint32_t>(args, 0) : ~0u;
  }
  void execute(Warp &, const Site &, llvm::ArrayRef<Lane> lanes) const override {
    bool leads = true;
    for (const Lane &lane : lanes) {
      if (!lane.thread)
        continue;
      put(lane.results, 0, leads);
      leads = false;
    }
  }
  static Result decode(NVVM::ElectSyncOp op) {
    return std::unique_ptr<Instruction>(std::make_unique<Elect>(bool(op.getMembermask())));
  }

private:
  bool hasMask;
};

/// Registers are not counted, but a warpgroup must agree.
class SetMaxRegisters : public Instruction {
public:
  Scope scope() const override { return Scope::Warpgroup; }
  void execute(Warpgroup &, const Site &, llvm::ArrayRef<Lane>) const override {}
  static Result decode(NVVM::SetMaxRegisterOp) {
    return std::unique_ptr<Instruction>(std::make_unique<SetMaxRegisters>());
  }
};

} // namespace

void attn::emu::registerHopper(InstructionTable &table) {
  addOp<NVVM::FenceProxyOp, decodeFenceProxy>(table);
  addOp<NVVM::FenceMbarrierInitOp, simple<NVVM::FenceMbarrierInitOp, fenceProxy>>(table);
  addOp<NVVM::ClusterArriveOp, simple<NVVM::ClusterArriveOp, clusterArrive<true>>>(table);
  addOp<NVVM::ClusterArriveRelaxedOp, simple<NVVM::ClusterArriveRelaxedOp, clusterArrive<false>>>(
      table);
  addOp<NVVM::ClusterWaitOp, simple<NVVM::ClusterWaitOp, clusterWait>>(table);
  addOp<NVVM::PrefetchOp, simple<NVVM::PrefetchOp, nothing>>(table);
  addOp<NVVM::CpAsyncBulkTensorPrefetchOp, simple<NVVM::CpAsyncBulkTensorPrefetchOp, nothing>>(
      table);
  addOp<NVVM::GriddepcontrolOp, simple<NVVM::GriddepcontrolOp, nothing>>(table);
  addOp<attn::nv::BarrierArriveOp, BarrierArrive::decode>(table);
  addOp<NVVM::MapaOp, Mapa::decode>(table);
  addOp<NVVM::ElectSyncOp, Elect::decode>(table);
  addOp<NVVM::SetMaxRegisterOp, SetMaxRegisters::decode>(table);
}
