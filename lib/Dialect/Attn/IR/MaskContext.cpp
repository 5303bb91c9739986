//===- MaskContext.cpp - What a mask needs to emit code -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/MaskContext.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/TypeUtilities.h>

#include <algorithm>

using namespace mlir;
using namespace attn;

Value MaskContext::constant(int64_t value) {
  Type type = seqLenKV.getType();
  if (type.isInteger(32))
    value = std::clamp(value, -kFarPosition, kFarPosition);
  TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}
Value MaskContext::position(Value value) {
  Type type = seqLenKV.getType();
  if (value.getType() == type)
    return value;
  if (type.isInteger(32)) {
    Value far = arith::ConstantIndexOp::create(builder, loc, kFarPosition);
    Value minusFar = arith::ConstantIndexOp::create(builder, loc, -kFarPosition);
    value = builder.createOrFold<arith::MinSIOp>(loc, value, far);
    value = builder.createOrFold<arith::MaxSIOp>(loc, value, minusFar);
  }
  return arith::IndexCastOp::create(builder, loc, type, value);
}
Value MaskContext::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value MaskContext::sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value MaskContext::min(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }
Value MaskContext::max(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
Value MaskContext::lessEqual(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, a, b);
}
Value MaskContext::logicalAnd(Value a, Value b) {
  return builder.createOrFold<arith::AndIOp>(loc, a, b);
}
Value MaskContext::logicalOr(Value a, Value b) {
  return builder.createOrFold<arith::OrIOp>(loc, a, b);
}
Value MaskContext::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}
Value MaskContext::trueValue() {
  TypedAttr attr = builder.getBoolAttr(true);
  if (auto shaped = dyn_cast<ShapedType>(seqLenKV.getType()))
    attr = DenseElementsAttr::get(shaped.clone(builder.getI1Type()), attr);
  return arith::ConstantOp::create(builder, loc, attr);
}
KeyRange MaskContext::allKeys() { return {constant(0), seqLenKV}; }
