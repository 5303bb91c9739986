//===- Schedule.cpp - Schedules as plain data, and pins -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Schedule.h"

#include <llvm/Support/raw_ostream.h>
#include <mlir/IR/Diagnostics.h>

using namespace mlir;
using namespace attn;

ScheduleValues attn::mergePins(ScheduleValues schedule, const SchedulePins &pins) {
  visitSchedule([](StringRef, auto &value, auto &pin) { value = pin.value_or(value); }, schedule,
                pins);
  return schedule;
}

std::string attn::checkPins(MLIRContext *context, const SchedulePins &pins) {
  ScheduleValues schedule = mergePins(defaultSchedule(context), pins);
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  (void)verifySchedule([&] { return emitError(UnknownLoc::get(context)); }, schedule);
  return message;
}

static std::string attributeText(Attribute value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// What a value of a field must look like.
template <typename T> static std::string expectedText() {
  if constexpr (std::is_same_v<T, int64_t>)
    return "an integer";
  else if constexpr (std::is_same_v<T, bool>)
    return "true or false";
  else if constexpr (std::is_same_v<T, Algorithm>)
    return "\"naive\", \"two_pass\", \"fa1\" or \"fa2\"";
  else if constexpr (std::is_same_v<T, WarpSplit>)
    return "\"rows\" or \"keys\"";
  else if constexpr (std::is_same_v<T, Instruction>)
    return "\"mma\", \"wgmma\" or \"fma\"";
  else if constexpr (std::is_same_v<T, KVOrder>)
    return "\"ascending\" or \"descending\"";
  else if constexpr (std::is_same_v<T, Persistence>)
    return "\"none\", \"static\" or \"dynamic\"";
  else if constexpr (std::is_same_v<T, Producer>)
    return "\"tma\" or \"cp_async\"";
  else
    return "\"linear\" or \"longest_first\"";
}

template <typename T> static std::optional<T> parseValue(Attribute value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    auto integer = dyn_cast<IntegerAttr>(value);
    if (!integer || integer.getType().isInteger(1) || !integer.getValue().isSignedIntN(64))
      return std::nullopt;
    return integer.getValue().getSExtValue();
  } else if constexpr (std::is_same_v<T, bool>) {
    auto boolean = dyn_cast<BoolAttr>(value);
    return boolean ? std::optional<bool>(boolean.getValue()) : std::nullopt;
  } else {
    auto name = dyn_cast<StringAttr>(value);
    return name ? symbolizeEnum<T>(name.getValue()) : std::nullopt;
  }
}

std::string attn::parsePins(DictionaryAttr dictionary, SchedulePins &pins) {
  std::string error;
  SmallVector<StringRef> known;
  visitSchedule(
      [&](StringRef name, auto &pin) {
        using T = typename std::decay_t<decltype(pin)>::value_type;
        known.push_back(name);
        Attribute value = dictionary.get(name);
        if (!value || !error.empty())
          return;
        pin = parseValue<T>(value);
        if (!pin)
          error = "expected " + name.str() + " to be " + expectedText<T>() + ", got " +
                  attributeText(value);
      },
      pins);
  for (NamedAttribute entry : dictionary)
    if (error.empty() && !llvm::is_contained(known, entry.getName().getValue()))
      error = "unknown field '" + entry.getName().str() + "': expected one of " +
              llvm::join(known, ", ");
  return error.empty() ? checkPins(dictionary.getContext(), pins) : error;
}

bool attn::isFieldOfRoles(StringRef name) {
  constexpr StringLiteral names[] = {
      "kv_order",       "overlap",  "pingpong",           "persistent",         "q_stages",
      "q_by_warpgroup", "producer", "producer_registers", "consumer_registers", "integer_max"};
  return llvm::is_contained(names, name);
}

SchedulePins attn::toPins(const ScheduleValues &schedule) {
  SchedulePins pins;
  visitSchedule([](StringRef, auto &pin, const auto &value) { pin = value; }, pins, schedule);
  return pins;
}

SchedulePins attn::toOwnPins(const ScheduleValues &schedule) {
  SchedulePins pins = toPins(schedule);
  if (schedule.instruction != Instruction::Wgmma)
    visitSchedule(
        [](StringRef name, auto &pin) {
          if (isFieldOfRoles(name))
            pin.reset();
        },
        pins);
  return pins;
}

std::string attn::toText(const SchedulePins &pins) {
  SmallVector<std::string> fields;
  visitSchedule(
      [&](StringRef name, auto &pin) {
        if (pin)
          fields.push_back(name.str() + " = " + fieldText(*pin));
      },
      pins);
  return llvm::join(fields, ", ");
}
