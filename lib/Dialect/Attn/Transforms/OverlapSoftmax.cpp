//===- OverlapSoftmax.cpp - Softmax beside its neighbours' products -------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/IR/IRMapping.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNOVERLAPSOFTMAX
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

/// The parts of one step of FlashAttention-2, as attn-lower-to-tiles writes it.
struct Step {
  scf::ForOp loop;
  LoadTileOp loadK, loadV;
  TileMmaOp scores, output;
  SoftmaxUpdateOp update;
  RescaleOp rescale;
  ConvertOp convert;
  unsigned indexOfO = 0, indexOfState = 0;

  /// First key of the step's tile.
  Value key() { return loadK.getRow(); }
  bool isMasked() { return !loop.getBody()->getOps<MaskScoresOp>().empty(); }
};

/// What a step hands to the next: O and the softmax state as before, and P with the place of
/// the V tile that it is still to be multiplied with.
struct Carried {
  Value o, state, p, key;
  SmallVector<Value> values() const { return {o, state, p, key}; }
};

/// Rewrites the loops of one pass over the keys.
class Overlapper {
public:
  explicit Overlapper(KeyLoops loops) : loops(std::move(loops)), b(this->loops.front()) {}

  LogicalResult match();
  void run();

private:
  LogicalResult matchStep(scf::ForOp loop, Step &step);
  Value keyAt(Step &step, Value iv);
  void findFirstTile();
  Value cloneScores(Step &step, IRMapping &mapping, function_ref<void(TileMmaOp)> clonedProduct);
  Carried firstStep(Step &step);
  Carried laterStep(Step &step, Value iv, const Carried &carried);
  Carried lastProduct(Step &step, Carried carried);
  Carried softmax(Step &step, Value scores, Value o, Value state, Value key);
  Value loadV(Step &step, Value key);
  Value multiply(Step &step, Value p, Value v, Value o);
  /// O and the state in the order in which the loops carry them.
  SmallVector<Value> ordered(Value o, Value state) {
    SmallVector<Value> values(2);
    values[steps.front().indexOfO] = o;
    values[steps.front().indexOfState] = state;
    return values;
  }

  KeyLoops loops;
  OpBuilder b;
  SmallVector<Step> steps;
  Value anyTile, firstKey;
  SmallVector<Value> lowerBounds;
};

} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The only op of type OpTy in the loop's body that `accepts` takes.
template <typename OpTy>
static LogicalResult findOnly(
    scf::ForOp loop, OpTy &found, function_ref<bool(OpTy)> accepts = [](OpTy) { return true; }) {
  for (OpTy op : loop.getBody()->getOps<OpTy>()) {
    if (!accepts(op))
      continue;
    if (found)
      return failure();
    found = op;
  }
  return success(static_cast<bool>(found));
}

LogicalResult Overlapper::matchStep(scf::ForOp loop, Step &step) {
  step.loop = loop;
  if (failed(findOnly<SoftmaxUpdateOp>(loop, step.update)) ||
      failed(findOnly<RescaleOp>(loop, step.rescale)) ||
      failed(findOnly<ConvertOp>(loop, step.convert)) ||
      failed(findOnly<TileMmaOp>(loop, step.scores,
                                 [](TileMmaOp mma) { return mma.getTransposeB(); })) ||
      failed(findOnly<TileMmaOp>(loop, step.output,
                                 [](TileMmaOp mma) { return !mma.getTransposeB(); })))
    return failure();
  step.loadK = step.scores.getB().getDefiningOp<LoadTileOp>();
  step.loadV = step.output.getB().getDefiningOp<LoadTileOp>();
  // K and V of one tensor are one load, which leaves for two places.
  if (step.loadV && step.loadV == step.loadK) {
    b.setInsertionPointAfter(step.loadK);
    step.loadV = cast<LoadTileOp>(b.clone(*step.loadK));
    step.output.getBMutable().assign(step.loadV.getResult());
  }
  auto oArg = dyn_cast<BlockArgument>(step.rescale.getTile());
  auto stateArg = dyn_cast<BlockArgument>(step.update.getState());
  auto isCarried = [&](BlockArgument argument, Value yielded) {
    return argument && argument.getOwner() == loop.getBody() && argument.getArgNumber() > 0 &&
           loop.getYieldedValues()[argument.getArgNumber() - 1] == yielded;
  };
  if (!step.loadK || !step.loadV || loop.getNumRegionIterArgs() != 2 ||
      step.loadK.getRow() != step.loadV.getRow() || step.convert.getTile() != step.update.getP() ||
      step.output.getA() != step.convert.getResult() ||
      step.output.getAcc() != step.rescale.getResult() ||
      step.rescale.getFactors() != step.update.getAlpha() ||
      !isCarried(oArg, step.output.getResult()) || !isCarried(stateArg, step.update.getNewState()))
    return failure();
  step.indexOfO = oArg.getArgNumber() - 1;
  step.indexOfState = stateArg.getArgNumber() - 1;
  Value key = step.key();
  auto mirrored = key.getDefiningOp<arith::SubIOp>();
  return success(key == loop.getInductionVar() ||
                 (mirrored && mirrored.getRhs() == loop.getInductionVar()));
}

