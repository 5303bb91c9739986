//===- Schedule.h - Schedules as plain data, and pins -----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_SCHEDULE_H
#define ATTN_TARGET_SCHEDULE_H

#include "attn/Dialect/Attn/IR/ScheduleFields.h"

#include <optional>
#include <string>

namespace attn {

/// Fields of the schedule that are not left to the target's table.
using SchedulePins = ScheduleFields<std::optional>;

/// Text of a field's value, as #attn.schedule spells it.
inline std::string fieldText(int64_t value) { return std::to_string(value); }
inline std::string fieldText(bool value) { return value ? "true" : "false"; }
inline std::string fieldText(Algorithm value) { return stringifyAlgorithm(value).str(); }
inline std::string fieldText(WarpSplit value) { return stringifyWarpSplit(value).str(); }
inline std::string fieldText(Instruction value) { return stringifyInstruction(value).str(); }
inline std::string fieldText(TileOrder value) { return stringifyTileOrder(value).str(); }
inline std::string fieldText(KVOrder value) { return stringifyKVOrder(value).str(); }
inline std::string fieldText(Persistence value) { return stringifyPersistence(value).str(); }
inline std::string fieldText(Producer value) { return stringifyProducer(value).str(); }

/// On an attn.forward: a dictionary of the fields of its schedule that are pinned,
/// spelled as in #attn.schedule: {q_tile = 64, order = "linear"}.
constexpr llvm::StringLiteral kPinsAttr = "attn.pins";

/// The schedule with the pinned fields replaced.
ScheduleValues mergePins(ScheduleValues schedule, const SchedulePins &pins);

/// Why no schedule has these pins, whatever the target: a field out of its range. Empty
/// when there is nothing wrong.
std::string checkPins(mlir::MLIRContext *context, const SchedulePins &pins);

/// Reads a dictionary as kPinsAttr holds it. Returns what is wrong with it, or nothing.
std::string parsePins(mlir::DictionaryAttr dictionary, SchedulePins &pins);

/// Whether only kernels with warp roles, those of instruction = wgmma, have a field.
bool isFieldOfRoles(llvm::StringRef name);

/// All fields of a schedule as pins.
SchedulePins toPins(const ScheduleValues &schedule);

/// The same without those that kernels of its instruction do not have.
SchedulePins toOwnPins(const ScheduleValues &schedule);

/// The pinned fields as "q_tile = 64, order = linear".
std::string toText(const SchedulePins &pins);

} // namespace attn

#endif // ATTN_TARGET_SCHEDULE_H
