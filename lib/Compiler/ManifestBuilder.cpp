//===- ManifestBuilder.cpp - Reads a manifest off the IR ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestBuilder.h"

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/IR/Warps.h"
#include "attn/Dialect/Attn/Transforms/FunctionAttrs.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Utils/StaticValueUtils.h>

using namespace mlir;
using namespace attn;

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// What each argument is to the op: the name by which a caller passes it.
static std::string argumentName(ForwardOp op, BlockArgument argument) {
  for (auto [name, value] : {std::pair<StringRef, Value>{"q", op.getQ()},
                             {"k", op.getK()},
                             {"v", op.getV()},
                             {"o", op.getO()},
                             {"lse", op.getLse()},
                             {"scale", op.getScale()}})
    if (value == argument)
      return name.str();
  for (Operation *user : argument.getUsers())
    if (auto alibi = dyn_cast<AlibiOp>(user); alibi && alibi.getSlopes() == argument)
      return "slopes";
  return "arg" + std::to_string(argument.getArgNumber());
}

static std::optional<rt::ArgumentKind> scalarKind(Type type) {
  if (type.isF32())
    return rt::ArgumentKind::F32;
  if (type.isF64())
    return rt::ArgumentKind::F64;
  if (type.isIndex())
    return rt::ArgumentKind::Index;
  if (type.isInteger(64))
    return rt::ArgumentKind::I64;
  if (type.isInteger(32))
    return rt::ArgumentKind::I32;
  return std::nullopt;
}

/// Arguments are passed with any strides, or dense without a say: a kernel that was
/// compiled for other strides would read past what the caller checked.
static bool hasPassableLayout(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return false;
  bool isFree = llvm::all_of(ArrayRef(strides).drop_back(),
                             [](int64_t stride) { return ShapedType::isDynamic(stride); });
  return (strides.empty() || strides.back() == 1) && (isFree || type.getRank() <= 1);
}

static rt::Expected<rt::ArgumentSpec> describeArgument(ForwardOp op, BlockArgument argument) {
  std::string name = argumentName(op, argument);
  Type type = argument.getType();
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) {
    if (std::optional<rt::ArgumentKind> kind = scalarKind(type))
      return rt::ArgumentSpec::scalar(name, *kind);
    return rt::fail(rt::ErrorCode::BadInput,
                    "argument '" + name +
                        "': expected a memref, f32, f64, i32, i64 or index, got " + print(type));
  }
  std::optional<rt::ElementType> element = rt::parseElementType(print(memref.getElementType()));
  if (!element || !hasPassableLayout(memref))
    return rt::fail(rt::ErrorCode::BadInput,
                    "argument '" + name +
                        "': expected a memref with run-time strides, the last "
                        "one 1, and offset 0, got " +
                        print(type));
  std::vector<int64_t> shape;
  for (int64_t size : memref.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? rt::kDynamic : size);
  // Kernels move rows of q, k, v and o in vectors; the rest element by element.
  int64_t alignment = rt::byteSize(*element);
  if (llvm::is_contained({op.getQ(), op.getK(), op.getV(), op.getO()}, argument))
    alignment = std::max(alignment, op.getAlignmentBytes());
  return rt::ArgumentSpec::memref(name, *element, std::move(shape), alignment);
}

/// A dim of one of the op's tensors.
struct TensorDim {
  Value tensor;
  int32_t dim;
};

