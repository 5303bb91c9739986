//===- ScheduleBudget.cpp - What a schedule costs and may cost ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ScheduleBudget.h"

#include "attn/Dialect/Attn/IR/Warps.h"
#include "attn/Dialect/Attn/Transforms/TileShapes.h"

using namespace mlir;
using namespace attn;

namespace {

/// Rows of an mma block, and keys of one step of P V.
constexpr int64_t kMmaRows = 16;
constexpr int64_t kMmaKeys = 16;
/// Columns of the accumulators of one mma.
constexpr int64_t kMmaColumns = 8;
/// Columns of one wgmma.
constexpr int64_t kMaxProductColumns = 256;
/// Rows of a box of a tensor map.
constexpr int64_t kMaxBoxRows = 256;
/// A CTA has 16 named barriers: one of all threads, and a turn and a store for each warpgroup.
constexpr int64_t kMaxConsumerWarps = (16 - 1) / 2 * kWarpgroupWarps;
/// The fewest registers that setmaxnreg leaves a thread.
constexpr int64_t kMinRegisterSplit = 24;

/// The tile of which one warp holds the accumulators.
struct WarpTile {
  int64_t rows, keys;

  explicit WarpTile(ScheduleAttr schedule) : rows(schedule.getQTile()), keys(schedule.getKvTile()) {
    (schedule.getWarpSplit() == WarpSplit::Rows ? rows : keys) /= schedule.getWarps();
  }
};

} // namespace

RegisterUse attn::estimateRegisters(const ProblemFacts &facts, ScheduleAttr schedule) {
  WarpTile tile(schedule);
  RegisterUse use;
  use.o = tile.rows * paddedHeadDim(facts.headDimV) / kWarpSize;
  use.s = tile.rows * tile.keys / kWarpSize;
  if (schedule.getQInRegisters())
    use.q = tile.rows * paddedHeadDim(facts.headDimQK) * facts.elementBytes() / 4 / kWarpSize;
  if (schedule.usesWgmma()) {
    use.other = kWgmmaRegisterOverhead;
    if (schedule.getOverlap())
      use.p = tile.rows * tile.keys / 2 / kWarpSize;
  }
  return use;
}

/// Registers of a thread when all of the CTA have the same, handed out in units of eight.
static int64_t equalShare(const TargetInfo &target, ScheduleAttr schedule) {
  int64_t share = target.registersPerSM / (schedule.getCtaWarps() * kWarpSize) / 8 * 8;
  return std::min(target.maxRegistersPerThread, share);
}

int64_t attn::registerLimit(const TargetInfo &target, ScheduleAttr schedule) {
  if (schedule.usesWgmma() && schedule.getConsumerRegisters() != 0)
    return std::min(target.maxRegistersPerThread, schedule.getConsumerRegisters());
  return equalShare(target, schedule);
}

SharedMemoryUse attn::sharedMemoryUse(const ProblemFacts &facts, ScheduleAttr schedule) {
  return forwardSharedMemory(schedule, facts.headDimQK, facts.headDimV, facts.elementBytes(),
                             facts.outElementBytes());
}

static std::string checkAlgorithm(const ProblemFacts &facts, const TargetInfo &target,
                                  ScheduleAttr schedule) {
  if (schedule.getAlgorithm() != Algorithm::FA1)
    return {};
  if (target.isGpu)
    return llvm::formatv("algorithm: fa1 runs on the cpu alone, got it on {0}; choose algorithm = "
                         "fa2, two_pass or naive",
                         target.name);
  if (!facts.outType.isF32() || !facts.hasLse)
    return "algorithm: fa1 keeps its running output in o and lse, expected an f32 o and an lse; "
           "choose algorithm = fa2";
  return {};
}

/// What setmaxnreg may do: both kinds of warpgroups change, within what they were launched with.
static std::string checkRegisterSplit(const TargetInfo &target, ScheduleAttr schedule) {
  int64_t producer = schedule.getProducerRegisters(), consumer = schedule.getConsumerRegisters();
  if (producer == 0 && consumer == 0)
    return {};
  int64_t share = equalShare(target, schedule);
  if (producer % 8 != 0 || producer < kMinRegisterSplit || producer > share)
    return llvm::formatv("producer_registers: expected a multiple of 8 in [{0}, {1}], got {2}",
                         kMinRegisterSplit, share, producer);
  if (consumer % 8 != 0 || consumer < share || consumer > target.maxRegistersPerThread + 1)
    return llvm::formatv("consumer_registers: expected a multiple of 8 in [{0}, {1}], got {2}",
                         llvm::alignTo(share, 8), target.maxRegistersPerThread + 1, consumer);
  int64_t total =
      (consumer * schedule.getWarps() + producer * (schedule.getCtaWarps() - schedule.getWarps())) *
      kWarpSize;
  if (total > share * schedule.getCtaWarps() * kWarpSize)
    return llvm::formatv(
        "consumer_registers: {0} warps of {1} and {2} of {3} registers take {4} of "
        "the CTA's {5}; reduce either",
        schedule.getWarps(), consumer, schedule.getCtaWarps() - schedule.getWarps(), producer,
        total, share * schedule.getCtaWarps() * kWarpSize);
  return {};
}

