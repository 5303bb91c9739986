//===- AttnTypes.cpp - Tiles, softmax states, pipes -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/IR/DialectImplementation.h>

using namespace mlir;
using namespace attn;

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnTypes.cpp.inc"

/// The largest tile of any schedule is q_tile x kv_tile.
static constexpr int64_t kMaxTileElements = 1024 * 1024;

void AttnDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Attn/IR/AttnTypes.cpp.inc"
      >();
}

Type TileType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type elementType;
  Attribute layout;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(loc, parser.getContext(), shape, elementType, layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType();
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

/// A row of the tile must fit in a row of the buffer.
static LogicalResult verifySharedTile(function_ref<InFlightDiagnostic()> emitError,
                                      ArrayRef<int64_t> shape, Type elementType,
                                      SharedLayoutAttr layout) {
  int64_t rowBytes = shape.back() * (elementType.getIntOrFloatBitWidth() / 8);
  if (shape.size() == 2 && layout.getPitch() < rowBytes)
    return emitError() << "expected a pitch of at least " << rowBytes << " bytes for rows of "
                       << shape.back() << " elements, got " << layout;
  return success();
}

/// Each warp holds whole blocks of 16 rows and 8 columns.
static LogicalResult verifyFragmentTile(function_ref<InFlightDiagnostic()> emitError,
                                        ArrayRef<int64_t> shape, FragmentLayoutAttr layout) {
  int64_t rowBlock = 16, colBlock = 8;
  if (layout.getSplit() == FragmentSplit::Rows)
    rowBlock *= layout.getWarps();
  if (layout.getSplit() == FragmentSplit::Cols)
    colBlock *= layout.getWarps();
  if (shape[0] % rowBlock != 0)
    return emitError() << "expected a multiple of " << rowBlock << " rows for " << layout
                       << ", got " << shape[0];
  if (shape.size() == 2 && shape[1] % colBlock != 0)
    return emitError() << "expected a multiple of " << colBlock << " columns for " << layout
                       << ", got " << shape[1];
  return success();
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType, Attribute layout) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "expected a tile of rank 1 or 2, got rank " << shape.size();
  for (int64_t size : shape)
    if (size < 1 || size > 65536)
      return emitError() << "expected tile sizes in [1, 65536], got " << size;
  if (shape.size() == 2 && shape[0] * shape[1] > kMaxTileElements)
    return emitError() << "expected a tile of at most " << kMaxTileElements << " elements, got "
                       << shape[0] << "x" << shape[1];
  if (!elementType.isF32() && !elementType.isF16() && !elementType.isBF16())
    return emitError() << "expected element type f32, f16 or bf16, got " << elementType;
  if (!layout)
    return success();
  if (auto shared = dyn_cast<SharedLayoutAttr>(layout))
    return verifySharedTile(emitError, shape, elementType, shared);
  if (auto fragment = dyn_cast<FragmentLayoutAttr>(layout))
    return verifyFragmentTile(emitError, shape, fragment);
  if (auto boxed = dyn_cast<BoxedLayoutAttr>(layout)) {
    int64_t unit = 8 * boxed.getParts();
    if (shape.size() == 2 && shape[0] % unit == 0 && !elementType.isF32())
      return success();
    return emitError() << "expected 16-bit elements and a multiple of " << unit << " rows for "
                       << layout << ", got " << shape[0] << " rows of " << elementType;
  }
  return emitError() << "expected a shared, boxed or fragment layout, got " << layout;
}

LogicalResult SoftmaxStateType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                                       Attribute layout) {
  if (rows < 1 || rows > 65536)
    return emitError() << "expected rows in [1, 65536], got " << rows;
  if (!layout)
    return success();
  auto fragment = dyn_cast<FragmentLayoutAttr>(layout);
  if (!fragment)
    return emitError() << "expected a fragment layout, got " << layout;
  return verifyFragmentTile(emitError, rows, fragment);
}

LogicalResult MailboxType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t values,
                                  int64_t stages) {
  if (values < 1 || values > 4)
    return emitError() << "expected values in [1, 4], got " << values;
  if (stages < 1 || stages > 8)
    return emitError() << "expected stages in [1, 8], got " << stages;
  return success();
}

LogicalResult PipeType::verify(function_ref<InFlightDiagnostic()> emitError, TileType tile,
                               int64_t stages, int64_t parts) {
  if (tile.getRank() != 2)
    return emitError() << "expected a pipe of rank-2 tiles, got " << tile;
  if (stages < 1 || stages > 8)
    return emitError() << "expected stages in [1, 8], got " << stages;
  if (parts < 1 || parts > stages)
    return emitError() << "expected parts in [1, stages], got " << parts << " of " << stages
                       << " stages";
  if (auto boxed = dyn_cast_if_present<BoxedLayoutAttr>(tile.getLayout());
      boxed && boxed.getParts() != parts)
    return emitError() << "expected tiles in the pipe's parts, got " << boxed.getParts() << " and "
                       << parts;
  if (tile.getRows() % parts != 0)
    return emitError() << "expected tiles of a multiple of " << parts << " rows for as many parts, "
                       << "got " << tile;
  return success();
}
