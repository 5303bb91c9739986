//===- TileProgramBuilder.cpp - Tile programs of attn.forward -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileProgramBuilder.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/TileShapes.h"

#include <mlir/IR/IRMapping.h>

using namespace mlir;
using namespace attn;

ForwardTileBuilder::ForwardTileBuilder(ForwardOp op, ScheduleAttr schedule, OpBuilder &builder)
    : op(op), schedule(schedule), b(builder), loc(op.getLoc()),
      dimQK(paddedHeadDim(op.getHeadDimQK())), dimV(paddedHeadDim(op.getHeadDimV())),
      elementType(op.getElementType()) {}

TileType ForwardTileBuilder::tileType(int64_t rows, int64_t cols, Type type) const {
  return TileType::get({rows, cols}, type);
}

Value ForwardTileBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value ForwardTileBuilder::fill(TileType type, float value) {
  return FillOp::create(b, loc, type, b.getF32FloatAttr(value));
}

//===----------------------------------------------------------------------===//
// Coordinates and ranges
//===----------------------------------------------------------------------===//

void ForwardTileBuilder::buildSizes() {
  batchSize = memref::DimOp::create(b, loc, op.getQ(), 0);
  seqLenQ = memref::DimOp::create(b, loc, op.getQ(), 1);
  numRows = schedule.getPackGqa() ? constant(groupSize()) : seqLenQ;
  numQTiles = arith::CeilDivUIOp::create(b, loc, numRows, constant(schedule.getQTile()));
}

Value ForwardTileBuilder::groupView(Value tensor) {
  if (!schedule.getPackGqa())
    return tensor;
  auto type = cast<MemRefType>(tensor.getType());
  bool isLse = type.getRank() == 3;
  // Dims of the view in the order of the tensor's; the heads become rows.
  SmallVector<unsigned> dims =
      isLse ? SmallVector<unsigned>{0, 2, 1} : SmallVector<unsigned>{0, 2, 1, 3};
  unsigned headDim = isLse ? 1 : 2;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, tensor);
  Value distance = arith::MulIOp::create(b, loc, firstHead, metadata.getStrides()[headDim]);
  OpFoldResult offset = arith::AddIOp::create(b, loc, metadata.getOffset(), distance).getResult();
  SmallVector<OpFoldResult> sizes, strides;
  for (unsigned dim : dims) {
    sizes.push_back(dim == headDim ? OpFoldResult(b.getIndexAttr(groupSize()))
                                   : memref::getMixedSize(b, loc, tensor, dim));
    strides.push_back(metadata.getStrides()[dim]);
  }
  if (!isLse)
    strides.back() = b.getIndexAttr(1);
  SmallVector<int64_t> shape, steps;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  dispatchIndexOpFoldResults(strides, dynamic, steps);
  auto view = MemRefType::get(shape, type.getElementType(),
                              StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, steps),
                              type.getMemorySpace());
  return memref::ReinterpretCastOp::create(b, loc, view, metadata.getBaseBuffer(), offset, sizes,
                                           strides);
}

Value ForwardTileBuilder::resultView(Value tensor) {
  return groupView(part ? partView(b, loc, tensor, part) : tensor);
}

void ForwardTileBuilder::bindCoordinates(ValueRange ids) {
  if (schedule.getSplitKv() > 1) {
    part = ids.front();
    ids = ids.drop_front();
  }
  batch = ids[0];
  if (schedule.getPackGqa()) {
    headKV = ids[1];
    head = constant(0);
    firstHead = arith::MulIOp::create(b, loc, headKV, constant(groupSize()));
  } else {
    head = ids[1];
    // g = h / (heads_q / heads_kv)
    headKV = b.createOrFold<arith::DivUIOp>(loc, head, constant(groupSize()));
  }
  seqLenKV = op.getKv().seqLen(b, loc, op.getK(), op.getKvArgs(), batch);
  softmaxScale = op.hasScore()
                     ? arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f)).getResult()
                     : op.getScale();
  if (ids.size() < 3)
    return;
  Value tile = ids[2];
  if (schedule.getOrder() == TileOrder::LongestFirst)
    tile =
        arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, numQTiles, constant(1)), tile);
  rowBegin = arith::MulIOp::create(b, loc, tile, constant(schedule.getQTile()));
}

