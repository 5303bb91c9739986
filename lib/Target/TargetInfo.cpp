//===- TargetInfo.cpp - What each target can do ---------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits are those of the CUDA C++ Programming Guide, "Compute Capabilities", and
// PTX versions those of the PTX ISA, ".target". Datasheet rates name the device;
// tensor rates are dense.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/TargetInfo.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/TargetParser/Host.h>

#include <thread>

using namespace attn;

namespace {

constexpr int64_t kKiB = 1024;

constexpr uint32_t operator|(Capability a, Capability b) {
  return static_cast<uint32_t>(a) | static_cast<uint32_t>(b);
}
constexpr uint32_t operator|(uint32_t a, Capability b) { return a | static_cast<uint32_t>(b); }

constexpr uint32_t kAmpere = Capability::CpAsync | Capability::Ldmatrix | Capability::MmaM16N8K16;

} // namespace

static int64_t hostVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 512;
  return features.lookup("avx") ? 256 : 128;
}

static TargetInfo makeCpu() {
  TargetInfo cpu;
  cpu.name = "cpu";
  cpu.scheduleFamily = ScheduleFamily::CPU;
  cpu.vectorBits = hostVectorBits();
  cpu.parallelUnits = std::max(1u, std::thread::hardware_concurrency());
  // Two pipes of multiply-adds a thread at 3 GHz: the host's datasheet is not at hand.
  double flopsPerCycle = 2.0 * 2.0 * static_cast<double>(cpu.vectorBits) / 32.0;
  PeakRates nominal;
  nominal.device = "this host at 3 GHz with two FMA pipes a thread";
  nominal.source = RateSource::Nominal;
  nominal.tensorTFlops = nominal.f32TFlops =
      flopsPerCycle * 3e9 * static_cast<double>(cpu.parallelUnits) / 1e12;
  cpu.rates.push_back(nominal);
  return cpu;
}

/// What all chips since sm_80 agree in.
static TargetInfo makeGpu(llvm::StringRef name, unsigned minPtxVersion, uint32_t capabilities) {
  TargetInfo gpu;
  gpu.name = name.str();
  gpu.isGpu = true;
  gpu.scheduleFamily = ScheduleFamily::SM80;
  gpu.capabilities = capabilities;
  gpu.minPtxVersion = minPtxVersion;
  gpu.reservedSharedBytesPerCta = 1 * kKiB;
  gpu.registersPerSM = 64 * kKiB;
  gpu.maxRegistersPerThread = 255;
  gpu.maxThreadsPerCta = 1024;
  return gpu;
}

static TargetInfo makeSM80() {
  TargetInfo gpu = makeGpu("sm_80", 70, kAmpere);
  gpu.sharedBytesPerSM = 164 * kKiB;
  gpu.sharedBytesPerCta = 163 * kKiB;
  gpu.maxWarpsPerSM = 64;
  gpu.maxCtasPerSM = 32;
  gpu.parallelUnits = 108;
  gpu.rates = {{"A100 SXM 80 GB", RateSource::Datasheet, 312, 19.5, 2039}};
  return gpu;
}

static TargetInfo makeSM86() {
  TargetInfo gpu = makeGpu("sm_86", 71, kAmpere);
  gpu.sharedBytesPerSM = 100 * kKiB;
  gpu.sharedBytesPerCta = 99 * kKiB;
  gpu.maxWarpsPerSM = 48;
  gpu.maxCtasPerSM = 16;
  gpu.parallelUnits = 84;
  gpu.rates = {{"A40", RateSource::Datasheet, 149.7, 37.4, 696}};
  return gpu;
}

static TargetInfo makeSM89() {
  TargetInfo gpu = makeGpu("sm_89", 78, kAmpere);
  gpu.sharedBytesPerSM = 100 * kKiB;
  gpu.sharedBytesPerCta = 99 * kKiB;
  gpu.maxWarpsPerSM = 48;
  gpu.maxCtasPerSM = 24;
  gpu.parallelUnits = 142;
  gpu.rates = {{"L40S", RateSource::Datasheet, 362, 91.6, 864}};
  return gpu;
}

/// Without the arch-specific instructions (wgmma), which code for sm_90 may not use.
static TargetInfo makeSM90() {
  TargetInfo gpu = makeGpu("sm_90", 78, kAmpere | Capability::Tma);
  gpu.sharedBytesPerSM = 228 * kKiB;
  gpu.sharedBytesPerCta = 227 * kKiB;
  gpu.maxWarpsPerSM = 64;
  gpu.maxCtasPerSM = 32;
  gpu.parallelUnits = 132;
  gpu.rates = {{"H200 SXM", RateSource::Datasheet, 989.5, 67, 4800},
               // A bf16 matrix product of 8192^3, and the best rate of pure reads.
               {"H200 SXM", RateSource::Measured, 790, 0, 4390}};
  return gpu;
}

/// With them: code for sm_90a runs on compute capability 9.0 alone.
static TargetInfo makeSM90a() {
  TargetInfo gpu = makeSM90();
  gpu.name = "sm_90a";
  gpu.minPtxVersion = 80;
  gpu.scheduleFamily = ScheduleFamily::SM90;
  gpu.capabilities = gpu.capabilities | Capability::Wgmma;
  return gpu;
}

llvm::ArrayRef<TargetInfo> attn::allTargets() {
  static const TargetInfo targets[] = {makeCpu(),  makeSM80(), makeSM86(),
                                       makeSM89(), makeSM90(), makeSM90a()};
  return targets;
}

const TargetInfo *attn::findTarget(llvm::StringRef name) {
  for (const TargetInfo &target : allTargets())
    if (target.name == name)
      return &target;
  return nullptr;
}

const TargetInfo *attn::targetOfDevice(int computeMajor, int computeMinor) {
  std::string name = llvm::formatv("sm_{0}{1}", computeMajor, computeMinor);
  for (const std::string &candidate : {name + "a", name})
    if (const TargetInfo *target = findTarget(candidate))
      return target;
  return computeMajor >= 8 ? findTarget("sm_80") : nullptr;
}

std::string attn::unknownTargetMessage(llvm::StringRef name) {
  std::string known = llvm::join(
      llvm::map_range(allTargets(), [](const TargetInfo &target) { return target.name; }), ", ");
  return "unknown target '" + name.str() + "': expected one of " + known;
}

llvm::StringRef attn::toText(RateSource source) {
  switch (source) {
  case RateSource::Datasheet:
    return "datasheet";
  case RateSource::Measured:
    return "measured";
  case RateSource::Nominal:
    return "nominal";
  }
  llvm_unreachable("all sources are handled");
}

llvm::SmallVector<llvm::StringRef> attn::capabilityNames(const TargetInfo &target) {
  constexpr std::pair<Capability, llvm::StringLiteral> kNames[] = {
      {Capability::CpAsync, "CpAsync"},
      {Capability::Ldmatrix, "Ldmatrix"},
      {Capability::MmaM16N8K16, "MmaM16N8K16"},
      {Capability::Wgmma, "Wgmma"},
      {Capability::Tma, "Tma"}};
  llvm::SmallVector<llvm::StringRef> names;
  for (auto [capability, name] : kNames)
    if (target.has(capability))
      names.push_back(name);
  return names;
}
