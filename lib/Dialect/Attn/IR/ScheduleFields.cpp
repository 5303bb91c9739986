//===- ScheduleFields.cpp - Schedules as plain data -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/ScheduleFields.h"

#include <mlir/AsmParser/AsmParser.h>

using namespace mlir;
using namespace attn;

/// Calls take(field...) with the attribute's parameters in their order.
template <typename Take> static auto applyTo(const ScheduleValues &s, Take &&take) {
  return take(s.algorithm, s.qTile, s.kvTile, s.stages, s.warps, s.warpSplit, s.splitKV,
              s.instruction, s.qInRegisters, s.order, s.kvOrder, s.overlap, s.pingpong,
              s.persistent, s.qStages, s.qByWarpgroup, s.producer, s.producerRegisters,
              s.consumerRegisters, s.integerMax, s.lazyRescale, s.packGqa);
}

ScheduleAttr attn::toAttr(MLIRContext *context, const ScheduleValues &schedule) {
  return applyTo(schedule, [&](auto... fields) { return ScheduleAttr::get(context, fields...); });
}

LogicalResult attn::verifySchedule(function_ref<InFlightDiagnostic()> emitError,
                                   const ScheduleValues &schedule) {
  return applyTo(schedule,
                 [&](auto... fields) { return ScheduleAttr::verify(emitError, fields...); });
}

ScheduleValues attn::toValues(ScheduleAttr s) {
  return {.algorithm = s.getAlgorithm(),
          .qTile = s.getQTile(),
          .kvTile = s.getKvTile(),
          .stages = s.getStages(),
          .warps = s.getWarps(),
          .warpSplit = s.getWarpSplit(),
          .splitKV = s.getSplitKv(),
          .instruction = s.getInstruction(),
          .qInRegisters = s.getQInRegisters(),
          .order = s.getOrder(),
          .kvOrder = s.getKvOrder(),
          .overlap = s.getOverlap(),
          .pingpong = s.getPingpong(),
          .persistent = s.getPersistent(),
          .qStages = s.getQStages(),
          .qByWarpgroup = s.getQByWarpgroup(),
          .producer = s.getProducer(),
          .producerRegisters = s.getProducerRegisters(),
          .consumerRegisters = s.getConsumerRegisters(),
          .integerMax = s.getIntegerMax(),
          .lazyRescale = s.getLazyRescale(),
          .packGqa = s.getPackGqa()};
}

const ScheduleValues &attn::defaultSchedule(MLIRContext *context) {
  // Values belong to no context: the first one answers for all.
  static const ScheduleValues values =
      toValues(cast<ScheduleAttr>(parseAttribute("#attn.schedule<>", context)));
  return values;
}
