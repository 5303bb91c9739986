//===- ScheduleTableCPU.cpp - Schedules of the CPU ------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/ScheduleTable.h"

using namespace attn;

namespace {

/// Tiles of a CPU task. Stages, warps and what they share out mean nothing here.
constexpr ScheduleValues tiles(int64_t qTile, int64_t kvTile, bool packGqa = false) {
  return {.algorithm = Algorithm::FA2,
          .qTile = qTile,
          .kvTile = kvTile,
          .stages = 1,
          .warps = 1,
          .warpSplit = WarpSplit::Rows,
          .splitKV = 1,
          .instruction = Instruction::Fma,
          .qInRegisters = false,
          .order = TileOrder::Linear,
          .qStages = 1,
          .qByWarpgroup = false,
          .lazyRescale = false,
          .packGqa = packGqa};
}

// Long Q tiles, because each reads all of K and V; the tiles of a task then take 256 KiB at
// head dim 128 and 450 KiB at 256, less than the second-level cache of current processors.
const ScheduleRow kForward[] = {
    {.name = "cpu_decode",
     .takes = {.phases = phases::Decode},
     .schedule = tiles(8, 128, /*packGqa=*/true)},
    {.name = "cpu_d128",
     .takes = {.headDimQK = {8, 128}, .headDimV = {8, 128}},
     .schedule = tiles(128, 64)},
    {.name = "cpu", .schedule = tiles(128, 64)},
};

const ScheduleTable kTable = {kForward, tiles(64, 64)};

} // namespace

const ScheduleTable &attn::scheduleTableCPU() { return kTable; }
