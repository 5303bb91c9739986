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
constexpr ScheduleValues wgmma(int64_t warpgroups, int64_t kvTile, int64_t qStages,
                               int64_t producerRegisters, int64_t consumerRegisters,
                               Persistence persistent) {
  return {.algorithm = Algorithm::FA2,
          .qTile = 64 * warpgroups,
          .kvTile = kvTile,
          .stages = 2,
          .warps = 4 * warpgroups,
          .warpSplit = WarpSplit::Rows,
          .splitKV = 1,
          .instruction = Instruction::Wgmma,
          .qInRegisters = false,
          .order = TileOrder::Linear,
          .kvOrder = KVOrder::Descending,
          .overlap = true,
          .pingpong = false,
          .persistent = persistent,
          .qStages = qStages,
          .qByWarpgroup = false,
          .producerRegisters = producerRegisters,
          .consumerRegisters = consumerRegisters,
          .integerMax = true,
          .lazyRescale = true};
}

/// Two warpgroups that share the registers that the producer leaves.
constexpr ScheduleValues wgmmaPair(int64_t kvTile, int64_t qStages, Persistence persistent) {
  return wgmma(2, kvTile, qStages, 24, 240, persistent);
}

constexpr ScheduleValues withQInRegisters(ScheduleValues values) {
  values.qInRegisters = true;
  return values;
}

/// Buffers that each hold the rows of one warpgroup: with three of them those of the next tile come
/// while the others are in use, in three quarters of the room of two tiles.
constexpr ScheduleValues withQByWarpgroup(ScheduleValues values) {
  values.qByWarpgroup = true;
  return values;
}

constexpr ScheduleValues inTurns(ScheduleValues values) {
  values.pingpong = true;
  return values;
}

/// A row of 16-bit types through wgmma, up to head dims.
constexpr ScheduleRow wgmmaRow(llvm::StringLiteral name, int64_t maxHeadDimQK, int64_t maxHeadDimV,
                               unsigned masks, ScheduleValues schedule) {
  return {.name = name,
          .takes = {.elements = elements::SixteenBit,
                    .headDimQK = {8, maxHeadDimQK},
                    .headDimV = {8, maxHeadDimV},
                    .masks = masks,
                    .phases = phases::Prefill,
                    .minAlignment = 16},
          .schedule = schedule};
}

/// A row for head dims of Q and K from a minimum on, where sequences are promised to be short.
constexpr ScheduleRow shortRow(int64_t maxSeqLen, int64_t minHeadDimQK, ScheduleRow row) {
  row.takes.maxSeqLen = maxSeqLen;
  row.takes.headDimQK.min = minHeadDimQK;
  return row;
}