rt::Status attn::readSignature(ForwardOp op, rt::Manifest &manifest) {
  auto function = cast<func::FuncOp>(op->getParentOp());
  if (function.getNumResults() != 0)
    return rt::fail(rt::ErrorCode::BadInput,
                    "function '" + function.getSymName().str() +
                        "': expected no results, since a kernel writes to its arguments");
  for (BlockArgument argument : function.getArguments()) {
    if (function.getArgAttr(argument.getArgNumber(), kWorkspaceAttr))
      return rt::fail(rt::ErrorCode::BadInput,
                      "argument " + std::to_string(argument.getArgNumber()) + " has " +
                          kWorkspaceAttr.str() +
                          ", which attn-split-kv alone sets; leave workspaces out of problems");
    rt::Expected<rt::ArgumentSpec> spec = describeArgument(op, argument);
    if (!spec)
      return rt::fail(spec.error());
    manifest.arguments.push_back(std::move(*spec));
  }
  Value q = op.getQ(), k = op.getK(), v = op.getV(), o = op.getO(), lse = op.getLse();
  const SmallVector<TensorDim> groups[] = {
      {{q, 0}, {k, 0}, {v, 0}, {o, 0}, {lse, 0}}, {{q, 1}, {o, 1}, {lse, 2}}, {{k, 1}, {v, 1}}};
  for (const SmallVector<TensorDim> &equal : groups) {
    std::vector<rt::DimRef> group;
    for (auto [tensor, dim] : equal)
      if (auto argument = dyn_cast_or_null<BlockArgument>(tensor))
        group.push_back({static_cast<int32_t>(argument.getArgNumber()), dim});
    manifest.equalSizes.push_back(std::move(group));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

/// A dim of `attn.workspace`: a constant, or [argument, dim].
static std::optional<rt::SizeExpr> workspaceSize(Attribute attr) {
  if (auto constant = dyn_cast<IntegerAttr>(attr))
    return rt::SizeExpr{rt::SizeFactor::constant(constant.getInt())};
  auto pair = dyn_cast<ArrayAttr>(attr);
  if (!pair || pair.size() != 2 || !isa<IntegerAttr>(pair[0]) || !isa<IntegerAttr>(pair[1]))
    return std::nullopt;
  return rt::SizeExpr{
      rt::SizeFactor::size(static_cast<int32_t>(cast<IntegerAttr>(pair[0]).getInt()),
                           static_cast<int32_t>(cast<IntegerAttr>(pair[1]).getInt()))};
}

rt::Status attn::readWorkspaces(ModuleOp module, rt::Manifest &manifest) {
  auto functions = module.getOps<func::FuncOp>();
  for (func::FuncOp function : functions) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto shape = function.getArgAttrOfType<ArrayAttr>(i, kWorkspaceAttr);
      if (!shape)
        continue;
      rt::WorkspaceSpec workspace;
      auto type = dyn_cast<MemRefType>(function.getArgument(i).getType());
      std::optional<rt::ElementType> element;
      if (type && type.getRank() == static_cast<int64_t>(shape.size()))
        element = rt::parseElementType(print(type.getElementType()));
      for (Attribute dim : shape) {
        std::optional<rt::SizeExpr> size = workspaceSize(dim);
        if (!size || !element)
          return rt::fail(rt::ErrorCode::Internal, "argument " + std::to_string(i) + " of '" +
                                                       function.getSymName().str() +
                                                       "' has a malformed " + kWorkspaceAttr.str());
        workspace.elementType = *element;
        workspace.shape.push_back(std::move(*size));
      }
      manifest.workspaces.push_back(std::move(workspace));
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Reads `value` as a constant or as ceilDiv(dim of an argument, divisor).
static std::optional<rt::SizeFactor> sizeFactor(Value value) {
  int64_t divisor = 1;
  if (auto division = value.getDefiningOp<arith::CeilDivUIOp>()) {
    std::optional<int64_t> constant = getConstantIntValue(division.getRhs());
    if (!constant || *constant < 1)
      return std::nullopt;
    divisor = *constant;
    value = division.getLhs();
  }
  auto dim = value.getDefiningOp<memref::DimOp>();
  if (!dim)
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(dim.getSource());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!argument || !index)
    return std::nullopt;
  return rt::SizeFactor::size(static_cast<int32_t>(argument.getArgNumber()),
                              static_cast<int32_t>(*index), divisor);
}

static rt::Status addFactor(OpFoldResult bound, const rt::Manifest &manifest, rt::SizeExpr &grid) {
  auto fail = [&](StringRef what) {
    return rt::fail(rt::ErrorCode::Internal,
                    "a bound of the loop over CTAs " + what.str() +
                        "; expected a constant or the size of an argument's dim, divided by a "
                        "constant");
  };
  if (std::optional<int64_t> constant = getConstantIntValue(bound)) {
    grid.times(rt::SizeFactor::constant(*constant));
    return {};
  }
  std::optional<rt::SizeFactor> factor = sizeFactor(cast<Value>(bound));
  if (!factor)
    return fail("has no closed form");
  int32_t workspace = factor->argument - static_cast<int32_t>(manifest.arguments.size());
  if (workspace < 0) {
    grid.times(*factor);
    return {};
  }
  if (workspace >= static_cast<int32_t>(manifest.workspaces.size()) ||
      factor->dim >= static_cast<int32_t>(manifest.workspaces[workspace].shape.size()))
    return fail("depends on what is no argument of the problem");
  // The size of a workspace is itself one of a user's argument.
  const rt::SizeExpr &size = manifest.workspaces[workspace].shape[factor->dim];
  if (size.factors.size() != 1 || size.factors[0].isConstant() || size.factors[0].value != 1)
    return fail("depends on a workspace");
  grid.times(rt::SizeFactor::size(size.factors[0].argument, size.factors[0].dim, factor->value));
  return {};
}

/// The factors of a product of sizes.
static SmallVector<OpFoldResult> factorsOf(Value product) {
  if (auto mul = product.getDefiningOp<arith::MulIOp>()) {
    SmallVector<OpFoldResult> factors = factorsOf(mul.getLhs());
    llvm::append_range(factors, factorsOf(mul.getRhs()));
    return factors;
  }
  return {getAsOpFoldResult(product)};
}

rt::Status attn::readKernels(ModuleOp module, rt::Manifest &manifest) {
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(kKernelAttr))
      continue;
    rt::KernelEntry kernel;
    kernel.name = function.getSymName().str();
    auto loops = function.getOps<scf::ForallOp>();
    if (!llvm::hasSingleElement(loops))
      return rt::fail(rt::ErrorCode::BadInput,
                      "kernel '" + kernel.name + "': expected one loop over CTAs");
    scf::ForallOp loop = *loops.begin();
    // The grid of a persistent kernel is that of its tiles, cut off at launch.
    SmallVector<OpFoldResult> bounds = loop.getMixedUpperBound();
    if (auto value = bounds.size() == 1 ? dyn_cast<Value>(bounds.front()) : Value())
      if (auto ctas = value.getDefiningOp<NumCtasOp>()) {
        kernel.persistent = true;
        bounds = factorsOf(ctas.getTiles());
      }
    for (OpFoldResult bound : bounds)
      if (rt::Status status = addFactor(bound, manifest, kernel.grid); !status)
        return status;
    auto schedule = loop->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    auto shared = loop->getAttrOfType<IntegerAttr>(kSmemBytesAttr);
    if (!schedule || !shared)
      return rt::fail(rt::ErrorCode::Internal,
                      "kernel '" + kernel.name + "' has no schedule or no shared memory size");
    kernel.threads = static_cast<int32_t>(schedule.getCtaWarps() * kWarpSize);
    kernel.dynamicSharedBytes = shared.getInt();
    for (int32_t i = 0; i < static_cast<int32_t>(function.getNumArguments()); ++i) {
      auto map = dyn_cast<TensorMapType>(function.getArgument(i).getType());
      if (!map) {
        // A launch passes them in this order.
        if (kernel.tileCounter || !kernel.tensorMaps.empty())
          return rt::fail(rt::ErrorCode::Internal,
                          "argument " + std::to_string(i) + " of kernel '" + kernel.name +
                              "' comes after its tile counter or tensor maps");
        if (function.getArgAttr(i, kTileCounterAttr))
          kernel.tileCounter = true;
        else
          kernel.arguments.push_back(i);
        continue;
      }
      auto of = function.getArgAttrOfType<IntegerAttr>(i, kTensorMapOfAttr);
      if (!of)
        return rt::fail(rt::ErrorCode::Internal, "argument " + std::to_string(i) + " of kernel '" +
                                                     kernel.name + "' has no " +
                                                     kTensorMapOfAttr.str());
      kernel.tensorMaps.push_back({static_cast<int32_t>(of.getInt()),
                                   static_cast<int32_t>(map.getRows()),
                                   static_cast<int32_t>(map.getCols())});
    }
    manifest.kernels.push_back(std::move(kernel));
  }
  return {};
}
