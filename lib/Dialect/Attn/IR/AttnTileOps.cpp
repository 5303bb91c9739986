//===- AttnTileOps.cpp - Verifiers of the tile ops ------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Tiles and memory
//===----------------------------------------------------------------------===//

/// Constraints that loads and stores share.
static LogicalResult verifyTileAccess(Operation *op, TileType tile, Type tensorType,
                                      StringRef verb) {
  auto memref = dyn_cast<MemRefType>(tensorType);
  int64_t rank = tile.getRank() == 2 ? 4 : 3;
  if (!memref || memref.getRank() != rank)
    return op->emitOpError() << "C1: expected a rank-" << tile.getRank() << " tile to " << verb
                             << " a memref of rank " << rank << ", got " << tensorType;
  return success();
}

/// Only rows of rank-4 tensors are contiguous; a rank-3 tensor may have any strides.
static LogicalResult verifyTileStrides(Operation *op, NamedTensor tensor) {
  return tensor.getType().getRank() == 4 ? verifyContiguousRows(op, "C3", tensor)
                                         : verifyStrided(op, "C3", tensor);
}

LogicalResult LoadTileOp::verify() {
  TileType tile = getResult().getType();
  if (failed(verifyTileAccess(*this, tile, getSource().getType(), "read")))
    return failure();
  Type elementType = cast<MemRefType>(getSource().getType()).getElementType();
  if (elementType != tile.getElementType())
    return emitOpError() << "C2: expected tile and source to have one element type, got "
                         << tile.getElementType() << " and " << elementType;
  return verifyTileStrides(*this, {"source", getSource()});
}

LogicalResult StoreTileOp::verify() {
  if (failed(verifyTileAccess(*this, getTile().getType(), getDest().getType(), "write")))
    return failure();
  Type elementType = cast<MemRefType>(getDest().getType()).getElementType();
  if (!elementType.isF32() && !elementType.isF16() && !elementType.isBF16())
    return emitOpError() << "C2: expected element type f32, f16 or bf16 of the tensor, got "
                         << elementType;
  return verifyTileStrides(*this, {"the tensor", getDest()});
}

//===----------------------------------------------------------------------===//
// Products and scores
//===----------------------------------------------------------------------===//

LogicalResult attn::verifyProduct(Operation *op, TileType a, TileType b, TileType acc,
                                  bool transposeB) {
  for (TileType tile : {a, b, acc})
    if (tile.getRank() != 2)
      return op->emitOpError() << "C1: expected rank-2 tiles, got " << tile;
  int64_t k = transposeB ? b.getCols() : b.getRows();
  int64_t n = transposeB ? b.getRows() : b.getCols();
  if (a.getCols() != k || acc.getRows() != a.getRows() || acc.getCols() != n)
    return op->emitOpError() << "C1: expected MxK times KxN into MxN, got " << a.getRows() << "x"
                             << a.getCols() << " times " << k << "x" << n << " into "
                             << acc.getRows() << "x" << acc.getCols();
  if (a.getElementType() != b.getElementType())
    return op->emitOpError() << "C2: expected a and b to have one element type, got "
                             << a.getElementType() << " and " << b.getElementType();
  if (!acc.getElementType().isF32())
    return op->emitOpError() << "C2: expected an f32 accumulator, got " << acc.getElementType();
  return success();
}

LogicalResult TileMmaOp::verify() {
  return verifyProduct(*this, getA().getType(), getB().getType(), getAcc().getType(),
                       getTransposeB());
}

/// Score tiles are matrices of f32.
static LogicalResult verifyScores(Operation *op, TileType scores) {
  if (scores.getRank() != 2 || !scores.getElementType().isF32())
    return op->emitOpError() << "C1: expected scores to be a rank-2 f32 tile, got " << scores;
  return success();
}

LogicalResult MapScoresOp::verify() { return verifyScores(*this, getScores().getType()); }
LogicalResult MapScoresOp::verifyRegions() { return verifyScoreRegion(*this, "C2", getBody(), 2); }

bool MapScoresOp::needsPositionsInside() {
  Block &region = getBody().front();
  llvm::DenseSet<Value> positional(region.args_begin() + 1, region.args_end());
  for (Operation &op : region) {
    bool usesPositions = op.walk([&](Operation *nested) {
                             return llvm::any_of(nested->getOperands(),
                                                 [&](Value v) { return positional.contains(v); })
                                        ? WalkResult::interrupt()
                                        : WalkResult::advance();
                           }).wasInterrupted();
    if (!usesPositions)
      continue;
    if (!isPure(&op))
      return true;
    positional.insert(op.result_begin(), op.result_end());
  }
  return false;
}

