//===- ThreadBuilder.cpp - Emits the code of one GPU thread ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadBuilder.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>

#include <limits>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value ThreadBuilder::intLike(Value like, int64_t value) {
  Type type = like.getType();
  return arith::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
}
Value ThreadBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}
Value ThreadBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Value ThreadBuilder::f32(double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}
Value ThreadBuilder::add(Value a, Value c) { return b.createOrFold<arith::AddIOp>(loc, a, c); }
Value ThreadBuilder::sub(Value a, Value c) { return b.createOrFold<arith::SubIOp>(loc, a, c); }
Value ThreadBuilder::mul(Value a, Value c) { return b.createOrFold<arith::MulIOp>(loc, a, c); }
Value ThreadBuilder::div(Value a, int64_t c) {
  return b.createOrFold<arith::DivUIOp>(loc, a, intLike(a, c));
}
Value ThreadBuilder::rem(Value a, int64_t c) {
  return b.createOrFold<arith::RemUIOp>(loc, a, intLike(a, c));
}
Value ThreadBuilder::bitAnd(Value a, int64_t c) {
  return b.createOrFold<arith::AndIOp>(loc, a, intLike(a, c));
}
Value ThreadBuilder::bitXor(Value a, Value c) { return b.createOrFold<arith::XOrIOp>(loc, a, c); }
Value ThreadBuilder::min(Value a, Value c) { return b.createOrFold<arith::MinSIOp>(loc, a, c); }
Value ThreadBuilder::lessThan(Value a, Value c) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, c);
}
Value ThreadBuilder::equal(Value a, Value c) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, c);
}
Value ThreadBuilder::select(Value condition, Value a, Value c) {
  return b.createOrFold<arith::SelectOp>(loc, condition, a, c);
}

static Value castInteger(OpBuilder &b, Location loc, Value value, Type target) {
  Type type = value.getType();
  if (type == target)
    return value;
  if (type.isIndex() || target.isIndex())
    return arith::IndexCastOp::create(b, loc, target, value);
  if (type.getIntOrFloatBitWidth() > target.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, target, value);
  return arith::ExtSIOp::create(b, loc, target, value);
}
Value ThreadBuilder::toI32(Value value) { return castInteger(b, loc, value, b.getI32Type()); }
Value ThreadBuilder::toI64(Value value) { return castInteger(b, loc, value, b.getI64Type()); }
Value ThreadBuilder::toIndex(Value value) { return castInteger(b, loc, value, b.getIndexType()); }

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

Value ThreadBuilder::fadd(Value a, Value c) { return arith::AddFOp::create(b, loc, a, c); }
Value ThreadBuilder::fsub(Value a, Value c) { return arith::SubFOp::create(b, loc, a, c); }
Value ThreadBuilder::fmul(Value a, Value c) { return arith::MulFOp::create(b, loc, a, c); }
Value ThreadBuilder::fma(Value a, Value c, Value d) { return math::FmaOp::create(b, loc, a, c, d); }
// Returns the other operand for a NaN, as max.f32 does; scores with NaN stay NaN through P.
// The LLVM op, because arith's is expanded to a comparison and a select.
Value ThreadBuilder::fmax(Value a, Value c) {
  return LLVM::MaxNumOp::create(b, loc, a, c, LLVM::FastmathFlags::none);
}
Value ThreadBuilder::fequal(Value a, Value c) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, a, c);
}
std::pair<Value, Value> ThreadBuilder::twoSum(Value x, Value y) {
  Value sum = fadd(x, y), fromY = fsub(sum, x);
  Value tail = fadd(fsub(x, fsub(sum, fromY)), fsub(y, fromY));
  return {sum, select(fequal(fsub(sum, sum), f32(0)), tail, f32(0))};
}
Value ThreadBuilder::fgreater(Value a, Value c) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, a, c);
}
Value ThreadBuilder::negInf() { return f32(-std::numeric_limits<double>::infinity()); }

Value ThreadBuilder::intrinsic(StringRef name, Type result, ValueRange args) {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name), args).getResults();
}
Value ThreadBuilder::exp2(Value x) {
  return intrinsic("llvm.nvvm.ex2.approx.ftz.f32", b.getF32Type(), x);
}
Value ThreadBuilder::log2(Value x) {
  return intrinsic("llvm.nvvm.lg2.approx.ftz.f", b.getF32Type(), x);
}
Value ThreadBuilder::pack16(Value low, Value high, Type elementType) {
  StringRef name = elementType.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
  Value pair = intrinsic(name, VectorType::get({2}, elementType), {high, low});
  return LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value ThreadBuilder::thread() { return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()); }

Value ThreadBuilder::shuffleXor(Value value, int64_t mask) {
  return NVVM::ShflOp::create(b, loc, value.getType(), i32(-1), value, i32(mask), i32(31),
                              NVVM::ShflKindAttr::get(b.getContext(), NVVM::ShflKind::bfly),
                              UnitAttr());
}
Value ThreadBuilder::broadcast(Value value) {
  return NVVM::ShflOp::create(b, loc, value.getType(), i32(-1), value, i32(0), i32(31),
                              NVVM::ShflKindAttr::get(b.getContext(), NVVM::ShflKind::idx),
                              UnitAttr());
}
Value ThreadBuilder::any(Value condition) {
  return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), i32(-1), condition,
                                  NVVM::VoteSyncKind::any);
}
void ThreadBuilder::barrier() { NVVM::Barrier0Op::create(b, loc); }
void ThreadBuilder::emitIf(Value condition, function_ref<void()> body) {
  auto ifOp = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
}
void ThreadBuilder::warpBarrier() { NVVM::SyncWarpOp::create(b, loc, i32(-1)); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LLVM::LLVMPointerType ThreadBuilder::sharedPtrType() {
  return LLVM::LLVMPointerType::get(b.getContext(),
                                    static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
}
LLVM::LLVMPointerType ThreadBuilder::globalPtrType() {
  return LLVM::LLVMPointerType::get(b.getContext(),
                                    static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
}
Value ThreadBuilder::clusterPointer(Value pointer) {
  auto type = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  return LLVM::AddrSpaceCastOp::create(b, loc, type, pointer);
}
Value ThreadBuilder::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer, bytes);
}
Value ThreadBuilder::load(Type type, Value pointer, unsigned alignment) {
  return LLVM::LoadOp::create(b, loc, type, pointer, alignment);
}
void ThreadBuilder::store(Value value, Value pointer, unsigned alignment) {
  LLVM::StoreOp::create(b, loc, value, pointer, alignment);
}