KeyRange ForwardTileBuilder::visitedKeys() {
  MaskContext ctx(b, loc, seqLenQ, seqLenKV, op.getMaskArgs(), batch, head);
  Value rowEnd = ctx.min(ctx.add(rowBegin, constant(schedule.getQTile())), seqLenQ);
  // Packed rows are one query, which sees all keys.
  KeyRange range =
      schedule.getPackGqa() ? ctx.allKeys() : op.getMask().keptRange(ctx, rowBegin, rowEnd);
  range = {ctx.max(range.begin, constant(0)), ctx.min(range.end, seqLenKV)};
  // Tiles start at multiples of kv_tile, whatever the mask.
  Value tileRows = constant(schedule.getKvTile());
  Value firstTile = arith::DivUIOp::create(b, loc, range.begin, tileRows);
  range.begin = arith::MulIOp::create(b, loc, firstTile, tileRows);
  if (!part)
    return range;

  // Part p visits tiles [p n / parts, (p + 1) n / parts) of the n tiles in range.
  Value span = ctx.max(ctx.sub(range.end, range.begin), constant(0));
  Value numTiles = arith::CeilDivUIOp::create(b, loc, span, tileRows);
  Value parts = constant(schedule.getSplitKv());
  auto partBegin = [&](Value index) -> Value {
    Value tiles =
        arith::DivUIOp::create(b, loc, arith::MulIOp::create(b, loc, index, numTiles), parts);
    return ctx.add(range.begin, arith::MulIOp::create(b, loc, tiles, tileRows));
  };
  Value begin = partBegin(part);
  Value end = ctx.min(partBegin(ctx.add(part, constant(1))), range.end);
  return {begin, end};
}

