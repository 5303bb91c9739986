//===- ConvertAttnToNVVM.cpp - Tile programs to thread programs -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Patterns.h"
#include "SM90/Roles.h"
#include "VerifyPlacement.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Func/Transforms/FuncConversions.h>
#include <mlir/Dialect/SCF/Transforms/Patterns.h>
#include <mlir/IR/IRMapping.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTONVVM
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

/// Tiles in fragments become one value for each register; tiles in shared memory and
/// pipes become byte offsets in it, those between roles also that of their barriers.
static void addTileConversions(TypeConverter &converter, bool hasRoles) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](TileType tile, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        MLIRContext *context = tile.getContext();
        if (isa_and_nonnull<SharedLayoutAttr, BoxedLayoutAttr>(tile.getLayout())) {
          types.push_back(IntegerType::get(context, 32));
          return success();
        }
        if (!isa_and_nonnull<FragmentLayoutAttr>(tile.getLayout()))
          return failure();
        FragmentMap map(tile);
        Type type = Float32Type::get(context);
        if (map.role == FragmentRole::A)
          type = IntegerType::get(context, 32);
        types.append(map.numRegisters(), type);
        return success();
      });
  converter.addConversion([](SoftmaxStateType state,
                             SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    if (!state.getLayout())
      return failure();
    types.append(kStateValues * FragmentMap(state).numRows(), Float32Type::get(state.getContext()));
    return success();
  });
  converter.addConversion([hasRoles](PipeType pipe, SmallVectorImpl<Type> &types) -> LogicalResult {
    types.append(hasRoles ? 2 : 1, IntegerType::get(pipe.getContext(), 32));
    return success();
  });
  converter.addConversion(
      [](MailboxType mailbox) -> Type { return IntegerType::get(mailbox.getContext(), 32); });
  converter.addConversion([&converter](InFlightType type, SmallVectorImpl<Type> &types) {
    return converter.convertType(type.getTile(), types);
  });
  converter.addConversion(
      [](TensorMapType map) -> Type { return LLVM::LLVMPointerType::get(map.getContext()); });
}

/// Every tile, state and pipe must have a layout, of the schedule's warps and one that its
/// shape fits; says which does not. What wgmma reads lies in boxes, what mma reads in rows.
static LogicalResult verifyLayouts(scf::ForallOp forall, ScheduleAttr schedule) {
  int64_t warps = schedule.getWarps();
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    Attribute layout;
    auto tile = dyn_cast<TileType>(type);
    if (auto inFlight = dyn_cast<InFlightType>(type))
      tile = inFlight.getTile();
    if (tile)
      layout = tile.getLayout();
    else if (auto state = dyn_cast<SoftmaxStateType>(type))
      layout = state.getLayout();
    else if (auto pipe = dyn_cast<PipeType>(type))
      layout = pipe.getTile().getLayout();
    else
      return success();
    if (!layout)
      return op->emitOpError() << "has a value without a layout: " << type
                               << "; run attn-assign-layouts first";
    if (isa<BoxedLayoutAttr, SharedLayoutAttr>(layout) &&
        isa<BoxedLayoutAttr>(layout) != schedule.usesWgmma())
      return op->emitOpError() << "has a value in shared memory that instruction = "
                               << stringifyInstruction(schedule.getInstruction())
                               << " cannot read: " << type << "; run attn-assign-layouts with the "
                               << "schedule that is converted";
    auto fragment = dyn_cast<FragmentLayoutAttr>(layout);
    if (fragment && fragment.getWarps() != warps)
      return op->emitOpError() << "is laid out for " << fragment.getWarps()
                               << " warps, expected the " << warps << " of the schedule";
    if (!fragment || !tile)
      return success();
    if (std::string misfit = FragmentMap::explainMisfit(tile); !misfit.empty())
      return op->emitOpError() << "does not fit mma fragments: " << misfit
                               << "; change q_tile, kv_tile or warps of the schedule";
    return success();
  };
  auto result = forall.walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether an op takes this operand from shared memory; it takes all others from registers.
static bool readsSharedMemory(OpOperand &operand) {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  if (isa<TileMmaOp, MmaStartOp>(op))
    return number < 2;
  if (isa<BulkStoreOp>(op))
    return number == 1;
  return isa<LocalLoadOp, BulkStoreWaitOp>(op);
}

