//===- AttnAttrs.cpp - KV layouts and schedules ---------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/IR/DialectImplementation.h>

using namespace mlir;
using namespace attn;

#include "attn/Dialect/Attn/IR/AttnEnums.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// DenseLayoutAttr
//===----------------------------------------------------------------------===//

Attribute DenseLayoutAttr::parse(AsmParser &parser, Type) {
  if (failed(refuseParameters(parser)))
    return {};
  return get(parser.getContext());
}
void DenseLayoutAttr::print(AsmPrinter &) const {}

Value DenseLayoutAttr::seqLen(OpBuilder &builder, Location loc, Value tensor, ValueRange,
                              Value) const {
  return memref::DimOp::create(builder, loc, tensor, 1);
}

Value DenseLayoutAttr::loadTile(OpBuilder &builder, Location loc, Type tileType, Value tensor,
                                ValueRange, Value batch, Value row, Value head,
                                Value rowLimit) const {
  return LoadTileOp::create(builder, loc, cast<TileType>(tileType), tensor, batch, row, head,
                            rowLimit, FloatAttr());
}

bool DenseLayoutAttr::isBulkTile(int64_t) const { return true; }

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Algorithm algorithm, int64_t q_tile, int64_t kv_tile,
                                   int64_t stages, int64_t warps, WarpSplit, int64_t split_kv,
                                   Instruction, bool, TileOrder, KVOrder, bool, bool, Persistence,
                                   int64_t q_stages, bool, Producer, int64_t producer_registers,
                                   int64_t consumer_registers, bool, bool, bool) {
  struct Field {
    StringRef name;
    int64_t value, min, max;
  };
  for (const Field &field :
       {Field{"q_tile", q_tile, 1, 1024}, Field{"kv_tile", kv_tile, 1, 1024},
        Field{"stages", stages, 1, 8}, Field{"warps", warps, 1, 32},
        Field{"split_kv", split_kv, 1, 1024}, Field{"q_stages", q_stages, 1, 8},
        Field{"producer_registers", producer_registers, 0, 256},
        Field{"consumer_registers", consumer_registers, 0, 256}})
    if (field.value < field.min || field.value > field.max)
      return emitError() << "expected " << field.name << " in [" << field.min << ", " << field.max
                         << "], got " << field.value;
  if (split_kv > 1 && algorithm == Algorithm::FA1)
    return emitError() << "expected split_kv = 1 with algorithm = fa1, got " << split_kv;
  return success();
}

//===----------------------------------------------------------------------===//
// Tile layouts
//===----------------------------------------------------------------------===//

LogicalResult SharedLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t pitch,
                                       int64_t xorMask) {
  if (pitch < 16 || pitch % 16 != 0)
    return emitError() << "expected pitch to be a positive multiple of 16 bytes, got " << pitch;
  if (xorMask != 0 && xorMask != 1 && xorMask != 3 && xorMask != 7)
    return emitError() << "expected xor_mask to be 0, 1, 3 or 7, got " << xorMask;
  // Chunk c ^ xor_mask must lie in the same row.
  int64_t chunks = pitch / 16;
  if (chunks % (xorMask + 1) != 0)
    return emitError() << "expected a pitch of a multiple of " << (xorMask + 1) * 16
                       << " bytes for xor_mask = " << xorMask << ", got " << pitch;
  return success();
}

LogicalResult BoxedLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t parts) {
  if (parts < 1 || parts > 8)
    return emitError() << "expected parts in [1, 8], got " << parts;
  return success();
}

LogicalResult FragmentLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, FragmentRole,
                                         int64_t warps, FragmentSplit) {
  if (warps < 1 || warps > 32)
    return emitError() << "expected warps in [1, 32], got " << warps;
  return success();
}
