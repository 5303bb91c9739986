//===- Arithmetic.cpp - Approximate functions -----------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "Semantics.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;

namespace {

using Function = float (*)(float);

/// An f32 function of one operand. The emulator rounds the exact value; hardware is within the
/// error that PTX documents.
class Unary : public Instruction {
public:
  explicit Unary(Function function) : function(function) {}
  void execute(Thread &, const std::byte *args, std::byte *results) const override {
    put(results, 0, function(get<float>(args, 0)));
  }
  unsigned cycles() const override { return 8; }

private:
  Function function;
};

template <Function function> DecodeResult decodeUnary(Operation *op) {
  if (op->getNumOperands() != 1 || !op->getOperand(0).getType().isF32() ||
      op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return op->emitError() << "'" << InstructionTable::nameOf(op)
                           << "': expected one f32 and an f32 result";
  return makeInstruction<Unary>(function);
}

float exact(double value) { return static_cast<float>(value); }
float ex2(float x) { return exact(std::exp2(double(x))); }
float lg2(float x) { return exact(std::log2(double(x))); }
float rcp(float x) { return exact(1.0 / double(x)); }
float sqrtApprox(float x) { return exact(std::sqrt(double(x))); }
float rsqrt(float x) { return exact(1.0 / std::sqrt(double(x))); }
float tanhApprox(float x) { return exact(std::tanh(double(x))); }
/// A function whose subnormal arguments and results are zeros.
template <Function function> float flushed(float x) {
  return flushToZero(function(flushToZero(x)));
}

} // namespace

void attn::emu::registerArithmetic(InstructionTable &table) {
  table.add("llvm.nvvm.ex2.approx.f", decodeUnary<ex2>);
  table.add("llvm.nvvm.ex2.approx.f32", decodeUnary<ex2>);
  table.add("llvm.nvvm.ex2.approx.ftz.f", decodeUnary<flushed<ex2>>);
  table.add("llvm.nvvm.ex2.approx.ftz.f32", decodeUnary<flushed<ex2>>);
  table.add("llvm.nvvm.lg2.approx.f", decodeUnary<lg2>);
  table.add("llvm.nvvm.lg2.approx.ftz.f", decodeUnary<flushed<lg2>>);
  table.add("llvm.nvvm.rcp.approx.ftz.f", decodeUnary<flushed<rcp>>);
  table.add(NVVM::RcpApproxFtzF32Op::getOperationName(), decodeUnary<flushed<rcp>>);
  table.add("llvm.nvvm.sqrt.approx.f", decodeUnary<sqrtApprox>);
  table.add("llvm.nvvm.sqrt.approx.ftz.f", decodeUnary<flushed<sqrtApprox>>);
  table.add("llvm.nvvm.rsqrt.approx.f", decodeUnary<rsqrt>);
  table.add("llvm.nvvm.rsqrt.approx.ftz.f", decodeUnary<flushed<rsqrt>>);
  table.add("llvm.intr.tanh", decodeUnary<tanhApprox>);
}
