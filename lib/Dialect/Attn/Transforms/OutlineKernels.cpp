//===- OutlineKernels.cpp - One function for each kernel ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <llvm/ADT/SetVector.h>
#include <mlir/IR/IRMapping.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNOUTLINEKERNELS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// Everything beside the grids must be free of effects: it is cloned into each kernel
/// that uses it, and dropped where none does.
static LogicalResult checkOutlinable(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError() << "expected one block around the scf.forall ops, got "
                              << func.getBody().getBlocks().size();
  if (func.getNumResults() != 0)
    return func.emitOpError() << "expected no results: a kernel writes to its memref arguments, "
                                 "got "
                              << func.getNumResults();
  for (Operation &op : func.getBody().front().without_terminator()) {
    auto forall = dyn_cast<scf::ForallOp>(op);
    if (!forall && !isMemoryEffectFree(&op))
      return op.emitOpError() << "has side effects outside of an scf.forall; expected only "
                                 "effect-free ops beside the grids of '"
                              << func.getSymName() << "'";
    if (forall && forall.getNumResults() != 0)
      return op.emitOpError() << "expected an scf.forall without results: a kernel writes to "
                                 "memrefs";
  }
  return success();
}

/// The ops of `block` that `root` needs, in order.
static SmallVector<Operation *> collectSlice(Block &block, Operation *root) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> worklist = {root};
  while (!worklist.empty()) {
    worklist.pop_back_val()->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (def && def->getBlock() == &block && needed.insert(def))
          worklist.push_back(def);
      }
    });
  }
  SmallVector<Operation *> slice = needed.takeVector();
  llvm::sort(slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return slice;
}

static func::FuncOp buildKernel(func::FuncOp func, scf::ForallOp forall, StringRef name) {
  OpBuilder b(func);
  func::FuncOp kernel = func.cloneWithoutRegions();
  b.insert(kernel);
  kernel.setSymName(name);
  kernel->setAttr(kKernelAttr, b.getUnitAttr());
  Block *entry = kernel.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  IRMapping mapping;
  mapping.map(func.getArguments(), entry->getArguments());
  for (Operation *op : collectSlice(func.getBody().front(), forall))
    b.clone(*op, mapping);
  b.clone(*forall, mapping);
  func::ReturnOp::create(b, forall.getLoc());
  return kernel;
}

namespace {

struct OutlineKernels : attn::impl::AttnOutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    for (func::FuncOp func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(outline(func)))
        signalPassFailure();
  }

  LogicalResult outline(func::FuncOp func) {
    if (func.isExternal() || func->hasAttr(kKernelAttr))
      return success();
    SmallVector<scf::ForallOp> foralls(func.getOps<scf::ForallOp>());
    if (foralls.empty())
      return success();
    if (failed(checkOutlinable(func)))
      return failure();

    ModuleOp module = getOperation();
    SmallVector<std::string> names;
    if (foralls.size() == 1) {
      names.push_back(func.getSymName().str());
    } else {
      if (!SymbolTable::symbolKnownUseEmpty(func, module))
        return func.emitOpError() << "becomes " << foralls.size()
                                  << " kernels and cannot keep its name, but is referred to";
      for (unsigned i = 0; i < foralls.size(); ++i) {
        names.push_back((func.getSymName() + "_" + Twine(i)).str());
        if (Operation *other = SymbolTable::lookupSymbolIn(module, names.back())) {
          InFlightDiagnostic diag = func.emitOpError()
                                    << "needs the name '" << names.back() << "' for kernel " << i;
          diag.attachNote(other->getLoc()) << "which is taken here";
          return diag;
        }
      }
    }
    for (auto [forall, name] : llvm::zip_equal(foralls, names))
      buildKernel(func, forall, name);
    func.erase();
    return success();
  }
};

} // namespace