LogicalResult Overlapper::match() {
  for (scf::ForOp loop : loops)
    if (failed(matchStep(loop, steps.emplace_back())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Value Overlapper::keyAt(Step &step, Value iv) {
  auto mirrored = step.key().getDefiningOp<arith::SubIOp>();
  return mirrored ? arith::SubIOp::create(b, step.loop.getLoc(), mirrored.getLhs(), iv).getResult()
                  : iv;
}

/// Whether a loop over [floor(n / step) * step, n) is known to have one iteration at most: that of
/// the ragged end.
static bool hasOneTileAtMost(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  auto atLeastZero = [](Value value) {
    auto max = value.getDefiningOp<arith::MaxSIOp>();
    return max && isConstantIntValue(max.getRhs(), 0) ? max.getLhs() : value;
  };
  auto multiple = atLeastZero(loop.getLowerBound()).getDefiningOp<arith::MulIOp>();
  if (!step || !multiple || getConstantIntValue(multiple.getRhs()) != step)
    return false;
  auto tiles = multiple.getLhs().getDefiningOp<arith::DivUIOp>();
  return tiles && getConstantIntValue(tiles.getRhs()) == step &&
         atLeastZero(tiles.getLhs()) == loop.getUpperBound();
}

/// The first iteration of the first loop that has one is peeled off.
void Overlapper::findFirstTile() {
  for (Step &step : steps) {
    Location loc = step.loop.getLoc();
    Value lower = step.loop.getLowerBound();
    Value runs =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, step.loop.getUpperBound());
    Value next = arith::AddIOp::create(b, loc, lower, step.loop.getStep());
    Value key = keyAt(step, lower);
    if (!anyTile) {
      lowerBounds.push_back(next);
      anyTile = runs;
      firstKey = key;
      continue;
    }
    lowerBounds.push_back(arith::SelectOp::create(b, loc, anyTile, lower, next));
    firstKey = arith::SelectOp::create(b, loc, anyTile, firstKey, key);
    anyTile = arith::OrIOp::create(b, loc, anyTile, runs);
  }
}

Value Overlapper::loadV(Step &step, Value key) {
  LoadTileOp load = step.loadV;
  return LoadTileOp::create(b, load.getLoc(), load.getResult().getType(), load.getSource(),
                            load.getBatch(), key, load.getHead(), load.getLimit(),
                            load.getPadAttr());
}

Value Overlapper::multiply(Step &step, Value p, Value v, Value o) {
  return TileMmaOp::create(b, step.output.getLoc(), p, v, o, /*transpose_b=*/false);
}

/// The ops of the step that lead to its scores. Values that `mapping` knows beforehand are
/// not computed again.
Value Overlapper::cloneScores(Step &step, IRMapping &mapping,
                              function_ref<void(TileMmaOp)> clonedProduct) {
  const Operation *others[] = {step.loadV, step.rescale, step.output, step.convert, step.update};
  for (Operation &op : step.loop.getBody()->without_terminator()) {
    if (llvm::is_contained(others, &op) ||
        (op.getNumResults() == 1 && mapping.contains(op.getResult(0))))
      continue;
    Operation *clone = b.clone(op, mapping);
    if (&op == step.scores)
      clonedProduct(cast<TileMmaOp>(clone));
  }
  return mapping.lookup(step.update.getScores());
}

/// m' and alpha, O' = alpha O, then P' and l': in two ops, so that the wait for O comes between
/// them.
Carried Overlapper::softmax(Step &step, Value scores, Value o, Value state, Value key) {
  SoftmaxUpdateOp update = step.update;
  Location loc = update.getLoc();
  auto rebase =
      SoftmaxRebaseOp::create(b, loc, state.getType(), scores.getType(),
                              update.getAlpha().getType(), state, scores, update.getScale());
  if (o)
    o = RescaleOp::create(b, step.rescale.getLoc(), o, rebase.getAlpha());
  auto add = SoftmaxAddOp::create(b, loc, state.getType(), scores.getType(), rebase.getNewState(),
                                  rebase.getNewScores(), update.getScale());
  Value p =
      ConvertOp::create(b, step.convert.getLoc(), step.convert.getResult().getType(), add.getP());
  return {o, add.getNewState(), p, key};
}

/// S = mask(Q K^T), P = exp(S - m).
Carried Overlapper::firstStep(Step &step) {
  IRMapping mapping;
  mapping.map(step.key(), firstKey);
  Value scores = cloneScores(step, mapping, [](TileMmaOp) {});
  ValueRange init = loops.front().getInitArgs();
  Carried carried = softmax(step, scores, Value(), init[step.indexOfState], firstKey);
  carried.o = init[step.indexOfO];
  return carried;
}

/// S' = Q K'^T beside O + P V, then the softmax of S'.
Carried Overlapper::laterStep(Step &step, Value iv, const Carried &carried) {
  IRMapping mapping;
  mapping.map(step.loop.getInductionVar(), iv);
  Value o;
  Value scores = cloneScores(step, mapping, [&](TileMmaOp product) {
    // Both tiles are awaited before either product starts.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(product);
    Value v = loadV(step, carried.key);
    b.setInsertionPointAfter(product);
    o = multiply(step, carried.p, v, carried.o);
  });
  return softmax(step, scores, o, carried.state, mapping.lookup(step.key()));
}

/// O + P V of the last tile.
Carried Overlapper::lastProduct(Step &step, Carried carried) {
  carried.o = multiply(step, carried.p, loadV(step, carried.key), carried.o);
  return carried;
}

void Overlapper::run() {
  b.setInsertionPoint(loops.front());
  findFirstTile();
  Location loc = loops.front().getLoc();
  // The first tile most often needs its mask, and applying it is always right.
  Step *first = llvm::find_if(steps, [](Step &step) { return step.isMasked(); });
  if (first == steps.end())
    first = &steps.front();

  ValueRange init = loops.front().getInitArgs();
  auto ifOp = scf::IfOp::create(b, loc, loops.back().getResultTypes(), anyTile, true);
  b.setInsertionPointToStart(ifOp.thenBlock());
  Carried carried = firstStep(*first);
  for (auto [step, lower] : llvm::zip(steps, lowerBounds)) {
    // Nothing is left of the first loop where its first tile was all that it had.
    if (&step == &steps.front() && steps.size() > 1 && hasOneTileAtMost(step.loop))
      continue;
    auto loop = scf::ForOp::create(
        b, step.loop.getLoc(), lower, step.loop.getUpperBound(), step.loop.getStep(),
        carried.values(), [&](OpBuilder &, Location, Value iv, ValueRange values) {
          Carried next = laterStep(step, iv, {values[0], values[1], values[2], values[3]});
          scf::YieldOp::create(b, loc, next.values());
        });
    loop->setDiscardableAttrs(step.loop->getDiscardableAttrDictionary());
    carried = {loop.getResult(0), loop.getResult(1), loop.getResult(2), loop.getResult(3)};
  }
  carried = lastProduct(*first, carried);
  scf::YieldOp::create(b, loc, ordered(carried.o, carried.state));
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, loc, init);

  loops.back().replaceAllUsesWith(ifOp.getResults());
  for (scf::ForOp loop : llvm::reverse(loops))
    loop.erase();
}

namespace {

struct OverlapSoftmax : attn::impl::AttnOverlapSoftmaxBase<OverlapSoftmax> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForallOp forall) {
      ScheduleAttr schedule = wgmmaSchedule(forall);
      if (!schedule || !schedule.getOverlap())
        return;
      for (KeyLoops &loops : collectKeyLoops(*forall.getBody())) {
        Overlapper overlapper(loops);
        if (succeeded(overlapper.match()))
          overlapper.run();
      }
    });
  }
};

} // namespace
