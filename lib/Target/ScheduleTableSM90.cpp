//===- ScheduleTableSM90.cpp - Schedules of sm_90a ------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ScheduleTable.h"

using namespace attn;

namespace {

/// Warpgroups of wgmma, 64 rows each, beside one that copies.
constexpr ScheduleValues wgmma(int64_t warpgroups, int64_t kvTile, int64_t stages, int64_t qStages,
                               int64_t producerRegisters, int64_t consumerRegisters,
                               Persistence persistent = Persistence::None) {
  return {.algorithm = Algorithm::FA2,
          .qTile = 64 * warpgroups,
          .kvTile = kvTile,
          .stages = stages,
          .warps = 4 * warpgroups,
          .warpSplit = WarpSplit::Rows,
          .splitKV = 1,
          .instruction = Instruction::Wgmma,
          .qInRegisters = false,
          .order = TileOrder::Linear,
          .kvOrder = KVOrder::Descending,
          .overlap = true,
          .pingpong = true,
          .persistent = persistent,
          .qStages = qStages,
          .producerRegisters = producerRegisters,
          .consumerRegisters = consumerRegisters,
          .integerMax = true};
}

/// A row of 16-bit types through wgmma, up to head dims.
constexpr ScheduleRow wgmmaRow(llvm::StringLiteral name, int64_t maxHeadDimQK, int64_t maxHeadDimV,
                               unsigned masks, ScheduleValues schedule) {
  return {.name = name,
          .elements = elements::SixteenBit,
          .headDimQK = {8, maxHeadDimQK},
          .headDimV = {8, maxHeadDimV},
          .masks = masks,
          .phases = phases::Prefill,
          .minAlignment = 16,
          .schedule = schedule};
}

// Persistent CTAs load the next Q tile early. Where three warpgroups share a CTA (d64) that pays
// under every mask; with two only under full masks, which give CTAs equal work: under others, CTAs
// that start when an SM is free even the work out better (docs/performance.md).
constexpr ScheduleRow kWgmma[] = {
    wgmmaRow("wgmma_d64", 64, 64, masks::Any, wgmma(3, 128, 2, 2, 32, 160, Persistence::Static)),
    wgmmaRow("wgmma_d96", 96, 96, masks::Any, wgmma(2, 144, 2, 1, 24, 240)),
    wgmmaRow("wgmma_d128_full", 128, 128, masks::Full,
             wgmma(2, 128, 2, 2, 24, 240, Persistence::Static)),
    wgmmaRow("wgmma_d128", 128, 128, masks::Any, wgmma(2, 128, 2, 2, 24, 240)),
    wgmmaRow("wgmma_d192_v128", 192, 128, masks::Any, wgmma(2, 112, 2, 1, 24, 240)),
    wgmmaRow("wgmma_d192", 192, 192, masks::Any, wgmma(2, 96, 2, 1, 24, 240)),
    wgmmaRow("wgmma_d256", 256, 256, masks::Any, wgmma(2, 80, 2, 1, 24, 240)),
};

/// Rows of sm_80 for what wgmma does not take.
std::vector<ScheduleRow> allRows() {
  std::vector<ScheduleRow> rows(std::begin(kWgmma), std::end(kWgmma));
  llvm::append_range(rows, scheduleTableSM80().forward);
  return rows;
}

} // namespace

const ScheduleTable &attn::scheduleTableSM90() {
  static const std::vector<ScheduleRow> rows = allRows();
  static const ScheduleTable table = {rows, scheduleTableSM80().merge};
  return table;
}
