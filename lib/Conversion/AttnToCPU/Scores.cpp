//===- Scores.cpp - Score regions and masks -------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

//===----------------------------------------------------------------------===//
// Score regions
//===----------------------------------------------------------------------===//

/// The values of a score region that differ between the columns of a row: its score, its
/// key, and what is computed from them.
static llvm::DenseSet<Value> findVarying(Block &region) {
  llvm::DenseSet<Value> varying = {region.getArgument(0), region.getArgument(2)};
  for (Operation &op : region) {
    bool usesVarying =
        op.walk([&](Operation *nested) {
            return llvm::any_of(nested->getOperands(), [&](Value v) { return varying.contains(v); })
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          }).wasInterrupted();
    if (usesVarying)
      varying.insert(op.result_begin(), op.result_end());
  }
  return varying;
}

/// True when each op on varying values means the same on vectors, lane by lane.
static bool isVectorizable(Block &region, const llvm::DenseSet<Value> &varying) {
  return llvm::all_of(region.without_terminator(), [&](Operation &op) {
    if (llvm::none_of(op.getResults(), [&](Value v) { return varying.contains(v); }))
      return op.getNumRegions() == 0;
    bool isScalar =
        llvm::all_of(op.getOperandTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
    return isScalar && (isa<SoftcapOp>(op) || OpTrait::hasElementwiseMappableTraits(&op));
  });
}

/// cap tanh(s / cap)
static Value emitSoftcap(ImplicitLocOpBuilder &b, Value s, float cap) {
  auto constant = [&](float value) -> Value {
    TypedAttr attr = b.getF32FloatAttr(value);
    if (auto type = dyn_cast<VectorType>(s.getType()))
      attr = DenseElementsAttr::get(type, attr);
    return arith::ConstantOp::create(b, attr);
  };
  Value ratio = arith::MulFOp::create(b, s, constant(1.0f / cap));
  return arith::MulFOp::create(b, constant(cap), math::TanhOp::create(b, ratio));
}

/// A copy of an op of a score region, with attn.softcap, also in regions of its own, written
/// out.
static void cloneScalar(ImplicitLocOpBuilder &b, Operation &op, IRMapping &scalars) {
  Operation *copy = b.clone(op, scalars);
  copy->walk([&](SoftcapOp softcap) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(softcap);
    Value capped = emitSoftcap(b, softcap.getScore(), softcap.getCap().convertToFloat());
    if (softcap == copy)
      scalars.map(op.getResult(0), capped);
    softcap.getResult().replaceAllUsesWith(capped);
    softcap.erase();
  });
}

/// The region on one vector of scores; what does not vary stays scalar.
Value KernelEmitter::mapVector(MapScoresOp op, Value scores, Value row, Value keys,
                               const llvm::DenseSet<Value> &varying) {
  Block &region = op.getBody().front();
  IRMapping scalars = mapping;
  scalars.map(region.getArgument(1), row);
  llvm::DenseMap<Value, Value> vectors = {{region.getArgument(0), scores},
                                          {region.getArgument(2), keys}};
  auto asVector = [&](Value value) {
    if (Value vector = vectors.lookup(value))
      return vector;
    return splat(scalars.lookupOrDefault(value));
  };
  for (Operation &inner : region.without_terminator()) {
    if (llvm::none_of(inner.getResults(), [&](Value v) { return varying.contains(v); })) {
      cloneScalar(b, inner, scalars);
      continue;
    }
    if (auto softcap = dyn_cast<SoftcapOp>(inner)) {
      vectors[softcap.getResult()] =
          emitSoftcap(b, asVector(softcap.getScore()), softcap.getCap().convertToFloat());
      continue;
    }
    OperationState state(inner.getLoc(), inner.getName());
    state.addOperands(llvm::map_to_vector(inner.getOperands(), asVector));
    state.addTypes(llvm::map_to_vector(inner.getResultTypes(),
                                       [&](Type type) -> Type { return vectorType(type); }));
    state.addAttributes(inner.getAttrs());
    Operation *vectorOp = b.create(state);
    for (auto [from, to] : llvm::zip_equal(inner.getResults(), vectorOp->getResults()))
      vectors[from] = to;
  }
  return asVector(cast<YieldOp>(region.getTerminator()).getValue());
}

/// The region on one score.
Value KernelEmitter::mapScalar(MapScoresOp op, Value score, Value row, Value key) {
  Block &region = op.getBody().front();
  IRMapping scalars = mapping;
  scalars.map(region.getArguments(), ValueRange{score, row, key});
  for (Operation &inner : region.without_terminator())
    cloneScalar(b, inner, scalars);
  return scalars.lookupOrDefault(cast<YieldOp>(region.getTerminator()).getValue());
}

