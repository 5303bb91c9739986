//===- ScheduleTableSM80.cpp - Schedules of sm_80 and its successors ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ScheduleTable.h"

using namespace attn;

namespace {

/// Warps of mma.sync on tiles that cp.async brings in.
constexpr ScheduleValues mma(int64_t qTile, int64_t kvTile, int64_t stages, bool qInRegisters,
                             WarpSplit warpSplit = WarpSplit::Rows, int64_t warps = 4) {
  return {.algorithm = Algorithm::FA2,
          .qTile = qTile,
          .kvTile = kvTile,
          .stages = stages,
          .warps = warps,
          .warpSplit = warpSplit,
          .splitKV = 1,
          .instruction = Instruction::Mma,
          .qInRegisters = qInRegisters,
          .order = TileOrder::Linear,
          .qStages = 1,
          .qByWarpgroup = false,
          .lazyRescale = true};
}

/// One query: 16 rows are the fewest that an mma takes, so the warps share out keys, and the query
/// heads of a key/value head fill rows that would be empty.
constexpr ScheduleValues oneQuery(int64_t stages, int64_t warps) {
  ScheduleValues values = mma(16, 64, stages, false, WarpSplit::Keys, warps);
  values.packGqa = true;
  return values;
}

constexpr ScheduleValues fma(int64_t qTile, int64_t kvTile, int64_t warps) {
  return {.algorithm = Algorithm::FA2,
          .qTile = qTile,
          .kvTile = kvTile,
          .stages = 1,
          .warps = warps,
          .warpSplit = WarpSplit::Rows,
          .splitKV = 1,
          .instruction = Instruction::Fma,
          .qInRegisters = false,
          .order = TileOrder::Linear,
          .qStages = 1,
          .qByWarpgroup = false,
          .lazyRescale = true};
}

/// A row of 16-bit types through tensor cores, up to a head dim.
constexpr ScheduleRow mmaRow(llvm::StringLiteral name, unsigned phases, int64_t maxHeadDim,
                             ScheduleValues schedule) {
  return {.name = name,
          .takes = {.elements = elements::SixteenBit,
                    .headDimQK = {8, maxHeadDim},
                    .headDimV = {8, maxHeadDim},
                    .phases = phases,
                    .minAlignment = 16},
          .schedule = schedule};
}

/// The row, where so many CTAs of it share an SM.
constexpr ScheduleRow withCtasPerSM(int64_t ctas, ScheduleRow row) {
  row.ctasPerSM = ctas;
  return row;
}

// One stage already overlaps the copy of K with P V and that of V with Q K^T; two are
// taken where two CTAs of an SM still find room. Unequal head dims go by the larger.
const ScheduleRow kForward[] = {
    // Four warps merge columns of O in units of 32; two do where the padded head dim is none.
    mmaRow("decode_d128", phases::Decode, 128, oneQuery(2, 4)),
    mmaRow("decode_d128_pair", phases::Decode, 128, oneQuery(2, 2)),
    mmaRow("decode_d256", phases::Decode, 256, oneQuery(1, 4)),
    mmaRow("decode_d256_pair", phases::Decode, 256, oneQuery(1, 2)),
    mmaRow("mma_d64", phases::Any, 64, mma(128, 64, 2, /*qInRegisters=*/true)),
    mmaRow("mma_d96", phases::Any, 96, mma(128, 64, 2, false)),
    // 48 keys rather than 64: as fast, and the accumulators fit without spills.
    withCtasPerSM(2, mmaRow("mma_d128", phases::Any, 128, mma(128, 48, 2, false))),
    mmaRow("mma_d128_small", phases::Any, 128, mma(128, 48, 1, false)),
    mmaRow("mma_d256", phases::Any, 256, mma(64, 64, 1, false)),
    // d_v beyond 256 has no place in registers; the budgets say by how much.
    mmaRow("mma_wide", phases::Any, 512, mma(64, 32, 1, false)),
    {.name = "generic", .isGeneric = true, .schedule = fma(64, 32, 4)},
    {.name = "generic_small", .isGeneric = true, .schedule = fma(32, 16, 2)},
};

const ScheduleTable kTable = {kForward, fma(64, 32, 4)};

} // namespace

const ScheduleTable &attn::scheduleTableSM80() { return kTable; }
