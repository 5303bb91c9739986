//===- Verifiers.cpp - Checks that several ops share ----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"

#include <llvm/ADT/SetVector.h>

using namespace mlir;
using namespace attn;

LogicalResult attn::verifyRank(Operation *op, StringRef constraint, NamedTensor tensor,
                               int64_t rank) {
  if (tensor.getType().getRank() != rank)
    return op->emitOpError() << constraint << ": expected " << tensor.name
                             << " to be a memref of rank " << rank << ", got " << tensor.getType();
  return success();
}

/// Emits an error where the tensor has no strides.
static FailureOr<SmallVector<int64_t>> getStrides(Operation *op, StringRef constraint,
                                                  NamedTensor tensor) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(tensor.getType().getStridesAndOffset(strides, offset)))
    return strides;
  return op->emitOpError() << constraint << ": expected " << tensor.name
                           << " to have a strided layout, got " << tensor.getType();
}

LogicalResult attn::verifyStrided(Operation *op, StringRef constraint, NamedTensor tensor) {
  return getStrides(op, constraint, tensor);
}

LogicalResult attn::verifyContiguousRows(Operation *op, StringRef constraint, NamedTensor tensor) {
  FailureOr<SmallVector<int64_t>> strides = getStrides(op, constraint, tensor);
  if (failed(strides))
    return failure();
  int64_t last = strides->back();
  if (last == 1)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic << constraint << ": expected the last dim of " << tensor.name
             << " to be contiguous (stride 1), got stride ";
  if (ShapedType::isDynamic(last))
    diagnostic << "?";
  else
    diagnostic << last;
  return diagnostic << " in " << tensor.getType()
                    << "; copy the tensor or pass a view with stride 1";
}

LogicalResult attn::verifyDistinctElements(Operation *op, StringRef constraint,
                                           NamedTensor tensor) {
  FailureOr<SmallVector<int64_t>> strides = getStrides(op, constraint, tensor);
  if (failed(strides))
    return failure();
  for (auto [dim, stride] : llvm::enumerate(*strides)) {
    int64_t size = tensor.getType().getDimSize(dim);
    // A computed stride is 0 where an inner dim is empty: nothing is written then.
    if (stride == 0 && size != 1 && !llvm::is_contained(tensor.getType().getShape(), 0))
      return op->emitOpError() << constraint << ": expected the elements of " << tensor.name
                               << " to lie at different addresses, got stride 0 in dim " << dim
                               << " of " << tensor.getType();
  }
  return success();
}

LogicalResult attn::verifyDefaultMemorySpace(Operation *op, StringRef constraint,
                                             NamedTensor tensor) {
  if (Attribute space = tensor.getType().getMemorySpace())
    return op->emitOpError() << constraint << ": expected " << tensor.name
                             << " to be in the default memory space, got " << space;
  return success();
}

LogicalResult attn::verifySameDim(Operation *op, StringRef constraint, StringRef what,
                                  NamedTensor a, unsigned dimA, NamedTensor b, unsigned dimB) {
  int64_t sizeA = a.getType().getDimSize(dimA);
  int64_t sizeB = b.getType().getDimSize(dimB);
  if (sizeA == sizeB || ShapedType::isDynamic(sizeA) || ShapedType::isDynamic(sizeB))
    return success();
  return op->emitOpError() << constraint << ": expected " << a.name << " and " << b.name
                           << " to agree in " << what << ", got " << sizeA << " and " << sizeB;
}

/// True when it is known that the op, with all it holds, writes no memory.
static bool writesNoMemory(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  return effects && llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

LogicalResult attn::verifyScoreRegion(Operation *op, StringRef constraint, Region &region,
                                      unsigned numPositions) {
  Block &block = region.front();
  auto types = block.getArgumentTypes();
  bool valid = types.size() == numPositions + 1 && types[0].isF32() &&
               llvm::all_of(llvm::drop_begin(types), [](Type t) { return t.isIndex(); });
  if (!valid) {
    InFlightDiagnostic diagnostic = op->emitOpError();
    diagnostic << constraint << ": expected a score region of (f32";
    for (unsigned i = 0; i < numPositions; ++i)
      diagnostic << ", index";
    return diagnostic << "), got (" << types << ")";
  }
  if (!isa<YieldOp>(block.back()))
    return op->emitOpError() << constraint << ": expected the score region to end with attn.yield";
  for (Operation &inner : block.without_terminator()) {
    if (!writesNoMemory(&inner)) {
      InFlightDiagnostic diagnostic = op->emitOpError();
      diagnostic << constraint << ": expected the ops of the score region to write no memory";
      diagnostic.attachNote(inner.getLoc()) << "'" << inner.getName() << "' may write memory";
      return diagnostic;
    }
    WalkResult result = inner.walk([&](Operation *nested) {
      for (Type type : nested->getResultTypes()) {
        if (type.isIntOrIndexOrFloat())
          continue;
        InFlightDiagnostic diagnostic = op->emitOpError();
        diagnostic << constraint << ": expected the ops of the score region to work on scalars";
        diagnostic.attachNote(nested->getLoc()) << "'" << nested->getName() << "' gives " << type;
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// The memrefs that `memref` is made of: its views', casts' and selections' sources.
static llvm::SetVector<Value> sourcesOf(Value memref) {
  llvm::SetVector<Value> sources;
  sources.insert(memref);
  for (size_t i = 0; i < sources.size(); ++i)
    if (Operation *op = sources[i].getDefiningOp())
      for (Value operand : op->getOperands())
        if (isa<BaseMemRefType>(operand.getType()))
          sources.insert(operand);
  return sources;
}

LogicalResult attn::verifyNotRead(Operation *op, StringRef constraint, Region &region,
                                  NamedTensor written) {
  llvm::SetVector<Value> writtenSources = sourcesOf(written.value);
  auto isWritten = [&](Value memref) {
    return llvm::any_of(sourcesOf(memref),
                        [&](Value source) { return writtenSources.contains(source); });
  };
  WalkResult result = region.walk([&](MemoryEffectOpInterface reader) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    reader.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value memref = effect.getValue();
      if (!memref || !isa<BaseMemRefType>(memref.getType()) || !isWritten(memref))
        continue;
      InFlightDiagnostic diagnostic = op->emitOpError();
      diagnostic << constraint << ": expected the score region not to read " << written.name
                 << ", which the op writes; pass it a copy";
      diagnostic.attachNote(reader.getLoc())
          << "'" << reader->getName() << "' reads memory of " << written.name;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult attn::refuseParameters(AsmParser &parser) {
  if (succeeded(parser.parseOptionalLess()))
    return parser.emitError(parser.getCurrentLocation()) << "expected no parameters";
  return success();
}

LogicalResult attn::verifyMaskArgs(Operation *op, StringRef constraint, MaskAttrInterface mask,
                                   TypeRange types) {
  if (types.size() != mask.getNumParams())
    return op->emitOpError() << constraint << ": expected " << mask.getNumParams()
                             << " mask operands for " << mask << ", got " << types.size();
  return mask.verifyParams(types, [&] { return op->emitOpError() << constraint << ": "; });
}