static std::string checkWgmma(const ProblemFacts &facts, const TargetInfo &target,
                              ScheduleAttr schedule) {
  if (!target.hasWgmma() || !target.hasTma())
    return llvm::formatv("instruction: {0} lacks wgmma or tensor maps; choose instruction = mma",
                         target.name);
  if (facts.element & ~elements::SixteenBit)
    return "instruction: wgmma expects f16 or bf16 tensors, got f32; choose instruction = fma";
  bool usesTensorMaps = !schedule.copiesWithThreads();
  if (usesTensorMaps && facts.alignmentBytes < kTensorMapAlignment)
    return llvm::formatv("producer: tma expects an alignment of at least {0} bytes, got {1}; "
                         "promise alignment({0}) on the op or choose producer = cp_async",
                         kTensorMapAlignment, facts.alignmentBytes);
  if (!usesTensorMaps && schedule.getPersistent() == Persistence::Dynamic)
    return "persistent: expected none or static with producer = cp_async, whose warps do not tell "
           "each other which tile was drawn, got dynamic; choose persistent = static";
  if (schedule.getWarpSplit() != WarpSplit::Rows)
    return "instruction: wgmma expects warp_split = rows, got keys; change it or choose "
           "instruction = mma";
  int64_t warps = schedule.getWarps();
  if (warps % kWarpgroupWarps != 0 || warps > kMaxConsumerWarps)
    return llvm::formatv(
        "warps: expected a multiple of {0} up to {1} with instruction = wgmma, got "
        "{2}",
        kWarpgroupWarps, kMaxConsumerWarps, warps);
  if (schedule.getQTile() != warps * kMmaRows)
    return llvm::formatv("q_tile: expected {0} ({1} rows for each of {2} warpgroups) with "
                         "instruction = wgmma, got {3}; change q_tile or warps",
                         warps * kMmaRows, kWarpgroupRows, warps / kWarpgroupWarps,
                         schedule.getQTile());
  int64_t parts = schedule.getQParts();
  if (usesTensorMaps && schedule.getQTile() / parts > kMaxBoxRows)
    return llvm::formatv("q_tile: a tensor map copies at most {0} rows at once, got {1}; change "
                         "q_tile and warps, or choose q_by_warpgroup = true",
                         kMaxBoxRows, schedule.getQTile());
  if (schedule.getQStages() < parts)
    return llvm::formatv("q_stages: expected at least {0}, one for each warpgroup, with "
                         "q_by_warpgroup = true, got {1}",
                         parts, schedule.getQStages());
  int64_t columns = paddedHeadDim(facts.headDimV);
  if (schedule.getKvTile() > kMaxProductColumns || columns > kMaxProductColumns)
    return llvm::formatv(
        "kv_tile: a product of wgmma has at most {0} columns, got kv_tile = {1} and "
        "a padded head_dim_v of {2}",
        kMaxProductColumns, schedule.getKvTile(), columns);
  if (schedule.getOverlap() && schedule.getAlgorithm() != Algorithm::FA2)
    return llvm::formatv("overlap: expected false with algorithm = {0}, got true; choose algorithm "
                         "= fa2 or overlap = false",
                         stringifyAlgorithm(schedule.getAlgorithm()));
  if (schedule.getIntegerMax() && !schedule.getLazyRescale())
    return "integer_max: expected false with lazy_rescale = false, where no score is compared with "
           "a "
           "reference, got true; choose lazy_rescale = true or integer_max = false";
  return checkRegisterSplit(target, schedule);
}

/// What only kernels with roles do must not be asked of others.
static std::string checkWithoutRoles(ScheduleAttr schedule) {
  std::string fault;
  const ScheduleValues values = toValues(schedule);
  visitSchedule(
      [&](StringRef name, const auto &value, const auto &byDefault) {
        if (!fault.empty() || !isFieldOfRoles(name) || value == byDefault)
          return;
        // No other kernel has a producer, so none of its kinds can be expected.
        bool isProducer = std::is_same_v<std::decay_t<decltype(value)>, Producer>;
        fault = llvm::formatv("{0}: expected {1} with instruction = {2}, got {3}; choose "
                              "instruction = wgmma on a target that has it",
                              name, isProducer ? "it left out" : fieldText(byDefault),
                              stringifyInstruction(schedule.getInstruction()), fieldText(value));
      },
      values, defaultSchedule(schedule.getContext()));
  return fault;
}

