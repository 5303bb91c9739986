//===- Conversions.cpp - Conversions between narrow formats ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float8.h"
#include "Numbers.h"
#include "Operands.h"
#include "Semantics.h"

#include <cmath>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

float clamped(float value, bool relu) {
  // NaN stays NaN; -0 becomes 0.
  return relu && !std::isnan(value) && !(value > 0) ? 0.0f : value;
}

std::optional<Float8> formatOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Float8::E4M3;
  if (isa<Float8E5M2Type>(type))
    return Float8::E5M2;
  return std::nullopt;
}

template <typename OpTy> InFlightDiagnostic unknownFormat(OpTy op, Type type) {
  return op.emitError() << "the emulator has no semantics for the format " << type << " of '"
                        << op->getName() << "'";
}

/// The pair lies in two bytes, the second value above the first.
void putPair(std::byte *results, Float8 format, float low, float high) {
  put(results, 0, encodeF8(format, low));
  put(results, 1, encodeF8(format, high));
}

class F32PairToF8 : public Instruction {
public:
  F32PairToF8(Float8 format, bool relu) : format(format), relu(relu) {}
  void execute(Thread &, const std::byte *args, std::byte *results) const override {
    putPair(results, format, clamped(get<float>(args, 8), relu),
            clamped(get<float>(args, 0), relu));
  }
  static DecodeResult decode(NVVM::ConvertF32x2ToF8x2Op op) {
    std::optional<Float8> format = formatOf(op.getDstTy());
    if (!format)
      return unknownFormat(op, op.getDstTy());
    return makeInstruction<F32PairToF8>(*format, op.getRelu());
  }

private:
  Float8 format;
  bool relu;
};

class F16PairToF8 : public Instruction {
public:
  F16PairToF8(Float8 format, bool relu) : format(format), relu(relu) {}
  void execute(Thread &, const std::byte *args, std::byte *results) const override {
    putPair(results, format, clamped(fromF16(get<uint16_t>(args, 0)), relu),
            clamped(fromF16(get<uint16_t>(args, 2)), relu));
  }
  static DecodeResult decode(NVVM::ConvertF16x2ToF8x2Op op) {
    std::optional<Float8> format = formatOf(op.getDstTy());
    if (!format)
      return unknownFormat(op, op.getDstTy());
    return makeInstruction<F16PairToF8>(*format, op.getRelu());
  }

private:
  Float8 format;
  bool relu;
};

class F8PairToF16 : public Instruction {
public:
  F8PairToF16(Float8 format, bool relu) : format(format), relu(relu) {}
  void execute(Thread &, const std::byte *args, std::byte *results) const override {
    for (size_t i = 0; i != 2; ++i)
      put(results, 2 * i, toF16(clamped(decodeF8(format, get<uint8_t>(args, i)), relu)));
  }
  static DecodeResult decode(NVVM::ConvertF8x2ToF16x2Op op) {
    std::optional<Float8> format = formatOf(op.getSrcType());
    if (!format)
      return unknownFormat(op, op.getSrcType());
    return makeInstruction<F8PairToF16>(*format, op.getRelu());
  }

private:
  Float8 format;
  bool relu;
};

/// Two f32 to a packed pair of 16-bit values; the first operand is the upper one.
template <uint16_t (*encode)(float)> class F32PairTo16 : public Instruction {
public:
  explicit F32PairTo16(bool relu) : relu(relu) {}
  void execute(Thread &, const std::byte *args, std::byte *results) const override {
    put(results, 0, encode(clamped(get<float>(args, 8), relu)));
    put(results, 2, encode(clamped(get<float>(args, 0), relu)));
  }
  static DecodeResult decodeIntrinsic(Operation *op) {
    if (op->getNumOperands() != 2 || !op->getOperand(0).getType().isF32() ||
        !op->getOperand(1).getType().isF32())
      return op->emitError() << "'" << InstructionTable::nameOf(op) << "': expected two f32";
    return makeInstruction<F32PairTo16>(/*relu=*/false);
  }
  template <typename OpTy> static DecodeResult decode(OpTy op) {
    if (op.getRnd() != NVVM::FPRoundingMode::RN || op.getSat() != NVVM::SaturationMode::NONE)
      return op.emitError() << "the emulator has semantics for rounding to nearest without "
                               "saturation of '"
                            << op->getName() << "' alone";
    return makeInstruction<F32PairTo16>(op.getRelu());
  }

private:
  bool relu;
};

} // namespace

void attn::emu::registerConversions(InstructionTable &table) {
  addOp<NVVM::ConvertF32x2ToF8x2Op, F32PairToF8::decode>(table);
  addOp<NVVM::ConvertF16x2ToF8x2Op, F16PairToF8::decode>(table);
  addOp<NVVM::ConvertF8x2ToF16x2Op, F8PairToF16::decode>(table);
  table.add("llvm.nvvm.ff2bf16x2.rn", F32PairTo16<toBF16>::decodeIntrinsic);
  table.add("llvm.nvvm.ff2f16x2.rn", F32PairTo16<toF16>::decodeIntrinsic);
  addOp<NVVM::ConvertF32x2ToF16x2Op, F32PairTo16<toF16>::decode<NVVM::ConvertF32x2ToF16x2Op>>(
      table);
  addOp<NVVM::ConvertF32x2ToBF16x2Op, F32PairTo16<toBF16>::decode<NVVM::ConvertF32x2ToBF16x2Op>>(
      table);
}
