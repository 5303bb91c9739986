//===- KernelEmitter.cpp - Functions and control flow ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "attn/Conversion/AttnToCPU/AttnToCPU.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

#include <mlir/Dialect/Arith/Utils/Utils.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static bool isTileValue(Type type) { return isa<TileType, SoftmaxStateType>(type); }

KernelEmitter::KernelEmitter(func::FuncOp kernel, int64_t vectorWidth)
    : kernel(kernel), vectorWidth(vectorWidth), b(kernel.getLoc(), kernel.getContext()) {}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::checkKernel() {
  auto foralls = llvm::to_vector(kernel.getOps<scf::ForallOp>());
  if (foralls.size() != 1 || !kernel.getBody().hasOneBlock() || kernel.getNumResults() != 0)
    return kernel.emitOpError() << "expected a kernel with one scf.forall and no results, got "
                                << foralls.size() << " scf.forall and " << kernel.getNumResults()
                                << " results; run attn-outline-kernels first";
  forall = foralls.front();
  for (BlockArgument arg : kernel.getArguments()) {
    Type type = arg.getType();
    if (!isa<MemRefType>(type) && !type.isF32() && !type.isIndex() && !type.isInteger(64))
      return kernel.emitOpError() << "expected arguments of type memref, f32, index or i64, got "
                                  << type << " for argument " << arg.getArgNumber();
  }
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (&op != forall && (!isMemoryEffectFree(&op) || isa<AttnDialect>(op.getDialect())))
      return op.emitOpError() << "expected only effect-free ops of other dialects beside the "
                                 "scf.forall of a kernel";
  std::string counter = (kernel.getSymName() + kNumTilesSuffix).str();
  if (Operation *other = SymbolTable::lookupSymbolIn(kernel->getParentOp(), counter)) {
    InFlightDiagnostic diag = kernel.emitOpError()
                              << "needs the name '" << counter << "' for its tile counter";
    diag.attachNote(other->getLoc()) << "which is taken here";
    return diag;
  }
  return success();
}

func::FuncOp KernelEmitter::createFunction(StringRef name, ArrayRef<Type> extraInputs,
                                           TypeRange results) {
  SmallVector<Type> inputs(kernel.getArgumentTypes());
  inputs.append(extraInputs.begin(), extraInputs.end());
  b.setInsertionPoint(kernel);
  auto func = func::FuncOp::create(b, name, b.getFunctionType(inputs, results));
  created.push_back(func);
  mapping.clear();
  Block *entry = func.addEntryBlock();
  mapping.map(kernel.getArguments(), entry->getArguments().take_front(kernel.getNumArguments()));
  b.setInsertionPointToEnd(entry);
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (&op != forall)
      b.clone(op, mapping);
  return func;
}

/// Number of ids in each dim: max(0, ceil((upper - lower) / step)).
SmallVector<Value> KernelEmitter::emitGridSizes() {
  auto value = [&](OpFoldResult bound) {
    if (auto dynamic = dyn_cast<Value>(bound))
      return mapping.lookupOrDefault(dynamic);
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), bound);
  };
  SmallVector<Value> sizes;
  for (auto [lower, upper, step] : llvm::zip_equal(
           forall.getMixedLowerBound(), forall.getMixedUpperBound(), forall.getMixedStep())) {
    Value span = b.createOrFold<arith::SubIOp>(value(upper), value(lower));
    span = b.createOrFold<arith::MaxSIOp>(span, index(0));
    sizes.push_back(b.createOrFold<arith::CeilDivSIOp>(span, value(step)));
  }
  return sizes;
}

void KernelEmitter::emitTileCounter() {
  createFunction((kernel.getSymName() + kNumTilesSuffix).str(), {}, b.getI64Type());
  Value count = index(1);
  for (Value size : emitGridSizes())
    count = arith::MulIOp::create(b, count, size);
  func::ReturnOp::create(b, arith::IndexCastOp::create(b, b.getI64Type(), count).getResult());
}