std::string attn::checkFieldsOfInstruction(ScheduleAttr schedule) {
  if (!schedule.usesWgmma()) {
    if (std::string misplaced = checkWithoutRoles(schedule); !misplaced.empty())
      return misplaced;
  } else if (schedule.getPackGqa()) {
    return "pack_gqa: expected false with instruction = wgmma, got true";
  }
  if (schedule.getInstruction() == Instruction::Fma && schedule.getQInRegisters())
    return "q_in_registers: expected false with instruction = fma, got true";
  return {};
}

static std::string checkInstruction(const ProblemFacts &facts, const TargetInfo &target,
                                    ScheduleAttr schedule) {
  if (std::string fault = checkFieldsOfInstruction(schedule); !fault.empty())
    return fault;
  if (schedule.getInstruction() == Instruction::Fma)
    return {};
  if (schedule.usesWgmma())
    return checkWgmma(facts, target, schedule);
  if (!target.hasMmaM16N8K16() || !target.hasLdmatrix() || !target.hasCpAsync())
    return llvm::formatv("instruction: {0} lacks mma.m16n8k16, ldmatrix or cp.async; choose "
                         "instruction = fma",
                         target.name);
  if (facts.element & ~elements::SixteenBit)
    return "instruction: mma expects f16 or bf16 tensors, got f32; choose instruction = fma";
  if (facts.alignmentBytes < kMmaAlignmentBytes)
    return llvm::formatv("instruction: mma expects an alignment of at least {0} bytes, got {1}; "
                         "promise alignment({0}) on the op or choose instruction = fma",
                         kMmaAlignmentBytes, facts.alignmentBytes);
  return {};
}

/// Each warp works on whole mma blocks: its fragments are laid out in them, whatever
/// computes the products.
static std::string checkBlocks(const TargetInfo &target, ScheduleAttr schedule) {
  int64_t qTile = schedule.getQTile(), kvTile = schedule.getKvTile(), warps = schedule.getWarps();
  int64_t copying = schedule.getCtaWarps() - warps;
  if ((warps + copying) * kWarpSize > target.maxThreadsPerCta)
    return llvm::formatv("warps: expected at most {0}, got {1}",
                         target.maxThreadsPerCta / kWarpSize - copying, warps);
  bool byRows = schedule.getWarpSplit() == WarpSplit::Rows;
  int64_t rowWarps = byRows ? warps : 1, keyWarps = byRows ? 1 : warps;
  if (qTile % (rowWarps * kMmaRows) != 0)
    return llvm::formatv("q_tile: expected a multiple of {0} ({1} rows for each of {2} warps), got "
                         "{3}; change q_tile or warps",
                         rowWarps * kMmaRows, kMmaRows, rowWarps, qTile);
  if (kvTile % (keyWarps * kMmaKeys) != 0)
    return llvm::formatv("kv_tile: expected a multiple of {0} ({1} keys for each of {2} warps), "
                         "got {3}; change kv_tile or warps",
                         keyWarps * kMmaKeys, kMmaKeys, keyWarps, kvTile);
  return {};
}

/// The merge over warps leaves each of them a share of the columns of O, in whole blocks.
static std::string checkKeySplit(const ProblemFacts &facts, ScheduleAttr schedule) {
  int64_t columns = paddedHeadDim(facts.headDimV);
  int64_t unit = schedule.getWarps() * kMmaColumns;
  if (schedule.getWarpSplit() == WarpSplit::Rows || columns % unit == 0)
    return {};
  return llvm::formatv("warp_split: keys expects a padded head_dim_v of a multiple of {0} ({1} "
                       "columns for each of {2} warps), got {3}; choose warp_split = rows or "
                       "change warps",
                       unit, kMmaColumns, schedule.getWarps(), columns);
}

static std::string checkShared(const TargetInfo &target, const SharedMemoryUse &use) {
  if (use.total() <= target.sharedBytesPerCta)
    return {};
  std::string probabilities = use.p ? llvm::formatv("P {0}, ", use.p).str() : "";
  return llvm::formatv("shared memory: expected at most {0} bytes, got {1} (Q {2}, K {3}, V {4}, "
                       "{5}epilogue {6}); reduce q_tile, kv_tile or stages",
                       target.sharedBytesPerCta, use.total(), use.q, use.k, use.v, probabilities,
                       use.epilogue);
}

/// How often the registers may be used up where spills are allowed. The generic path takes what
/// tensor cores refuse, so it may spill; at four times the registers ptxas takes half a minute.
constexpr int64_t kSpillFactor = 2;

