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

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType, Attribute layout) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "expected a tile of rank 1 or 2, got rank " << shape.size();
  for (int64_t size : shape)
    if (size < 1 || size > 65536)
      return emitError() << "expected tile sizes in [1, 65536], got " << size;
  if (!elementType.isF32() && !elementType.isF16() && !elementType.isBF16())
    return emitError() << "expected element type f32, f16 or bf16, got " << elementType;
  if (layout && !isa<SharedLayoutAttr, FragmentLayoutAttr>(layout))
    return emitError() << "expected a shared or fragment layout, got " << layout;
  return success();
}

LogicalResult SoftmaxStateType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows,
                                       Attribute layout) {
  if (rows < 1 || rows > 65536)
    return emitError() << "expected rows in [1, 65536], got " << rows;
  if (layout && !isa<FragmentLayoutAttr>(layout))
    return emitError() << "expected a fragment layout, got " << layout;
  return success();
}

LogicalResult PipeType::verify(function_ref<InFlightDiagnostic()> emitError, TileType tile,
                               int64_t stages) {
  if (tile.getRank() != 2)
    return emitError() << "expected a pipe of rank-2 tiles, got " << tile;
  if (stages < 1 || stages > 8)
    return emitError() << "expected stages in [1, 8], got " << stages;
  return success();
}
