//===- AttnDialect.cpp - Registration of the attn dialect -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinDialect.h>
#include <mlir/Transforms/InliningUtils.h>

using namespace mlir;
using namespace attn;

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"

namespace {
/// Score regions may be inlined into tile programs; nothing in the dialect depends on
/// the function it sits in.
struct AttnInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

/// The marks on loops are read by passes that trust their kind, so that a hand-written
/// program must not get past the verifier with another.
LogicalResult AttnDialect::verifyOperationAttribute(Operation *op, NamedAttribute named) {
  StringRef name = named.getName();
  Attribute value = named.getValue();
  auto expect = [&](bool valid, StringRef what) -> LogicalResult {
    if (valid)
      return success();
    return op->emitOpError() << "expected '" << name << "' to be " << what << ", got " << value;
  };
  auto standsOn = [&](bool valid, StringRef where) -> LogicalResult {
    if (valid)
      return success();
    return op->emitOpError() << "expected '" << name << "' to stand on an " << where;
  };
  auto integer = dyn_cast<IntegerAttr>(value);
  bool isI64 = integer && integer.getType().isInteger(64);
  if (name == kKVPassAttr) {
    if (failed(standsOn(isa<scf::ForOp>(op), "scf.for")))
      return failure();
    return expect(isI64 && integer.getInt() >= 0, "an i64 that is not negative");
  }
  if (name == kScheduleAttr) {
    if (failed(standsOn(isa<scf::ForallOp>(op), "scf.forall")))
      return failure();
    return expect(isa<ScheduleAttr>(value), "a schedule");
  }
  if (name == kSmemBytesAttr)
    return expect(isI64 && integer.getInt() >= 0, "an i64 that is not negative");
  if (name == kThreadsAttr)
    return expect(isI64 && integer.getInt() >= 1 && integer.getInt() <= 1024,
                  "an i64 in [1, 1024]");
  if (name == kKernelAttr)
    return expect(isa<UnitAttr>(value), "a unit attribute");
  if (name == kMaskClassAttr) {
    auto text = dyn_cast<StringAttr>(value);
    return expect(text && (text == "masked" || text == "full"), "\"masked\" or \"full\"");
  }
  if (name == kAlignmentAttr) {
    bool isPowerOf2 = isI64 && integer.getInt() > 0 && llvm::isPowerOf2_64(integer.getInt());
    return expect(isPowerOf2, "a power of two of type i64");
  }
  return success();
}

/// The runtime makes arguments of a kernel by these marks. Tensor maps are pointers after stage 7.
LogicalResult AttnDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned number,
                                                    NamedAttribute named) {
  StringRef name = named.getName();
  Attribute value = named.getValue();
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return success();
  Type type = function.getArgumentTypes()[number];
  auto refuse = [&](StringRef what) {
    return op->emitOpError() << "argument " << number << " has '" << name << "', expected " << what
                             << ", got ";
  };
  if (name == kTileCounterAttr) {
    if (!isa<UnitAttr>(value))
      return refuse("a unit attribute") << value;
    auto counter = dyn_cast<MemRefType>(type);
    if (!counter || !counter.getElementType().isInteger(32) ||
        counter.getShape() != ArrayRef<int64_t>{1})
      return refuse("an argument of memref<1xi32>") << type;
    for (unsigned other = 0; other < number; ++other)
      if (function.getArgAttr(other, name))
        return refuse("one counter in a kernel") << "another as argument " << other;
  }
  if (name == kTensorMapOfAttr) {
    if (isa<BuiltinDialect>(type.getDialect()))
      return refuse("an argument that is a tensor map") << type;
    auto of = dyn_cast<IntegerAttr>(value);
    if (!of || !of.getType().isInteger(64) || of.getInt() < 0 ||
        of.getInt() >= function.getNumArguments() ||
        !isa<MemRefType>(function.getArgumentTypes()[of.getInt()]))
      return refuse("the position of a tensor among the arguments (i64)") << value;
  }
  return success();
}

void AttnDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
  addInterfaces<AttnInlinerInterface>();
}