// Measured on an H200 (docs/performance.md). While a tile ends, the next Q tile comes and O leaves,
// which takes two Q buffers or three of half a tile; long sequences change tiles rarely and gain
// more from longer K/V tiles. Drawing tiles evens out the ends of CTAs, which is worth 1 to 7 %,
// except at head dim 128 without a mask: equal tiles, where it costs 1 %. The card's power bounds
// most of these kernels: Q in registers and no turns save some of it. 64 keys waste less on the
// diagonal than 80.
constexpr ScheduleRow kWgmma[] = {
    shortRow(1024, 8,
             wgmmaRow("wgmma_d64_short", 64, 64, masks::Causal | masks::Window,
                      wgmmaPair(128, 2, Persistence::Dynamic))),
    wgmmaRow("wgmma_d64", 64, 64, masks::Any, wgmma(3, 128, 2, 32, 160, Persistence::Dynamic)),
    shortRow(4096, 72,
             wgmmaRow("wgmma_d96_short", 96, 96, masks::Any,
                      withQInRegisters(wgmmaPair(128, 2, Persistence::Dynamic)))),
    wgmmaRow("wgmma_d96", 96, 96, masks::Full | masks::Causal,
             withQInRegisters(withQByWarpgroup(wgmmaPair(176, 3, Persistence::Dynamic)))),
    shortRow(4096, 8,
             wgmmaRow("wgmma_d128_short_full", 128, 128, masks::Full,
                      withQInRegisters(wgmmaPair(128, 2, Persistence::Static)))),
    shortRow(8192, 8,
             wgmmaRow("wgmma_d128_short", 128, 128, masks::Causal,
                      withQInRegisters(wgmmaPair(128, 2, Persistence::Dynamic)))),
    wgmmaRow("wgmma_d128_window", 128, 128, masks::Window,
             withQInRegisters(wgmmaPair(128, 2, Persistence::Dynamic))),
    wgmmaRow("wgmma_d128", 128, 128, masks::Any,
             withQByWarpgroup(wgmmaPair(176, 3, Persistence::Dynamic))),
    wgmmaRow("wgmma_d64_v256", 64, 256, masks::Any,
             withQByWarpgroup(wgmmaPair(96, 3, Persistence::Dynamic))),
    wgmmaRow("wgmma_d128_v256", 128, 256, masks::Any, wgmmaPair(80, 2, Persistence::Dynamic)),
    shortRow(2048, 136,
             wgmmaRow("wgmma_d192_v128_short", 192, 128, masks::Any,
                      withQInRegisters(wgmmaPair(96, 2, Persistence::Dynamic)))),
    wgmmaRow("wgmma_d192_v128", 192, 128, masks::Any,
             withQInRegisters(withQByWarpgroup(wgmmaPair(112, 3, Persistence::Dynamic)))),
    shortRow(2048, 136,
             wgmmaRow("wgmma_d192_short_full", 192, 192, masks::Full,
                      withQInRegisters(wgmmaPair(80, 2, Persistence::Dynamic)))),
    shortRow(2048, 136,
             wgmmaRow("wgmma_d192_short", 192, 192, masks::Any,
                      withQInRegisters(wgmmaPair(64, 2, Persistence::Dynamic)))),
    wgmmaRow("wgmma_d192", 192, 192, masks::Any,
             withQByWarpgroup(wgmmaPair(96, 3, Persistence::Dynamic))),
    wgmmaRow("wgmma_d256", 256, 256, masks::Any,
             inTurns(withQByWarpgroup(wgmmaPair(64, 3, Persistence::Dynamic)))),
};

/// A row for tensors that tensor maps do not take. One query too: what else takes it computes
/// without tensor cores.
constexpr ScheduleRow cpAsyncRow(llvm::StringLiteral name, int64_t maxHeadDimQK,
                                 int64_t maxHeadDimV, ScheduleValues schedule) {
  schedule.producer = Producer::CpAsync;
  ScheduleRow row = wgmmaRow(name, maxHeadDimQK, maxHeadDimV, masks::Any, schedule);
  row.takes.phases = phases::Any;
  row.takes.minAlignment = 1;
  return row;
}

// Not measured: the schedules above, changed until ptxas spills nothing. Addresses of copies and of
// O, which leaves from registers, take some; so do the counters of persistent CTAs.
constexpr ScheduleRow kCpAsync[] = {
    cpAsyncRow("wgmma_d64_cp_async", 64, 64, wgmma(3, 112, 2, 32, 160, Persistence::Static)),
    cpAsyncRow("wgmma_d128_cp_async", 128, 128, wgmma(2, 128, 2, 56, 224, Persistence::Static)),
    cpAsyncRow("wgmma_d192_v128_cp_async", 192, 128,
               inTurns(wgmma(2, 112, 1, 40, 232, Persistence::None))),
    cpAsyncRow("wgmma_d192_cp_async", 192, 192,
               inTurns(wgmma(2, 96, 1, 40, 232, Persistence::None))),
    cpAsyncRow("wgmma_d256_cp_async", 256, 256,
               inTurns(wgmma(2, 64, 1, 40, 232, Persistence::None))),
};

/// Rows of sm_80 for what wgmma does not take.
std::vector<ScheduleRow> allRows() {
  std::vector<ScheduleRow> rows(std::begin(kWgmma), std::end(kWgmma));
  llvm::append_range(rows, scheduleTableSM80().forward);
  // Aligned problems find their rows first.
  auto generic = llvm::find_if(rows, [](const ScheduleRow &row) { return row.isGeneric; });
  rows.insert(generic, std::begin(kCpAsync), std::end(kCpAsync));
  return rows;
}

} // namespace

const ScheduleTable &attn::scheduleTableSM90() {
  static const std::vector<ScheduleRow> rows = allRows();
  static const ScheduleTable table = {rows, scheduleTableSM80().merge};
  return table;
}