static std::string checkRegisters(const RegisterUse &use, const TargetInfo &target,
                                  ScheduleAttr schedule, bool maySpill) {
  int64_t limit = registerLimit(target, schedule) * (maySpill ? kSpillFactor : 1);
  if (use.total() <= limit)
    return {};
  return llvm::formatv("registers: expected at most {0} a thread, got {1} (O {2}, S {3}, Q {4}, "
                       "{5}other {6}); reduce {7}",
                       limit, use.total(), use.o, use.s, use.q,
                       use.p ? llvm::formatv("P {0}, ", use.p).str() : "", use.other,
                       schedule.usesWgmma()         ? "kv_tile, or choose overlap = false or "
                                                      "q_in_registers = false"
                       : schedule.getQInRegisters() ? "q_tile, kv_tile or q_in_registers, or use "
                                                      "more warps"
                                                    : "q_tile or kv_tile, or use more warps");
}

static std::string checkPacking(const ProblemFacts &facts, ScheduleAttr schedule) {
  if (!schedule.getPackGqa())
    return {};
  if (!facts.canPackGqa)
    return "pack_gqa: expected one query (known at compile time), more query heads than key/value "
           "heads, and a mask that shows it all keys; choose pack_gqa = false";
  if (schedule.getAlgorithm() == Algorithm::FA1)
    return "pack_gqa: expected false with algorithm = fa1, got true";
  return {};
}

std::string attn::checkFieldsOfCPU(const TargetInfo &cpu, const SchedulePins &fields) {
  constexpr StringLiteral used[] = {"algorithm", "q_tile", "kv_tile",
                                    "split_kv",  "order",  "pack_gqa"};
  // All rows agree in what the CPU has no use for.
  const ScheduleValues &row = scheduleTable(cpu).forward.front().schedule;
  std::string fault;
  visitSchedule(
      [&](StringRef name, const auto &value, const auto &field) {
        if (fault.empty() && field && *field != value && !llvm::is_contained(used, name))
          fault = llvm::formatv(
              "{0}: {1} is a choice of GPU kernels alone; leave it out, or choose "
              "what {2} takes: {3}",
              name, fieldText(*field), cpu.name, llvm::join(ArrayRef<StringLiteral>(used), ", "));
      },
      row, fields);
  return fault;
}

/// The same of a schedule attribute, which has a value for each field that was left out.
static std::string checkScheduleOfCPU(const TargetInfo &cpu, ScheduleAttr schedule) {
  SchedulePins given;
  const ScheduleValues values = toValues(schedule);
  visitSchedule(
      [](StringRef, auto &pin, const auto &value, const auto &byDefault) {
        if (value != byDefault)
          pin = value;
      },
      given, values, defaultSchedule(schedule.getContext()));
  return checkFieldsOfCPU(cpu, given);
}

std::string attn::checkSchedule(const ProblemFacts &facts, const TargetInfo &target,
                                ScheduleAttr schedule) {
  std::string fault = checkAlgorithm(facts, target, schedule);
  if (fault.empty())
    fault = checkPacking(facts, schedule);
  if (fault.empty() && !target.isGpu)
    fault = checkScheduleOfCPU(target, schedule);
  if (!fault.empty() || !target.isGpu)
    return fault;
  fault = checkInstruction(facts, target, schedule);
  if (fault.empty())
    fault = checkBlocks(target, schedule);
  if (fault.empty())
    fault = checkKeySplit(facts, schedule);
  if (fault.empty())
    fault = checkShared(target, sharedMemoryUse(facts, schedule));
  if (fault.empty())
    fault = checkRegisters(estimateRegisters(facts, schedule), target, schedule,
                           /*maySpill=*/schedule.getInstruction() == Instruction::Fma);
  return fault;
}

std::string attn::checkMergeSchedule(MergeStatesOp op, const TargetInfo &target,
                                     ScheduleAttr schedule) {
  if (!target.isGpu)
    return {};
  if (schedule.getWarpSplit() != WarpSplit::Rows)
    return "warp_split: a merge has no keys to share out, expected rows, got keys";
  std::string fault = checkBlocks(target, schedule);
  auto outType = cast<MemRefType>(op.getO().getType());
  int64_t outBytes = outType.getElementTypeBitWidth() / 8;
  if (fault.empty())
    fault = checkShared(target, mergeSharedMemory(schedule, outType.getShape().back(), outBytes));
  RegisterUse use;
  use.o = WarpTile(schedule).rows * paddedHeadDim(outType.getShape().back()) / kWarpSize;
  if (fault.empty())
    fault = checkRegisters(use, target, schedule, /*maySpill=*/true);
  return fault;
}
