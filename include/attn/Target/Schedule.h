//===- Schedule.h - Schedules as plain data, and pins -----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_SCHEDULE_H
#define ATTN_TARGET_SCHEDULE_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include <optional>
#include <string>
#include <type_traits>

namespace attn {

/// The fields of #attn.schedule, each in a slot: a value, or an optional one.
template <template <typename> class Slot> struct ScheduleFields {
  Slot<Algorithm> algorithm{};
  Slot<int64_t> qTile{}, kvTile{}, stages{}, warps{};
  Slot<WarpSplit> warpSplit{};
  Slot<int64_t> splitKV{};
  Slot<Instruction> instruction{};
  Slot<bool> qInRegisters{};
  Slot<TileOrder> order{};
  Slot<KVOrder> kvOrder{};
  Slot<bool> overlap{}, pingpong{};
  Slot<Persistence> persistent{};
  Slot<int64_t> qStages{};
  Slot<Producer> producer{};
  Slot<int64_t> producerRegisters{}, consumerRegisters{};
  Slot<bool> integerMax{}, lazyRescale{}, packGqa{};

  bool operator==(const ScheduleFields &) const = default;
};

/// A schedule as a table row holds it.
using ScheduleValues = ScheduleFields<std::type_identity_t>;

/// Fields of the schedule that are not left to the target's table.
using SchedulePins = ScheduleFields<std::optional>;

/// Calls visit(name, field...) for each field of #attn.schedule, in its order; all
/// arguments after the visitor are ScheduleFields, walked side by side.
template <typename Visitor, typename... Fields>
void visitSchedule(Visitor &&visit, Fields &...fields) {
  visit("algorithm", fields.algorithm...);
  visit("q_tile", fields.qTile...);
  visit("kv_tile", fields.kvTile...);
  visit("stages", fields.stages...);
  visit("warps", fields.warps...);
  visit("warp_split", fields.warpSplit...);
  visit("split_kv", fields.splitKV...);
  visit("instruction", fields.instruction...);
  visit("q_in_registers", fields.qInRegisters...);
  visit("order", fields.order...);
  visit("kv_order", fields.kvOrder...);
  visit("overlap", fields.overlap...);
  visit("pingpong", fields.pingpong...);
  visit("persistent", fields.persistent...);
  visit("q_stages", fields.qStages...);
  visit("producer", fields.producer...);
  visit("producer_registers", fields.producerRegisters...);
  visit("consumer_registers", fields.consumerRegisters...);
  visit("integer_max", fields.integerMax...);
  visit("lazy_rescale", fields.lazyRescale...);
  visit("pack_gqa", fields.packGqa...);
}

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

/// The schedule as an attribute. Its fields are in the ranges that the attribute allows.
ScheduleAttr toAttr(mlir::MLIRContext *context, const ScheduleValues &schedule);

/// The fields of a schedule attribute.
ScheduleValues toValues(ScheduleAttr schedule);

/// Why no schedule has these pins, whatever the target: a field out of its range. Empty
/// when there is nothing wrong.
std::string checkPins(mlir::MLIRContext *context, const SchedulePins &pins);

/// Reads a dictionary as kPinsAttr holds it. Returns what is wrong with it, or nothing.
std::string parsePins(mlir::DictionaryAttr dictionary, SchedulePins &pins);

/// The pinned fields as "q_tile = 64, order = linear".
std::string toText(const SchedulePins &pins);

} // namespace attn

#endif // ATTN_TARGET_SCHEDULE_H
