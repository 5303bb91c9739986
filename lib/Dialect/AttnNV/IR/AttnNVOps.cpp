//===- AttnNVOps.cpp - The attn_nv dialect and its verifiers --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <mlir/IR/Matchers.h>

using namespace mlir;
using namespace attn::nv;

#include "attn/Dialect/AttnNV/IR/AttnNVDialect.cpp.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/AttnNV/IR/AttnNVOps.cpp.inc"

void AttnNVDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/AttnNV/IR/AttnNVOps.cpp.inc"
      >();
}

/// The value of a constant operand.
static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

static bool isValidN(int64_t n) { return n >= 8 && n <= 256 && n % 8 == 0; }
static bool is16Bit(Type type) { return type.isF16() || type.isBF16(); }
static bool is8Bit(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

LogicalResult WgmmaOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                        ValueRange operands, DictionaryAttr attributes,
                                        OpaqueProperties properties, RegionRange regions,
                                        SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  int64_t n = static_cast<int32_t>(adaptor.getN());
  if (!isValidN(n))
    return emitOptionalError(location,
                             "'attn_nv.wgmma' op C1: expected n to be a multiple of 8 in "
                             "[8, 256], got ",
                             n);
  types.assign(n / 2, Float32Type::get(context));
  return success();
}

int64_t WgmmaOp::getK() { return is16Bit(getTypeA()) ? 16 : 32; }

LogicalResult WgmmaOp::verify() {
  Type a = getTypeA(), b = getTypeB();
  if (!(is16Bit(a) && a == b) && !(is8Bit(a) && is8Bit(b)))
    return emitOpError() << "C2: expected both operands to be f16, both bf16, or each f8E4M3FN or "
                            "f8E5M2, got "
                         << a << " and " << b;
  size_t registers = getARegisters().size();
  if (getADesc() ? registers != 0 : registers != 4)
    return emitOpError() << "C3: expected A as one descriptor or as four registers, got "
                         << (getADesc() ? "a descriptor and " : "") << registers << " registers";
  if ((getTransposeA() || getTransposeB()) && !is16Bit(a))
    return emitOpError() << "C4: expected K-major operands of 8-bit elements";
  if (getTransposeA() && !getADesc())
    return emitOpError() << "C4: expected transpose_a with a descriptor, got registers";
  size_t values = getAcc().size();
  if (values != 0 && values != getD().size())
    return emitOpError() << "C5: expected n / 2 = " << getD().size() << " accumulators, got "
                         << values;
  if (values == 0 && getScaleD())
    return emitOpError() << "C5: expected accumulators with scale_d";
  return success();
}

LogicalResult WgmmaFenceOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                             ValueRange operands, DictionaryAttr, OpaqueProperties,
                                             RegionRange, SmallVectorImpl<Type> &types) {
  types.assign(operands.getTypes().begin(), operands.getTypes().end());
  return success();
}

LogicalResult WgmmaWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                            ValueRange operands, DictionaryAttr, OpaqueProperties,
                                            RegionRange, SmallVectorImpl<Type> &types) {
  types.assign(operands.getTypes().begin(), operands.getTypes().end());
  return success();
}

LogicalResult WgmmaWaitOp::verify() {
  int64_t pending = static_cast<int32_t>(getPending());
  if (pending < 0 || pending > 7)
    return emitOpError() << "C1: expected pending to be in [0, 7], got " << pending;
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers and copies
//===----------------------------------------------------------------------===//

LogicalResult BarrierArriveOp::verify() {
  std::optional<int64_t> id = constantOf(getId());
  if (id && (*id < 0 || *id > 15))
    return emitOpError() << "C1: expected the id to be in [0, 15], got " << *id;
  std::optional<int64_t> threads = constantOf(getThreads());
  if (threads && (*threads < 32 || *threads > 1024 || *threads % 32 != 0))
    return emitOpError() << "C1: expected the number of threads to be a multiple of 32 in "
                            "[32, 1024], got "
                         << *threads;
  return success();
}

LogicalResult BulkReduceOp::verify() {
  Type type = getElementType();
  if (!type.isF32() && !is16Bit(type) && !type.isSignlessInteger(32))
    return emitOpError() << "C1: expected f32, f16, bf16 or i32 elements, got " << type;
  std::optional<int64_t> bytes = constantOf(getBytes());
  if (bytes && (*bytes <= 0 || *bytes % 16 != 0))
    return emitOpError() << "C2: expected a positive multiple of 16 bytes, got " << *bytes;
  return success();
}
