//===- MergeTileProgram.cpp - The tile program of attn.merge_states -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileProgramBuilder.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/TileShapes.h"

using namespace mlir;
using namespace attn;

Value attn::partView(OpBuilder &b, Location loc, Value partials, Value part) {
  auto type = cast<MemRefType>(partials.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes,
      strides(rank, b.getIndexAttr(1));
  offsets[0] = part;
  sizes = memref::getMixedSizes(b, loc, partials);
  sizes[0] = b.getIndexAttr(1);
  auto viewType = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides));
  return memref::SubViewOp::create(b, loc, viewType, partials, offsets, sizes, strides);
}

/// For each row tile: (O, LSE) = merge over parts of (O_p, LSE_p), with the tails of LSE.
LogicalResult attn::lowerMergeStates(MergeStatesOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return op.emitOpError() << "has no schedule; run attn-select-schedule first or pin one with "
                               "schedule(...)";
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto partialType = cast<MemRefType>(op.getPartialO().getType());
  int64_t rows = schedule.getQTile();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value batchSize = memref::DimOp::create(b, loc, op.getO(), 0);
  Value seqLenQ = memref::DimOp::create(b, loc, op.getO(), 1);
  Value numTiles = arith::CeilDivUIOp::create(b, loc, seqLenQ, constant(rows));
  SmallVector<OpFoldResult> bounds = {batchSize, b.getIndexAttr(partialType.getDimSize(3)),
                                      numTiles};
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange{}, std::nullopt);
  forall->setAttr(kScheduleAttr, schedule);
  // Rows of o are stored in pairs of elements at most, and those of a merge that promises nothing
  // element by element.
  int64_t elementBytes = cast<MemRefType>(op.getO().getType()).getElementTypeBitWidth() / 8;
  auto promised = op->getAttrOfType<IntegerAttr>(kAlignmentAttr);
  forall->setAttr(kAlignmentAttr, b.getI64IntegerAttr(std::min<int64_t>(
                                      promised ? promised.getInt() : elementBytes, 4)));
  b.setInsertionPoint(forall.getTerminator());
  Value batch = forall.getInductionVar(0), head = forall.getInductionVar(1);
  Value row = arith::MulIOp::create(b, loc, forall.getInductionVar(2), constant(rows));

  TileType outType =
      TileType::get({rows, paddedHeadDim(partialType.getDimSize(4))}, b.getF32Type());
  TileType rowType = TileType::get({rows}, b.getF32Type());
  FloatAttr minusInf = b.getF32FloatAttr(-std::numeric_limits<float>::infinity());
  Value o = FillOp::create(b, loc, outType, b.getF32FloatAttr(0.0f));
  Value lse = FillOp::create(b, loc, rowType, minusInf);
  SmallVector<Value> init = {o, lse};
  bool hasTail = static_cast<bool>(op.getPartialTail());
  if (hasTail)
    init.push_back(FillOp::create(b, loc, rowType, b.getF32FloatAttr(0.0f)));
  auto loop = scf::ForOp::create(
      b, loc, constant(0), constant(partialType.getDimSize(0)), constant(1), init,
      [&](OpBuilder &, Location, Value part, ValueRange carried) {
        auto load = [&](TileType type, Value partials, FloatAttr pad) -> Value {
          return LoadTileOp::create(b, loc, type, partView(b, loc, partials, part), batch, row,
                                    head, Value(), pad);
        };
        Value partO = load(outType, op.getPartialO(), FloatAttr());
        Value partLse = load(rowType, op.getPartialLse(), minusInf);
        SmallVector<Value> tails;
        if (hasTail)
          tails = {carried[2], load(rowType, op.getPartialTail(), FloatAttr())};
        auto merged = MergeOp::create(b, loc, outType, rowType, hasTail ? rowType : Type(),
                                      carried[0], carried[1], partO, partLse, tails);
        scf::YieldOp::create(b, loc, merged->getResults());
      });
  StoreTileOp::create(b, loc, loop.getResult(0), op.getO(), batch, row, head);
  if (op.getLse())
    StoreTileOp::create(b, loc, loop.getResult(1), op.getLse(), batch, row, head);
  op.erase();
  return success();
}