/// Tiles in shared memory come out of pipes and scratch, and go into products and stores.
static LogicalResult verifyPlaces(scf::ForallOp forall) {
  auto isShared = [](Type type) {
    auto tile = dyn_cast<TileType>(type);
    return tile && isa_and_nonnull<SharedLayoutAttr, BoxedLayoutAttr>(tile.getLayout());
  };
  auto result = forall.walk([&](Operation *op) -> WalkResult {
    if (!isa_and_nonnull<AttnDialect>(op->getDialect()))
      return WalkResult::advance();
    for (OpOperand &operand : op->getOpOperands())
      if (isShared(operand.get().getType()) && !readsSharedMemory(operand))
        return op->emitOpError() << "expected a tile in registers, got " << operand.get().getType();
    if (isa<PipeWaitOp, PipeTileOp, LocalStoreOp>(op))
      return WalkResult::advance();
    for (Type type : op->getResultTypes())
      if (isShared(type))
        return op->emitOpError() << "makes a tile in shared memory, expected one in registers: "
                                 << type;
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Turns go round all warpgroups that compute: one that is left out would wait for ever.
static LogicalResult verifyTurns(RolesOp roles, int64_t warpgroups) {
  auto result = roles.walk([&](Operation *op) -> WalkResult {
    if (!isa<TurnsBeginOp, TurnWaitOp, TurnPassOp, TurnsEndOp>(op))
      return WalkResult::advance();
    int64_t turns = op->getAttrOfType<IntegerAttr>("turns").getInt();
    if (turns == warpgroups)
      return WalkResult::advance();
    return op->emitOpError() << "is of " << turns << " warpgroups, expected the " << warpgroups
                             << " of the schedule";
  });
  return failure(result.wasInterrupted());
}

/// Kernels of wgmma have roles, of the schedule's warps; others have none.
/// All warps that compute release a stage; of tiles in parts, those of one warpgroup.
static LogicalResult verifyReaders(PipeCreateOp create, ScheduleAttr schedule) {
  int64_t parts = create.getPipe().getType().getParts();
  if (!schedule.usesWgmma()) {
    if (parts == 1)
      return success();
    return create.emitOpError() << "expected whole tiles with instruction = "
                                << stringifyInstruction(schedule.getInstruction()) << ", got "
                                << parts << " parts, of which warpgroups read one each";
  }
  std::optional<uint64_t> readers = create.getReaders();
  if (!readers || int64_t(*readers) * parts == schedule.getWarps())
    return success();
  return create.emitOpError() << "expected " << schedule.getWarps() / parts << " readers ("
                              << schedule.getWarps()
                              << " consumer warps of the schedule, parts = " << parts << "), got "
                              << *readers;
}

static LogicalResult verifyRoles(scf::ForallOp forall, ScheduleAttr schedule) {
  for (PipeCreateOp create : forall.getOps<PipeCreateOp>())
    if (failed(verifyReaders(create, schedule)))
      return failure();
  SmallVector<RolesOp> roles(forall.getOps<RolesOp>());
  if (roles.size() != (schedule.usesWgmma() ? 1 : 0))
    return forall.emitOpError() << "expected " << (schedule.usesWgmma() ? "one" : "no")
                                << " attn.roles with instruction = "
                                << stringifyInstruction(schedule.getInstruction()) << ", got "
                                << roles.size()
                                << "; run attn-assign-roles once, with the schedule "
                                << "that is converted";
  for (RolesOp op : roles) {
    if (int64_t(op.getWarps()) != schedule.getWarps())
      return op.emitOpError() << "has " << op.getWarps() << " consumer warps, expected the "
                              << schedule.getWarps() << " of the schedule";
    if (failed(verifyTurns(op, schedule.getWarps() / kWarpgroupWarps)))
      return failure();
    if (int64_t(op.getProducerWarps()) != schedule.getProducerWarps())
      return op.emitOpError() << "has " << op.getProducerWarps() << " producer warps, expected "
                              << schedule.getProducerWarps()
                              << " with producer = " << stringifyProducer(schedule.getProducer());
  }
  return success();
}

/// Ids of a CTA from the 1-D block number (i32), last id fastest.
static SmallVector<Value> delinearize(ThreadBuilder &t, Value block,
                                      ArrayRef<OpFoldResult> bounds) {
  SmallVector<Value> ids(bounds.size());
  for (int64_t i = bounds.size() - 1; i > 0; --i) {
    Value bound = t.toI32(getValueOrCreateConstantIndexOp(t.b, t.loc, bounds[i]));
    ids[i] = t.toIndex(arith::RemUIOp::create(t.b, t.loc, block, bound));
    block = arith::DivUIOp::create(t.b, t.loc, block, bound);
  }
  ids.front() = t.toIndex(block);
  return ids;
}

/// Computes what the epilogue needs of the CTA's place anew after the last loop over keys,
/// rather than hold it in registers through the loop, where they are scarcest. The block
/// number goes through a broadcast, which no later pass can merge with the first.
static void recomputePlaceAfterLoops(scf::ForallOp forall) {
  Operation *lastLoop = nullptr;
  for (scf::ForOp loop : forall.getBody()->getOps<scf::ForOp>())
    if (loop->hasAttr(kKVPassAttr))
      lastLoop = loop;
  if (!lastLoop)
    return;
  OpBuilder b(lastLoop->getNextNode());
  ThreadBuilder t(b, lastLoop->getLoc());
  Value block = t.broadcast(NVVM::BlockIdXOp::create(b, t.loc, b.getI32Type()));
  IRMapping again;
  again.map(forall.getInductionVars(),
            ValueRange(delinearize(t, block, forall.getMixedUpperBound())));
  Operation *firstUse = &*b.getInsertionPoint();

  std::function<Value(Value)> recompute = [&](Value value) -> Value {
    Operation *def = value.getDefiningOp();
    if (again.contains(value) || !def)
      return again.lookupOrDefault(value);
    if (def->getBlock() != forall.getBody() || !isPure(def) || def->getNumRegions() != 0 ||
        !value.getType().isIntOrIndex() || !def->isBeforeInBlock(lastLoop))
      return value;
    for (Value operand : def->getOperands())
      recompute(operand);
    b.clone(*def, again);
    return again.lookup(value);
  };
  for (Operation *op = firstUse; op; op = op->getNextNode())
    op->walk([&](Operation *user) {
      for (OpOperand &operand : user->getOpOperands())
        if (operand.get().getType().isIntOrIndex())
          operand.set(recompute(operand.get()));
    });
}

/// Replaces the loop over CTAs by its body for the CTA of this block.
static void inlineCtaLoop(scf::ForallOp forall) {
  recomputePlaceAfterLoops(forall);
  OpBuilder b(forall);
  ThreadBuilder t(b, forall.getLoc());
  Value block = NVVM::BlockIdXOp::create(b, forall.getLoc(), b.getI32Type());
  SmallVector<Value> ids = delinearize(t, block, forall.getMixedUpperBound());
  for (auto [id, value] : llvm::zip(forall.getInductionVars(), ids))
    id.replaceAllUsesWith(value);
  forall.getTerminator()->erase();
  forall->getBlock()->getOperations().splice(forall->getIterator(),
                                             forall.getBody()->getOperations());
  forall.erase();
}

/// Computes the warp's number once, through a shuffle: it is uniform in a warp, but ptxas
/// only knows that of a broadcast value, which it then keeps in a uniform register.
static void broadcastWarpNumber(func::FuncOp kernel) {
  SmallVector<arith::DivUIOp> numbers;
  kernel.walk([&](arith::DivUIOp div) {
    if (div.getLhs().getDefiningOp<NVVM::ThreadIdXOp>() &&
        getConstantIntValue(div.getRhs()) == kWarpSize)
      numbers.push_back(div);
  });
  if (numbers.empty())
    return;
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  ThreadBuilder t(b, kernel.getLoc());
  Value number = t.broadcast(t.warp());
  for (arith::DivUIOp div : numbers)
    div.replaceAllUsesWith(number);
}

/// Where products run beside it, softmax is what bounds a step.
static SoftmaxStyle softmaxStyle(ScheduleAttr schedule) {
  return {.lazyRescale = schedule.getLazyRescale(),
          .integerMax = schedule.getIntegerMax(),
          .chains = schedule.usesWgmma() ? 4U : 1U};
}

namespace {

struct ConvertToNVVM : attn::impl::ConvertAttnToNVVMBase<ConvertToNVVM> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation().walk([&](scf::ForallOp forall) {
      if (forall->hasAttr(kScheduleAttr))
        loops.push_back(forall);
    });
    for (scf::ForallOp forall : loops)
      if (failed(convertKernel(forall)))
        return signalPassFailure();
    if (!loops.empty())
      declareSharedMemory();
  }

private:
  LogicalResult convertKernel(scf::ForallOp forall) {
    auto func = forall->getParentOfType<func::FuncOp>();
    if (forall->getParentOp() != func || !llvm::hasSingleElement(func.getOps<scf::ForallOp>()))
      return forall.emitOpError() << "expected one loop over CTAs in a function; run "
                                     "attn-outline-kernels first";
    auto smemBytes = forall->getAttrOfType<IntegerAttr>(kSmemBytesAttr);
    if (!smemBytes)
      return forall.emitOpError() << "has no " << kSmemBytesAttr
                                  << "; run attn-allocate-smem first";
    auto schedule = forall->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (failed(verifyLayouts(forall, schedule)) || failed(verifyPlaces(forall)) ||
        failed(verifyRoles(forall, schedule)) || failed(verifySharedMemory(forall)) ||
        failed(verifyTensorMaps(forall)))
      return failure();
    int64_t threads = schedule.getCtaWarps() * kWarpSize;
    bool hasRoles = schedule.usesWgmma();
    auto alignment = forall->getAttrOfType<IntegerAttr>(kAlignmentAttr);
    Builder b(func.getContext());
    func->setAttr(kThreadsAttr, b.getI64IntegerAttr(threads));
    func->setAttr(kSmemBytesAttr, smemBytes);
    inlineCtaLoop(forall);
    SmallVector<RolesOp> roles(func.getOps<RolesOp>());
    for (RolesOp op : roles)
      inlineRoles(op, schedule.getProducer());

    TypeConverter converter;
    addTileConversions(converter, hasRoles);
    RewritePatternSet patterns(func.getContext());
    ConversionTarget target(*func.getContext());
    target.addIllegalDialect<AttnDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalOp<func::FuncOp>(
        [&](func::FuncOp op) { return converter.isSignatureLegal(op.getFunctionType()); });
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
    populateFragmentPatterns(converter, patterns);
    populateSoftmaxPatterns(converter, patterns, softmaxStyle(schedule));
    populateFinalizePatterns(converter, patterns, softmaxStyle(schedule));
    populateMergePatterns(converter, patterns);
    populateScorePatterns(converter, patterns);
    populateMemoryPatterns(converter, patterns, alignment ? alignment.getInt() : 1, !hasRoles);
    switch (schedule.getInstruction()) {
    case Instruction::Fma:
      populateSM80PipePatterns(converter, patterns, threads);
      populateFmaPatterns(converter, patterns);
      break;
    case Instruction::Mma:
      populateSM80PipePatterns(converter, patterns, threads);
      populateSM80MmaPatterns(converter, patterns);
      break;
    case Instruction::Wgmma:
      populateSM90PipePatterns(converter, patterns);
      if (schedule.getProducer() == Producer::CpAsync)
        populateSM90CpAsyncFills(converter, patterns, schedule.getWarps());
      else
        populateSM90TensorMapFills(converter, patterns);
      populateSM90MailboxPatterns(converter, patterns, schedule.getWarps());
      populateSM90WgmmaPatterns(converter, patterns);
      populateSM90RolePatterns(converter, patterns);
      break;
    }
    if (failed(applyFullConversion(func, target, std::move(patterns))))
      return failure();
    broadcastWarpNumber(func);
    mergeFences(func);
    return success();
  }

  /// The dynamic shared memory of all kernels of the module.
  void declareSharedMemory() {
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    LLVM::GlobalOp::create(b, getOperation().getLoc(), type, /*isConstant=*/false,
                           LLVM::Linkage::External, kSharedMemorySymbol, Attribute(),
                           /*alignment=*/1024,
                           static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  }
};

} // namespace
