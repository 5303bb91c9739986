//===- TargetInfoTest.cpp - The table of targets --------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblem.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::test;

TEST(TargetInfo, KnowsItsTargets) {
  for (const char *name : {"cpu", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"}) {
    const TargetInfo *target = findTarget(name);
    ASSERT_NE(target, nullptr) << name;
    EXPECT_EQ(target->name, name);
    EXPECT_GT(target->parallelUnits, 0) << name;
    ASSERT_FALSE(target->rates.empty()) << name;
    EXPECT_GT(target->rates.front().f32TFlops, 0) << name;
    if (!target->isGpu)
      continue;
    EXPECT_TRUE(target->hasCpAsync() && target->hasLdmatrix() && target->hasMmaM16N8K16()) << name;
    EXPECT_EQ(target->hasWgmma(), std::string(name) == "sm_90a") << name;
    EXPECT_GE(target->minPtxVersion, 70u) << name;
    EXPECT_EQ(target->sharedBytesPerSM,
              target->sharedBytesPerCta + target->reservedSharedBytesPerCta)
        << name;
    EXPECT_EQ(target->rates.front().source, RateSource::Datasheet) << name;
  }
  EXPECT_GE(findTarget("cpu")->vectorBits, 128);
  EXPECT_TRUE(findTarget("sm_90")->hasTma());
  EXPECT_FALSE(findTarget("sm_89")->hasTma());
}

TEST(TargetInfo, DevicesRunTheirBestTarget) {
  auto nameOf = [](int major, int minor) { return targetOfDevice(major, minor)->name; };
  EXPECT_EQ(nameOf(8, 0), "sm_80");
  EXPECT_EQ(nameOf(8, 9), "sm_89");
  EXPECT_EQ(nameOf(9, 0), "sm_90a");
  // Chips that the table does not know.
  EXPECT_EQ(nameOf(8, 7), "sm_80");
  EXPECT_EQ(nameOf(10, 0), "sm_80");
  EXPECT_EQ(targetOfDevice(7, 5), nullptr);
}

TEST(TargetInfo, NamesKnownTargetsForAnUnknownOne) {
  EXPECT_EQ(findTarget("sm_75"), nullptr);
  EXPECT_EQ(unknownTargetMessage("sm_75"),
            "unknown target 'sm_75': expected one of cpu, sm_80, sm_86, sm_89, sm_90, sm_90a");
}

TEST(TargetInfo, ListsCapabilities) {
  auto names = capabilityNames(*findTarget("sm_90"));
  EXPECT_EQ(names.size(), 4u);
  EXPECT_TRUE(llvm::is_contained(names, "Tma"));
  EXPECT_TRUE(capabilityNames(*findTarget("cpu")).empty());
}

TEST(TargetInfo, MmaNeedsItsCapabilities) {
  mlir::MLIRContext context;
  TestProblem problem(context, {});
  TargetInfo chip = *findTarget("sm_80");
  ProblemFacts facts = describeProblem(problem.op);
  ScheduleAttr schedule = selectSchedule(problem.op, chip).schedule;
  EXPECT_EQ(checkSchedule(facts, chip, schedule), "");
  chip.capabilities = static_cast<uint32_t>(Capability::CpAsync);
  EXPECT_EQ(
      checkSchedule(facts, chip, schedule),
      "instruction: sm_80 lacks mma.m16n8k16, ldmatrix or cp.async; choose instruction = fma");
}

TEST(Schedule, EveryFieldGoesToTheAttributeAndBack) {
  mlir::MLIRContext context;
  context.loadDialect<AttnDialect>();
  ScheduleValues values = defaultSchedule(&context), changed = values;
  visitSchedule(
      [](llvm::StringRef, auto &field) {
        using T = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<T, bool>)
          field = !field;
        else if constexpr (std::is_same_v<T, int64_t>)
          field = field + 8;
        else
          field = static_cast<T>(field == T(0) ? 1 : 0);
      },
      changed);
  ScheduleValues back = toValues(toAttr(&context, changed));
  visitSchedule(
      [](llvm::StringRef name, auto &field, auto &expected, auto &byDefault) {
        EXPECT_EQ(field, expected) << name.str();
        EXPECT_NE(field, byDefault) << name.str();
      },
      back, changed, values);
}

TEST(Schedule, PinsReplaceFields) {
  ScheduleValues row{.algorithm = Algorithm::FA2,
                     .qTile = 128,
                     .kvTile = 64,
                     .stages = 2,
                     .warps = 4,
                     .splitKV = 1};
  SchedulePins pins;
  EXPECT_EQ(mergePins(row, pins), row);
  EXPECT_EQ(toText(pins), "");
  pins.kvTile = 32;
  pins.order = TileOrder::LongestFirst;
  EXPECT_EQ(toText(pins), "kv_tile = 32, order = longest_first");
  ScheduleValues merged = mergePins(row, pins);
  EXPECT_EQ(merged.kvTile, 32);
  EXPECT_EQ(merged.qTile, 128);

  mlir::MLIRContext context;
  context.loadDialect<AttnDialect>();
  EXPECT_EQ(toValues(toAttr(&context, merged)), merged);
  EXPECT_EQ(checkPins(&context, pins), "");
  pins.warps = 0;
  EXPECT_EQ(checkPins(&context, pins), "expected warps in [1, 32], got 0");
}