SmallVector<Value> ForwardTileBuilder::forEachKVTile(KeyRange range, ValueRange init, BodyFn body) {
  auto loop = scf::ForOp::create(b, loc, range.begin, range.end, constant(schedule.getKvTile()),
                                 init, [&](OpBuilder &, Location, Value key, ValueRange carried) {
                                   scf::YieldOp::create(b, loc, body(key, carried));
                                 });
  loop->setAttr(kKVPassAttr, b.getI64IntegerAttr(numPasses++));
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value ForwardTileBuilder::loadQ() {
  return LoadTileOp::create(b, loc, tileType(schedule.getQTile(), dimQK, elementType),
                            groupView(op.getQ()), batch, rowBegin, head, Value(), FloatAttr());
}

Value ForwardTileBuilder::loadK(Value key) {
  return op.getKv().loadTile(b, loc, tileType(schedule.getKvTile(), dimQK, elementType), op.getK(),
                             op.getKvArgs(), batch, key, headKV, seqLenKV);
}

Value ForwardTileBuilder::loadV(Value key) {
  return op.getKv().loadTile(b, loc, tileType(schedule.getKvTile(), dimV, elementType), op.getV(),
                             op.getKvArgs(), batch, key, headKV, seqLenKV);
}

/// s = Q K^T, then the score region.
Value ForwardTileBuilder::scores(Value q, Value k, Value key) {
  TileType type = tileType(schedule.getQTile(), schedule.getKvTile(), b.getF32Type());
  Value s = TileMmaOp::create(b, loc, q, k, fill(type, 0.0f), /*transpose_b=*/true);
  return op.hasScore() ? mapScores(s, key) : s;
}

/// s[i, j] = -inf where the mask or the end of the keys rejects (i, j).
Value ForwardTileBuilder::mask(Value s, Value key) {
  if (schedule.getPackGqa())
    return MaskScoresOp::create(b, loc, s, rowBegin, key, numRows, seqLenKV, ValueRange(),
                                NoneMaskAttr::get(b.getContext()));
  return MaskScoresOp::create(b, loc, s, rowBegin, key, seqLenQ, seqLenKV, op.getMaskArgs(),
                              op.getMask());
}

Value ForwardTileBuilder::maskedScores(Value q, Value k, Value key) {
  return mask(scores(q, k, key), key);
}

/// alibi: s - slope[h] |i + seq_len_kv - seq_len_q - j|
static void expandAlibi(AlibiOp alibi, Value seqLenQ, Value seqLenKV) {
  OpBuilder b(alibi);
  Location loc = alibi.getLoc();
  Value offset = arith::SubIOp::create(b, loc, seqLenKV, seqLenQ);
  Value diagonal = arith::AddIOp::create(b, loc, alibi.getI(), offset);
  Value distance = arith::SubIOp::create(b, loc, diagonal, alibi.getJ());
  Value asInt = arith::IndexCastOp::create(b, loc, b.getI32Type(), distance);
  Value asFloat = arith::SIToFPOp::create(b, loc, b.getF32Type(), asInt);
  Value magnitude = math::AbsFOp::create(b, loc, asFloat);
  Value slope = memref::LoadOp::create(b, loc, alibi.getSlopes(), alibi.getHead());
  Value bias = arith::MulFOp::create(b, loc, slope, magnitude);
  alibi.getResult().replaceAllUsesWith(
      arith::SubFOp::create(b, loc, alibi.getScore(), bias).getResult());
  alibi.erase();
}

/// The op's region takes (s, b, h, i, j); the tile op's takes (s, i, j) and sees b and h
/// as values of the CTA.
Value ForwardTileBuilder::mapScores(Value s, Value key) {
  auto map =
      MapScoresOp::create(b, loc, s.getType(), s, rowBegin, key, numRows, seqLenKV, op.getScale());
  Block *body = b.createBlock(
      &map.getBody(), {}, {b.getF32Type(), b.getIndexType(), b.getIndexType()}, {loc, loc, loc});
  Block &region = op.getScore().front();
  IRMapping mapping;
  Value h = head, i = body->getArgument(1);
  if (schedule.getPackGqa()) {
    h = arith::AddIOp::create(b, loc, firstHead, i);
    i = constant(0);
  }
  mapping.map(region.getArguments(),
              ValueRange{body->getArgument(0), batch, h, i, body->getArgument(2)});
  for (Operation &inner : region)
    b.clone(inner, mapping);
  b.setInsertionPointAfter(map);
  map.walk([&](AlibiOp alibi) { expandAlibi(alibi, seqLenQ, seqLenKV); });
  return map;
}

Value ForwardTileBuilder::accumulate(Value p, Value v, Value acc) {
  if (!elementType.isF32())
    p = ConvertOp::create(b, loc, tileType(schedule.getQTile(), schedule.getKvTile(), elementType),
                          p);
  return TileMmaOp::create(b, loc, p, v, acc, /*transpose_b=*/false);
}

void ForwardTileBuilder::storeResult(Accumulator acc) {
  TileType rowType = TileType::get({schedule.getQTile()}, b.getF32Type());
  auto finalize =
      FinalizeOp::create(b, loc, acc.o.getType(), rowType, op.getLseTail() ? rowType : Type(),
                         acc.o, acc.state, softmaxScale);
  auto store = [&](Value tile, Value tensor) {
    StoreTileOp::create(b, loc, tile, resultView(tensor), batch, rowBegin, head);
  };
  if (op.getLse())
    store(finalize.getLse(), op.getLse());
  if (op.getLseTail())
    store(finalize.getLseTail(), op.getLseTail());
  store(finalize.getOut(), op.getO());
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

/// FlashAttention-2 (arXiv:2307.08691): one pass over the keys, unnormalized output
/// rescaled when the maximum moves, one division at the end.
void ForwardTileBuilder::buildFA2() {
  Value q = loadQ();
  Value o = fill(tileType(schedule.getQTile(), dimV, b.getF32Type()), 0.0f);
  Type stateType = SoftmaxStateType::get(b.getContext(), schedule.getQTile(), Attribute());
  Value state = SoftmaxInitOp::create(b, loc, stateType);
  TileType rowType = TileType::get({schedule.getQTile()}, b.getF32Type());
  SmallVector<Value> result =
      forEachKVTile(visitedKeys(), {o, state}, [&](Value key, ValueRange carried) {
        // S = mask(Q K^T)
        Value s = maskedScores(q, loadK(key), key);
        // m' = max(m, rowmax S), P = exp(S - m'), l' = alpha l + rowsum P
        auto update = SoftmaxUpdateOp::create(b, loc, carried[1].getType(), s.getType(), rowType,
                                              carried[1], s, softmaxScale);
        // O' = alpha O + P V
        Value rescaled = RescaleOp::create(b, loc, carried[0], update.getAlpha());
        Value v = loadV(key);
        return SmallVector<Value>{accumulate(update.getP(), v, rescaled), update.getNewState()};
      });
  storeResult({result[0], result[1]});
}

/// The last pass of the algorithms that know (m, l) beforehand: O = sum over tiles of
/// exp(S - m) V.
Value ForwardTileBuilder::outputPass(Value q, KeyRange range, Value state) {
  Value init = fill(tileType(schedule.getQTile(), dimV, b.getF32Type()), 0.0f);
  return forEachKVTile(range, init, [&](Value key, ValueRange carried) {
    Value s = maskedScores(q, loadK(key), key);
    Value p = SoftmaxApplyOp::create(b, loc, state, s, softmaxScale);
    return SmallVector<Value>{accumulate(p, loadV(key), carried[0])};
  })[0];
}

/// Online normalizer calculation (arXiv:1805.02867): a pass for (m, l), a pass for O.
void ForwardTileBuilder::buildTwoPass() {
  Value q = loadQ();
  Type stateType = SoftmaxStateType::get(b.getContext(), schedule.getQTile(), Attribute());
  TileType rowType = TileType::get({schedule.getQTile()}, b.getF32Type());
  KeyRange range = visitedKeys();
  Value init = SoftmaxInitOp::create(b, loc, stateType);
  Value state = forEachKVTile(range, init, [&](Value key, ValueRange carried) {
    Value s = maskedScores(q, loadK(key), key);
    auto update = SoftmaxUpdateOp::create(b, loc, stateType, s.getType(), rowType, carried[0], s,
                                          softmaxScale);
    return SmallVector<Value>{update.getNewState()};
  })[0];
  storeResult({outputPass(q, range, state), state});
}

/// Safe softmax in three passes: the maximum, the sum, the output.
void ForwardTileBuilder::buildNaive() {
  Value q = loadQ();
  Type stateType = SoftmaxStateType::get(b.getContext(), schedule.getQTile(), Attribute());
  KeyRange range = visitedKeys();
  Value state = SoftmaxInitOp::create(b, loc, stateType);
  state = forEachKVTile(range, state, [&](Value key, ValueRange carried) {
    Value s = maskedScores(q, loadK(key), key);
    return SmallVector<Value>{SoftmaxMaxOp::create(b, loc, carried[0], s, softmaxScale)};
  })[0];
  state = forEachKVTile(range, state, [&](Value key, ValueRange carried) {
    Value s = maskedScores(q, loadK(key), key);
    return SmallVector<Value>{SoftmaxSumOp::create(b, loc, carried[0], s, softmaxScale)};
  })[0];
  storeResult({outputPass(q, range, state), state});
}

/// FlashAttention (arXiv:2205.14135): K/V tiles outside, Q tiles inside. Each (K/V tile, Q
/// tile) pair merges its own normalized result into O and LSE (with its tail) in memory,
/// which therefore must be f32.
void ForwardTileBuilder::buildFA1() {
  int64_t qTile = schedule.getQTile();
  TileType outType = tileType(qTile, dimV, b.getF32Type());
  TileType rowType = TileType::get({qTile}, b.getF32Type());
  Type stateType = SoftmaxStateType::get(b.getContext(), qTile, Attribute());
  FloatAttr minusInf = b.getF32FloatAttr(-std::numeric_limits<float>::infinity());

  Value zero = constant(0), step = constant(qTile);
  auto forEachQTile = [&](auto body) {
    scf::ForOp::create(b, loc, zero, seqLenQ, step, ValueRange{},
                       [&](OpBuilder &, Location, Value row, ValueRange) {
                         rowBegin = row;
                         body();
                         scf::YieldOp::create(b, loc);
                       });
  };
  Value tail = op.getLseTail();
  Type tailType = tail ? rowType : Type();
  auto store = [&](Value tile, Value tensor) {
    StoreTileOp::create(b, loc, tile, tensor, batch, rowBegin, head);
  };
  auto load = [&](TileType type, Value tensor, FloatAttr pad) -> Value {
    return LoadTileOp::create(b, loc, type, tensor, batch, rowBegin, head, Value(), pad);
  };
  // O = 0, LSE = -inf
  forEachQTile([&] {
    store(fill(outType, 0.0f), op.getO());
    store(FillOp::create(b, loc, rowType, minusInf), op.getLse());
    if (tail)
      store(fill(rowType, 0.0f), tail);
  });
  forEachKVTile({zero, seqLenKV}, {}, [&](Value key, ValueRange) {
    Value k = loadK(key), v = loadV(key);
    forEachQTile([&] {
      Value s = maskedScores(loadQ(), k, key);
      Value init = SoftmaxInitOp::create(b, loc, stateType);
      auto update =
          SoftmaxUpdateOp::create(b, loc, stateType, s.getType(), rowType, init, s, softmaxScale);
      Value o = accumulate(update.getP(), v, fill(outType, 0.0f));
      auto part = FinalizeOp::create(b, loc, outType, rowType, tailType, o, update.getNewState(),
                                     softmaxScale);
      // (O, LSE) = merge((O, LSE), (O_kv, LSE_kv))
      Value oldO = load(outType, op.getO(), FloatAttr());
      Value oldLse = load(rowType, op.getLse(), minusInf);
      SmallVector<Value> tails;
      if (tail)
        tails = {load(rowType, tail, FloatAttr()), part.getLseTail()};
      auto merged = MergeOp::create(b, loc, outType, rowType, tailType, oldO, oldLse, part.getOut(),
                                    part.getLse(), tails);
      store(merged.getO(), op.getO());
      store(merged.getLse(), op.getLse());
      if (tail)
        store(merged.getTail(), tail);
    });
    return SmallVector<Value>{};
  });
}

LogicalResult ForwardTileBuilder::build() {
  bool isFA1 = schedule.getAlgorithm() == Algorithm::FA1;
  if (isFA1) {
    bool f32Out = cast<MemRefType>(op.getO().getType()).getElementType().isF32();
    if (!f32Out || !op.getLse())
      return op.emitOpError() << "algorithm = fa1 keeps its running output in o and lse: expected "
                                 "an f32 o and an lse output; choose algorithm = fa2 instead";
  }
  if (schedule.getPackGqa() && (isFA1 || !op.canPackGqa()))
    return op.emitOpError()
           << "expected one query (known at compile time) that sees all keys, more "
              "query heads than key/value heads and an algorithm other than fa1 "
              "for pack_gqa = true";
  if (schedule.getSplitKv() > 1 && !op.hasPartialOutputs())
    return op.emitOpError() << "expected partial outputs for split_kv = " << schedule.getSplitKv()
                            << "; run attn-split-kv first";
  buildSizes();
  SmallVector<OpFoldResult> bounds;
  if (schedule.getSplitKv() > 1)
    bounds.push_back(b.getIndexAttr(schedule.getSplitKv()));
  int64_t heads = schedule.getPackGqa() ? op.getHeadsKV() : op.getHeadsQ();
  bounds.append({batchSize, b.getIndexAttr(heads)});
  if (!isFA1)
    bounds.push_back(numQTiles);

  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange{}, std::nullopt);
  forall->setAttr(kScheduleAttr, schedule);
  forall->setAttr(kAlignmentAttr, b.getI64IntegerAttr(op.getAlignmentBytes()));
  b.setInsertionPoint(forall.getTerminator());
  bindCoordinates(forall.getInductionVars());
  switch (schedule.getAlgorithm()) {
  case Algorithm::Naive:
    buildNaive();
    break;
  case Algorithm::TwoPass:
    buildTwoPass();
    break;
  case Algorithm::FA1:
    buildFA1();
    break;
  case Algorithm::FA2:
    buildFA2();
    break;
  }
  return success();
}

LogicalResult attn::lowerForward(ForwardOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return op.emitOpError() << "has no schedule; run attn-select-schedule first or pin one with "
                               "schedule(...)";
  OpBuilder builder(op);
  if (failed(ForwardTileBuilder(op, schedule, builder).build()))
    return failure();
  op.erase();
  return success();
}
