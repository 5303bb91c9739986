//===- ScheduleFields.h - Schedules as plain data ---------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attribute cannot be changed, and its fields are many: who needs another one takes the values
// of a schedule, changes what is to change, and makes an attribute of them.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_SCHEDULEFIELDS_H
#define ATTN_DIALECT_ATTN_IR_SCHEDULEFIELDS_H

#include "attn/Dialect/Attn/IR/Attn.h"

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
  Slot<bool> qByWarpgroup{};
  Slot<Producer> producer{};
  Slot<int64_t> producerRegisters{}, consumerRegisters{};
  Slot<bool> integerMax{}, lazyRescale{}, packGqa{};

  bool operator==(const ScheduleFields &) const = default;
};

/// A schedule as a table row holds it.
using ScheduleValues = ScheduleFields<std::type_identity_t>;

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
  visit("q_by_warpgroup", fields.qByWarpgroup...);
  visit("producer", fields.producer...);
  visit("producer_registers", fields.producerRegisters...);
  visit("consumer_registers", fields.consumerRegisters...);
  visit("integer_max", fields.integerMax...);
  visit("lazy_rescale", fields.lazyRescale...);
  visit("pack_gqa", fields.packGqa...);
}

/// The schedule as an attribute. Its fields are in the ranges that the attribute allows.
ScheduleAttr toAttr(mlir::MLIRContext *context, const ScheduleValues &schedule);

/// The fields of a schedule attribute.
ScheduleValues toValues(ScheduleAttr schedule);

/// Whether all fields are in the ranges that the attribute allows; `emitError` is told if not.
mlir::LogicalResult verifySchedule(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                   const ScheduleValues &schedule);

/// What #attn.schedule has where all fields are left out. The dialect is loaded.
const ScheduleValues &defaultSchedule(mlir::MLIRContext *context);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_SCHEDULEFIELDS_H