LogicalResult KernelEmitter::emitRangeFunction() {
  func::FuncOp func =
      createFunction(kernel.getSymName(), {b.getI64Type(), b.getI64Type()}, TypeRange());
  func->setAttr(kKernelAttr, b.getUnitAttr());
  func->setAttr(kArgumentTypesAttr, b.getTypeArrayAttr(kernel.getArgumentTypes()));
  ValueRange range = func.getArguments().take_back(2);
  SmallVector<Value> sizes = emitGridSizes();
  Value begin = arith::IndexCastOp::create(b, b.getIndexType(), range[0]);
  Value end = arith::IndexCastOp::create(b, b.getIndexType(), range[1]);
  allocationPoint = begin.getDefiningOp();

  LogicalResult result = success();
  forRange(begin, end, 1, [&](Value tile) {
    // The last id runs fastest.
    SmallVector<Value> steps(forall.getStep(b)), lower(forall.getLowerBound(b));
    for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
      Value id = dim == 0 ? tile : arith::RemUIOp::create(b, tile, sizes[dim]).getResult();
      if (dim != 0)
        tile = arith::DivUIOp::create(b, tile, sizes[dim]);
      id = b.createOrFold<arith::MulIOp>(id, mapping.lookupOrDefault(steps[dim]));
      id = b.createOrFold<arith::AddIOp>(id, mapping.lookupOrDefault(lower[dim]));
      mapping.map(forall.getInductionVar(dim), id);
    }
    result = emitBlock(*forall.getBody());
  });
  for (Value buffer : allocations)
    memref::DeallocOp::create(b, buffer);
  func::ReturnOp::create(b);
  return result;
}

void KernelEmitter::callShared(const Twine &what, ValueRange operands,
                               llvm::function_ref<void(ValueRange)> body) {
  StringAttr key = b.getStringAttr(what);
  FunctionType type = b.getFunctionType(operands.getTypes(), {});
  func::FuncOp &func = shared[{key, type}];
  if (!func) {
    std::string name;
    do {
      name = (kernel.getSymName() + "_loops_" + Twine(numShared++)).str();
    } while (SymbolTable::lookupSymbolIn(kernel->getParentOp(), name));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(kernel);
    func = func::FuncOp::create(b, name, type);
    func.setPrivate();
    // LLVM would inline them again, at twice the time to compile and no gain in speed.
    func->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
    func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    created.push_back(func);
    Block *entry = func.addEntryBlock();
    b.setInsertionPointToEnd(entry);
    body(entry->getArguments());
    func::ReturnOp::create(b);
  }
  func::CallOp::create(b, func, operands);
}

LogicalResult KernelEmitter::emit() {
  if (failed(checkKernel()))
    return failure();
  emitTileCounter();
  if (succeeded(emitRangeFunction()))
    return success();
  for (Operation *op : created)
    op->erase();
  return failure();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    if (failed(emitOp(op)))
      return failure();
  }
  b.setLoc(block.getTerminator()->getLoc());
  return success();
}