LogicalResult MaskScoresOp::verify() {
  if (failed(verifyScores(*this, getScores().getType())))
    return failure();
  return verifyMaskArgs(*this, "C2", getMask(), getMaskArgs().getTypes());
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

LogicalResult attn::verifyRowVector(Operation *op, StringRef name, TileType vector, int64_t rows) {
  if (vector.getRank() != 1 || !vector.getElementType().isF32() || vector.getRows() != rows)
    return op->emitOpError() << "C1: expected " << name << " to be a rank-1 f32 tile of " << rows
                             << " rows, got " << vector;
  return success();
}

LogicalResult attn::verifyStateAndScores(Operation *op, SoftmaxStateType state, TileType scores) {
  if (failed(verifyScores(op, scores)))
    return failure();
  if (state.getRows() != scores.getRows())
    return op->emitOpError() << "C1: expected state and scores to agree in rows, got "
                             << state.getRows() << " and " << scores.getRows();
  return success();
}

LogicalResult SoftmaxUpdateOp::verify() {
  if (failed(verifyStateAndScores(*this, getState().getType(), getScores().getType())))
    return failure();
  return verifyRowVector(*this, "alpha", getAlpha().getType(), getState().getType().getRows());
}
LogicalResult SoftmaxMaxOp::verify() {
  return verifyStateAndScores(*this, getState().getType(), getScores().getType());
}
LogicalResult SoftmaxSumOp::verify() {
  return verifyStateAndScores(*this, getState().getType(), getScores().getType());
}
LogicalResult SoftmaxApplyOp::verify() {
  return verifyStateAndScores(*this, getState().getType(), getScores().getType());
}

LogicalResult RescaleOp::verify() {
  if (getTile().getType().getRank() != 2)
    return emitOpError() << "C1: expected a rank-2 tile, got " << getTile().getType();
  return verifyRowVector(*this, "factors", getFactors().getType(), getTile().getType().getRows());
}

/// "4 warps, split = rows"
static std::string sharedOut(int64_t warps, FragmentSplit split) {
  return (Twine(warps) + " warps, split = " + stringifyFragmentSplit(split)).str();
}
static std::string sharedOut(FragmentLayoutAttr layout) {
  return sharedOut(layout.getWarps(), layout.getSplit());
}

LogicalResult ConvertOp::verify() {
  if (getTile().getType().getShape() != getResult().getType().getShape())
    return emitOpError() << "C1: expected operand and result to agree in shape, got "
                         << getTile().getType() << " and " << getResult().getType();
  auto from = dyn_cast_or_null<FragmentLayoutAttr>(getTile().getType().getLayout());
  auto to = dyn_cast_or_null<FragmentLayoutAttr>(getResult().getType().getLayout());
  if (from && to && (from.getSplit() != to.getSplit() || from.getWarps() != to.getWarps()))
    return emitOpError() << "C2: expected a result of " << sharedOut(from)
                         << ", as the operand's elements are, got " << sharedOut(to);
  return success();
}

/// Whether the layouts, where there are any, say who holds what of a softmax and of its result.
static LogicalResult verifyFinalizeLayouts(FinalizeOp op) {
  auto acc = dyn_cast_or_null<FragmentLayoutAttr>(op.getAcc().getType().getLayout());
  if (!acc)
    return success();
  FragmentSplit split = acc.getSplit();
  if (split == FragmentSplit::Cols)
    return op.emitOpError() << "C3: expected acc by rows or as partial results of warps, got "
                            << sharedOut(acc);
  bool isMerge = split == FragmentSplit::Partial;
  auto verify = [&](StringRef name, Attribute layout, FragmentSplit wanted) -> LogicalResult {
    auto fragment = dyn_cast_or_null<FragmentLayoutAttr>(layout);
    if (!fragment || (fragment.getSplit() == wanted && fragment.getWarps() == acc.getWarps()))
      return success();
    return op.emitOpError() << "C3: expected " << name << " of "
                            << sharedOut(acc.getWarps(), wanted) << " for acc of " << sharedOut(acc)
                            << ", got " << sharedOut(fragment);
  };
  if (failed(verify("state", op.getState().getType().getLayout(), split)))
    return failure();
  FragmentSplit result = isMerge ? FragmentSplit::Cols : split;
  if (failed(verify("out", op.getOut().getType().getLayout(), result)) ||
      failed(verify("lse", op.getLse().getType().getLayout(), result)))
    return failure();
  return op.getLseTail() ? verify("lse_tail", op.getLseTail().getType().getLayout(), result)
                         : success();
}

LogicalResult FinalizeOp::verify() {
  TileType acc = getAcc().getType();
  if (acc.getRank() != 2 || acc.getRows() != getState().getType().getRows())
    return emitOpError() << "C1: expected a rank-2 acc and a state that agree in rows, got " << acc
                         << " and " << getState().getType();
  TileType out = getOut().getType();
  if (!acc.getElementType().isF32() || !out.getElementType().isF32() ||
      out.getShape() != acc.getShape())
    return emitOpError() << "C2: expected acc and out to be f32 tiles of one shape, got " << acc
                         << " and " << out;
  if (failed(verifyRowVector(*this, "lse", getLse().getType(), acc.getRows())) ||
      (getLseTail() &&
       failed(verifyRowVector(*this, "lse_tail", getLseTail().getType(), acc.getRows()))))
    return failure();
  return verifyFinalizeLayouts(*this);
}

LogicalResult MergeOp::verify() {
  TileType o = getO().getType();
  if (o.getRank() != 2 || !o.getElementType().isF32())
    return emitOpError() << "C1: expected outputs to be rank-2 f32 tiles, got " << o;
  TileType lse = getLse().getType();
  if (failed(verifyRowVector(*this, "lse", lse, o.getRows())))
    return failure();
  size_t numTails = getTails().size();
  if (numTails != (getTail() ? 2 : 0))
    return emitOpError() << "C2: expected two tails and one among the results, or none, got "
                         << numTails << " and " << (getTail() ? 1 : 0);
  SmallVector<Type> types(getTails().getTypes());
  if (getTail())
    types.push_back(getTail().getType());
  for (Type type : types)
    if (type != lse)
      return emitOpError() << "C2: expected tails of the type of lse, " << lse << ", got " << type;
  return success();
}
