//===- TargetInfo.h - What each target can do -------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_TARGETINFO_H
#define ATTN_TARGET_TARGETINFO_H

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

#include <cstdint>
#include <string>

namespace attn {

/// What an instruction set offers. Passes ask for these; none compares chip numbers.
enum class Capability : uint32_t {
  CpAsync = 1 << 0,     ///< Asynchronous copies from global to shared memory.
  Ldmatrix = 1 << 1,    ///< Loads of 8x8 blocks from shared memory as mma fragments.
  MmaM16N8K16 = 1 << 2, ///< mma.sync.m16n8k16 on f16 and bf16 with f32 accumulators.
  Wgmma = 1 << 3,       ///< Products of a warpgroup, operands in shared memory.
  Tma = 1 << 4,         ///< Bulk copies described by tensor maps.
};

/// Where the numbers of a roofline come from.
enum class RateSource { Datasheet, Measured, Nominal };

/// Peak rates of one device of a target; 0 where not known.
struct PeakRates {
  std::string device;
  RateSource source = RateSource::Datasheet;
  double tensorTFlops = 0; ///< Dense f16/bf16 products with f32 accumulators.
  double f32TFlops = 0;    ///< f32 multiply-adds without tensor cores.
  double memoryGBs = 0;    ///< Device memory, 1e9 bytes a second.
};

/// Which schedule table a target uses.
enum class ScheduleFamily { CPU, SM80, SM90 };

struct TargetInfo {
  std::string name;
  bool isGpu = false;
  ScheduleFamily scheduleFamily = ScheduleFamily::CPU;
  uint32_t capabilities = 0;

  int64_t vectorBits = 0; ///< Of the host's widest vector unit; 0 on GPUs.

  // Limits of a GPU; 0 on the CPU.
  unsigned minPtxVersion = 0;            ///< 78 is PTX ISA 7.8.
  int64_t sharedBytesPerSM = 0;          ///< What the CTAs of an SM share.
  int64_t sharedBytesPerCta = 0;         ///< Largest dynamic shared memory, opted in.
  int64_t reservedSharedBytesPerCta = 0; ///< Taken by the driver from each CTA's share.
  int64_t registersPerSM = 0;
  int64_t maxRegistersPerThread = 0;
  int64_t maxWarpsPerSM = 0;
  int64_t maxCtasPerSM = 0;
  int64_t maxThreadsPerCta = 0;

  /// SMs of the device of the first row of `rates`, or threads of the host.
  int64_t parallelUnits = 0;
  /// The first row gives the roofline bound; more rows are for comparison.
  llvm::SmallVector<PeakRates, 2> rates;

  bool has(Capability capability) const { return capabilities & static_cast<uint32_t>(capability); }
  bool hasCpAsync() const { return has(Capability::CpAsync); }
  bool hasLdmatrix() const { return has(Capability::Ldmatrix); }
  bool hasMmaM16N8K16() const { return has(Capability::MmaM16N8K16); }
  bool hasWgmma() const { return has(Capability::Wgmma); }
  bool hasTma() const { return has(Capability::Tma); }
};

/// The target of this name, or null. The CPU's limits are those of this host.
const TargetInfo *findTarget(llvm::StringRef name);

/// What a device of this compute capability runs best: the target with the instructions of its
/// architecture alone if there is one, else its own, else sm_80, whose code later chips run too.
/// Null for a device older than that.
const TargetInfo *targetOfDevice(int computeMajor, int computeMinor);

/// All targets, in the order of the table.
llvm::ArrayRef<TargetInfo> allTargets();

/// "unknown target 'x': expected one of cpu, sm_80, ..."
std::string unknownTargetMessage(llvm::StringRef name);

llvm::StringRef toText(RateSource source);
/// The names of the capabilities of a target, as in "CpAsync".
llvm::SmallVector<llvm::StringRef> capabilityNames(const TargetInfo &target);

} // namespace attn

#endif // ATTN_TARGET_TARGETINFO_H