LogicalResult KernelEmitter::emitOp(Operation &op) {
  if (isa<AttnDialect>(op.getDialect()))
    return TypeSwitch<Operation *, LogicalResult>(&op)
        .Case<LoadTileOp, StoreTileOp, FillOp, ConvertOp, TileMmaOp, RescaleOp, MapScoresOp,
              MaskScoresOp, SoftmaxInitOp, SoftmaxUpdateOp, SoftmaxMaxOp, SoftmaxSumOp,
              SoftmaxApplyOp, FinalizeOp, MergeOp>([&](auto tileOp) { return emitOp(tileOp); })
        .Default([](Operation *other) {
          return other->emitOpError() << "cannot be run on the CPU: expected an op of the tile "
                                         "program (level L1) that attn-lower-to-tiles writes";
        });
  bool usesTiles = llvm::any_of(op.getOperandTypes(), isTileValue) ||
                   llvm::any_of(op.getResultTypes(), isTileValue);
  bool holdsAttnOps = op.walk([](Operation *nested) {
                          return isa<AttnDialect>(nested->getDialect()) ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
                        }).wasInterrupted();
  if (!usesTiles && !holdsAttnOps) {
    b.clone(op, mapping);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  return op.emitOpError() << "cannot be run on the CPU around or on tiles: expected scf.for or "
                             "scf.if";
}

/// The carried tiles stay in the same buffers over all iterations.
LogicalResult KernelEmitter::emitFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  SmallVector<BlockArgument> plainArgs;
  SmallVector<Value> plainResults;
  SmallVector<SmallVector<TileBuffer, 2>> carriedBuffers;
  for (auto [init, arg, result] :
       llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!isTileValue(arg.getType())) {
      inits.push_back(mapping.lookupOrDefault(init.get()));
      plainArgs.push_back(arg);
      plainResults.push_back(result);
      continue;
    }
    SmallVector<TileBuffer, 2> buffers = own(init);
    bind(arg, buffers);
    bind(result, buffers);
    carriedBuffers.push_back(buffers);
  }
  LogicalResult status = success();
  auto emitted = scf::ForOp::create(b, mapping.lookupOrDefault(loop.getLowerBound()),
                                    mapping.lookupOrDefault(loop.getUpperBound()),
                                    mapping.lookupOrDefault(loop.getStep()), inits,
                                    [&](OpBuilder &, Location, Value iv, ValueRange args) {
                                      mapping.map(loop.getInductionVar(), iv);
                                      mapping.map(ArrayRef(plainArgs), args);
                                      status = emitBlock(*loop.getBody());
                                      emitYield(loop.getBody()->getTerminator(), carriedBuffers);
                                    });
  emitted.setUnsignedCmp(loop.getUnsignedCmp());
  mapping.map(plainResults, emitted.getResults());
  return status;
}

LogicalResult KernelEmitter::emitIf(scf::IfOp op) {
  SmallVector<Type> plainTypes;
  SmallVector<Value> plainResults;
  SmallVector<SmallVector<TileBuffer, 2>> buffers;
  for (Value result : op.getResults()) {
    if (isTileValue(result.getType())) {
      buffers.push_back(allocateFor(result.getType()));
      bind(result, buffers.back());
    } else {
      plainTypes.push_back(result.getType());
      plainResults.push_back(result);
    }
  }
  auto emitted =
      scf::IfOp::create(b, plainTypes, mapping.lookupOrDefault(op.getCondition()),
                        /*addThenBlock=*/true, /*addElseBlock=*/!op.getElseRegion().empty());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), emitted->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    to.front().clear();
    b.setInsertionPointToStart(&to.front());
    LogicalResult status = emitBlock(from.front());
    emitYield(from.front().getTerminator(), buffers);
    if (failed(status))
      return failure();
  }
  mapping.map(plainResults, emitted.getResults());
  return success();
}

/// Moves the yielded tiles to where the next iteration, or the code after, expects them.
void KernelEmitter::emitYield(Operation *yield, ArrayRef<SmallVector<TileBuffer, 2>> targets) {
  SmallVector<Value> plain;
  SmallVector<std::pair<TileBuffer, TileBuffer>> moves;
  llvm::SmallDenseSet<Value> written;
  unsigned next = 0;
  for (Value value : yield->getOperands()) {
    if (!isTileValue(value.getType())) {
      plain.push_back(mapping.lookupOrDefault(value));
      continue;
    }
    for (auto [from, to] : llvm::zip_equal(buffersOf(value), targets[next++])) {
      if (from.memref == to.memref)
        continue;
      moves.push_back({from, to});
      written.insert(to.memref);
    }
  }
  // A source that another move overwrites is set aside first.
  for (auto &[from, to] : moves) {
    if (!written.contains(from.memref))
      continue;
    TileBuffer aside = {allocate(cast<MemRefType>(from.memref.getType()).getShape()), from.rows,
                        from.cols};
    copy(from, aside);
    from = aside;
  }
  for (auto &[from, to] : moves)
    copy(from, to);
  scf::YieldOp::create(b, plain);
}