/// result[r, c] = region(scores[r, c] scale, row + r, key + c)
LogicalResult KernelEmitter::emitOp(MapScoresOp op) {
  Block &region = op.getBody().front();
  llvm::DenseSet<Value> varying = findVarying(region);
  bool byVectors = isVectorizable(region, varying);
  SmallVector<TileBuffer, 2> from = buffersOf(op.getScores());
  TileBuffer to = reuse(op.getScoresMutable(), from).front();
  Value source = from.front().memref;
  Value firstRow = mapping.lookupOrDefault(op.getRow());
  Value firstKey = mapping.lookupOrDefault(op.getKey());
  Value scale = mapping.lookupOrDefault(op.getScale());
  bool clamps = op.needsPositionsInside();
  // position, at most length - 1 where the region must not see more
  auto inside = [&](Value position, Value length) -> Value {
    if (!clamps)
      return position;
    Value last = arith::SubIOp::create(b, mapping.lookupOrDefault(length), index(1));
    if (isa<VectorType>(position.getType()))
      last = splat(last);
    return arith::MinSIOp::create(b, position, last);
  };

  forRows(to.rows, [&](Value r) {
    Value row = inside(arith::AddIOp::create(b, firstRow, r), op.getSeqLenQ());
    if (!byVectors) {
      forRange(index(0), index(to.cols), 1, [&](Value c) {
        Value score = memref::LoadOp::create(b, source, ValueRange{r, c});
        score = arith::MulFOp::create(b, score, scale);
        Value key = inside(arith::AddIOp::create(b, firstKey, c), op.getSeqLenKv());
        memref::StoreOp::create(b, mapScalar(op, score, row, key), to.memref, ValueRange{r, c});
      });
      return;
    }
    Value factor = splat(scale);
    forColumns(to.cols, {}, [&](Value c, Value, ValueRange) -> SmallVector<Value> {
      Value scores = arith::MulFOp::create(b, load(source, {r, c}), factor);
      Value keys = inside(iota(arith::AddIOp::create(b, firstKey, c)), op.getSeqLenKv());
      store(mapVector(op, scores, row, keys, varying), to.memref, {r, c});
      return {};
    });
  });
  bind(op.getResult(), to);
  return success();
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Key j is below the end of the keys and the mask keeps (i, j). All values are scalars, or
/// all are vectors.
static Value emitKeep(MaskScoresOp op, MaskContext &ctx, Value i, Value j) {
  Value inside = ctx.lessEqual(j, ctx.sub(ctx.seqLenKV, ctx.constant(1)));
  if (op.getMask().keepsAll())
    return inside;
  return ctx.logicalAnd(inside, op.getMask().predicate(ctx, i, j));
}

/// result[r, c] = scores[r, c] where the pair (row + r, key + c) is kept, else -inf
LogicalResult KernelEmitter::emitOp(MaskScoresOp op) {
  SmallVector<TileBuffer, 2> from = buffersOf(op.getScores());
  TileBuffer to = reuse(op.getScoresMutable(), from).front();
  Value source = from.front().memref;
  auto mapped = [&](Value value) { return mapping.lookupOrDefault(value); };
  SmallVector<Value> params = llvm::map_to_vector(op.getMaskArgs(), mapped);
  Value firstRow = mapped(op.getRow()), firstKey = mapped(op.getKey());
  Value seqLenQ = mapped(op.getSeqLenQ()), seqLenKV = mapped(op.getSeqLenKv());
  constexpr float minusInf = -std::numeric_limits<float>::infinity();

  // A mask that looks things up in memory does so one element at a time.
  bool byVectors = llvm::all_of(params, [](Value param) { return param.getType().isIndex(); });
  if (byVectors) {
    seqLenQ = splat(seqLenQ);
    seqLenKV = splat(seqLenKV);
    for (Value &param : params)
      param = splat(param);
  }
  MaskContext ctx(b, b.getLoc(), seqLenQ, seqLenKV, params);
  forRows(to.rows, [&](Value r) {
    Value row = arith::AddIOp::create(b, firstRow, r);
    if (!byVectors) {
      forRange(index(0), index(to.cols), 1, [&](Value c) {
        Value keep = emitKeep(op, ctx, row, arith::AddIOp::create(b, firstKey, c));
        Value score = memref::LoadOp::create(b, source, ValueRange{r, c});
        score = arith::SelectOp::create(b, keep, score, scalar(minusInf));
        memref::StoreOp::create(b, score, to.memref, ValueRange{r, c});
      });
      return;
    }
    row = splat(row);
    forColumns(to.cols, {}, [&](Value c, Value, ValueRange) -> SmallVector<Value> {
      Value keep = emitKeep(op, ctx, row, iota(arith::AddIOp::create(b, firstKey, c)));
      Value scores = load(source, {r, c});
      store(arith::SelectOp::create(b, keep, scores, splat(minusInf)), to.memref, {r, c});
      return {};
    });
  });
  bind(op.getResult(), to);
  return success();
}
