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
constexpr ScheduleValues tiles(int64_t qTile, int64_t kvTile) {
  return {.algorithm = Algorithm::FA2,
          .qTile = qTile,
          .kvTile = kvTile,
          .stages = 1,
          .warps = 1,
          .warpSplit = WarpSplit::Rows,
          .splitKV = 1,
          .instruction = Instruction::Fma,
          .qInRegisters = false,
          .order = TileOrder::Linear};
}

// The K and V tiles of a task and its scores stay in a second-level cache of 256 KiB.
const ScheduleRow kForward[] = {
    {.name = "cpu_decode", .phases = phases::Decode, .schedule = tiles(8, 128)},
    {.name = "cpu_d128", .headDimQK = {8, 128}, .headDimV = {8, 128}, .schedule = tiles(64, 128)},
    {.name = "cpu", .schedule = tiles(64, 64)},
};

const ScheduleTable kTable = {kForward, tiles(64, 64)};

} // namespace

const ScheduleTable &attn::scheduleTableCPU() { return kTable; }
