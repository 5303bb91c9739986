//===- Hopper.cpp - Clusters, proxies, registers, election ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Semantics.h"
#include "attn/Emulator/Launch.h"

#include <llvm/ADT/bit.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;
using llvm::Twine;

namespace {

/// An instruction that is a function of the thread and nothing else.
template <void (*run)(Thread &)> class Simple : public Instruction {
public:
  void execute(Thread &thread, const std::byte *, std::byte *) const override { run(thread); }
};

void fenceProxy(Thread &thread) { thread.fenceProxy(); }
void fenceInits(Thread &thread) { thread.cluster().mbarriers.fenceInits(thread); }
void nothing(Thread &) {}
template <bool release> void clusterArrive(Thread &thread) {
  thread.cluster().barrier.arrive(thread, release);
}
void clusterWait(Thread &thread) { thread.cluster().barrier.wait(thread); }

template <typename OpTy, void (*run)(Thread &)> DecodeResult simple(OpTy) {
  return makeInstruction<Simple<run>>();
}

DecodeResult decodeFenceProxy(NVVM::FenceProxyOp op) {
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
  static DecodeResult decode(NVVM::MapaOp) { return makeInstruction<Mapa>(); }
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
  static DecodeResult decode(NVVM::ElectSyncOp op) {
    return makeInstruction<Elect>(bool(op.getMembermask()));
  }

private:
  bool hasMask;
};

/// setmaxnreg: a warpgroup gives registers back to its CTA, or waits until so many are free. How
/// many a kernel starts with is up to the assembler; the emulator takes it for all there are.
class SetMaxRegisters : public Instruction {
public:
  SetMaxRegisters(unsigned count, bool increases) : count(count), increases(increases) {}
  Scope scope() const override { return Scope::Warpgroup; }

  void execute(Warpgroup &group, const Site &, llvm::ArrayRef<Lane> lanes) const override {
    unsigned held = heldBy(group);
    bool isWrongWay = increases ? group.registers > count : held < count;
    if (isWrongWay)
      return lanes.front().thread->report(ReportKind::BadOperand,
                                          "would " + Twine(increases ? "increase" : "decrease") +
                                              " the registers of a thread to " + Twine(count) +
                                              ", but it has " + Twine(held));
    if (increases)
      return;
    group.cta.freeRegisters += uint64_t(held - count) * group.numThreads();
    group.registers = count;
  }

  void finish(Thread &thread) const override {
    Warpgroup &group = thread.warpgroup();
    uint64_t &free = group.cta.freeRegisters;
    auto missing = [&] {
      unsigned held = heldBy(group);
      return held < count ? uint64_t(count - held) * group.numThreads() : 0;
    };
    if (!increases)
      return;
    // Another warpgroup may take them before this thread runs.
    while (missing() > free)
      thread.block([&] { return missing() <= free; },
                   [&] {
                     return std::to_string(missing()) + " registers, of which " +
                            std::to_string(free) + " are free in the CTA";
                   });
    free -= missing();
    group.registers = std::max(heldBy(group), count);
  }

  static DecodeResult decode(NVVM::SetMaxRegisterOp op) {
    return makeInstruction<SetMaxRegisters>(op.getRegCount(),
                                            op.getAction() == NVVM::SetMaxRegisterAction::increase);
  }

private:
  static unsigned heldBy(const Warpgroup &group) {
    return group.registers ? group.registers : group.cta.cluster.launch.shape.registers;
  }

  unsigned count;
  bool increases;
};

} // namespace

void attn::emu::registerHopper(InstructionTable &table) {
  addOp<NVVM::FenceProxyOp, decodeFenceProxy>(table);
  addOp<NVVM::FenceMbarrierInitOp, simple<NVVM::FenceMbarrierInitOp, fenceInits>>(table);
  addOp<NVVM::ClusterArriveOp, simple<NVVM::ClusterArriveOp, clusterArrive<true>>>(table);
  addOp<NVVM::ClusterArriveRelaxedOp, simple<NVVM::ClusterArriveRelaxedOp, clusterArrive<false>>>(
      table);
  addOp<NVVM::ClusterWaitOp, simple<NVVM::ClusterWaitOp, clusterWait>>(table);
  addOp<NVVM::PrefetchOp, simple<NVVM::PrefetchOp, nothing>>(table);
  addOp<NVVM::CpAsyncBulkTensorPrefetchOp, simple<NVVM::CpAsyncBulkTensorPrefetchOp, nothing>>(
      table);
  addOp<NVVM::GriddepcontrolOp, simple<NVVM::GriddepcontrolOp, nothing>>(table);
  addOp<NVVM::MapaOp, Mapa::decode>(table);
  addOp<NVVM::ElectSyncOp, Elect::decode>(table);
  addOp<NVVM::SetMaxRegisterOp, SetMaxRegisters::decode>(table);
}
