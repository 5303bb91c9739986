//===- BuildProblem.cpp - From words to the problem op --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/BuildProblem.h"

#include "SpecValues.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>

using namespace mlir;
using namespace attn;

void attn::loadProblemDialects(MLIRContext &context) {
  context.loadDialect<AttnDialect, func::FuncDialect>();
}

namespace {

class ProblemBuilder {
public:
  ProblemBuilder(const KernelSpec &spec, MLIRContext &context) : spec(spec), b(&context) {}

  OwningOpRef<ModuleOp> build();

private:
  Type elementType(rt::ElementType type);
  /// Any strides but that of the last dim: views are arguments like any other.
  MemRefType stridedType(ArrayRef<int64_t> shape, Type type);
  MaskAttrInterface mask();
  DictionaryAttr pins();
  void buildScore(ForwardOp op, Value slopes);

  const KernelSpec &spec;
  OpBuilder b;
};

} // namespace

Type ProblemBuilder::elementType(rt::ElementType type) {
  switch (type) {
  case rt::ElementType::BF16:
    return b.getBF16Type();
  case rt::ElementType::F16:
    return b.getF16Type();
  default:
    return b.getF32Type();
  }
}

MemRefType ProblemBuilder::stridedType(ArrayRef<int64_t> shape, Type type) {
  SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
  strides.back() = 1;
  return MemRefType::get(shape, type, StridedLayoutAttr::get(b.getContext(), 0, strides));
}

MaskAttrInterface ProblemBuilder::mask() {
  auto window = [&](Alignment alignment) {
    return WindowMaskAttr::get(b.getContext(), *spec.windowLeft, *spec.windowRight, alignment);
  };
  switch (spec.mask) {
  case MaskKind::None:
    return NoneMaskAttr::get(b.getContext());
  case MaskKind::Causal:
    return CausalMaskAttr::get(b.getContext(), Alignment::BottomRight);
  case MaskKind::CausalTopLeft:
    return CausalMaskAttr::get(b.getContext(), Alignment::TopLeft);
  case MaskKind::Window:
    return window(Alignment::BottomRight);
  case MaskKind::WindowTopLeft:
    return window(Alignment::TopLeft);
  }
  llvm_unreachable("all masks are handled");
}

/// The pinned fields as a dictionary, spelled as in #attn.schedule.
DictionaryAttr ProblemBuilder::pins() {
  SmallVector<NamedAttribute> fields;
  visitPins(spec.pins, [&](const SpecKey &key, const auto &value) {
    using Value = typename std::decay_t<decltype(value)>::value_type;
    if (!value)
      return;
    if constexpr (std::is_same_v<Value, int64_t>)
      fields.push_back(b.getNamedAttr(key.name, b.getI64IntegerAttr(*value)));
    else if constexpr (std::is_same_v<Value, bool>)
      fields.push_back(b.getNamedAttr(key.name, b.getBoolAttr(*value)));
    else
      fields.push_back(b.getNamedAttr(key.name, b.getStringAttr(spec::valueText(*value))));
  });
  return fields.empty() ? DictionaryAttr() : b.getDictionaryAttr(fields);
}

void ProblemBuilder::buildScore(ForwardOp op, Value slopes) {
  Location loc = op.getLoc();
  SmallVector<Type> types(5, b.getIndexType());
  types[0] = b.getF32Type();
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getScore(), {}, types, SmallVector<Location>(5, loc));
  // s' = cap tanh(s / cap) - slope[h] |i + seq_len_kv - seq_len_q - j|
  Value score = block->getArgument(0);
  if (spec.softcap)
    score = SoftcapOp::create(b, loc, score, b.getF32FloatAttr(static_cast<float>(*spec.softcap)));
  if (slopes)
    score = AlibiOp::create(b, loc, score, slopes, block->getArgument(2), block->getArgument(3),
                            block->getArgument(4));
  YieldOp::create(b, loc, score);
}

OwningOpRef<ModuleOp> ProblemBuilder::build() {
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToStart(module->getBody());

  constexpr int64_t any = ShapedType::kDynamic;
  int64_t seqQ = spec.phase == Phase::Decode ? 1 : any;
  Type in = elementType(spec.dtype), f32 = b.getF32Type();
  SmallVector<Type> types{
      stridedType({any, seqQ, *spec.headsQ, *spec.headDim}, in),
      stridedType({any, any, *spec.headsKV, *spec.headDim}, in),
      stridedType({any, any, *spec.headsKV, *spec.headDimV}, in),
      stridedType({any, seqQ, *spec.headsQ, *spec.headDimV}, elementType(*spec.out))};
  if (spec.lse)
    types.push_back(stridedType({any, *spec.headsQ, seqQ}, f32));
  if (spec.alibi)
    types.push_back(MemRefType::get({*spec.headsQ}, f32));
  types.push_back(f32);

  auto function =
      func::FuncOp::create(b, loc, kProblemFunction, b.getFunctionType(types, TypeRange{}));
  b.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Value lse = spec.lse ? arguments[4] : Value();
  Value slopes = spec.alibi ? arguments[types.size() - 2] : Value();
  auto op = ForwardOp::create(
      b, loc, arguments[0], arguments[1], arguments[2], arguments[3], lse,
      /*lse_tail=*/Value(), arguments.back(), ValueRange(), ValueRange(), mask(),
      DenseLayoutAttr::get(b.getContext()), b.getI64IntegerAttr(spec.alignment),
      spec.maxSeqLen ? b.getI64IntegerAttr(*spec.maxSeqLen) : IntegerAttr(), ScheduleAttr());
  if (spec.softcap || spec.alibi)
    buildScore(op, slopes);
  if (DictionaryAttr pinned = pins())
    op->setAttr(kPinsAttr, pinned);
  func::ReturnOp::create(b, loc);
  return module;
}

OwningOpRef<ModuleOp> attn::buildProblem(const KernelSpec &spec, MLIRContext &context) {
  return ProblemBuilder(spec, context).build();
}
