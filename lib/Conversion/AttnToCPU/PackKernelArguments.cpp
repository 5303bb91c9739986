//===- PackKernelArguments.cpp - One pointer array for all arguments ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

#include <mlir/IR/ImplicitLocOpBuilder.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNPACKKERNELARGUMENTS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

/// Adds @f_packed(entries): f(*entries[0], *entries[1], ...), with the result, if any,
/// written behind the last entry.
static void addPackedEntry(LLVM::LLVMFuncOp func) {
  ImplicitLocOpBuilder b(func.getLoc(), func.getContext());
  b.setInsertionPointAfter(func);
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(func.getContext()), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(b, (func.getSymName() + kPackedSuffix).str(), type);
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  auto slot = [&](int32_t i) -> Value {
    Value address =
        LLVM::GEPOp::create(b, pointer, pointer, block->getArgument(0), ArrayRef<LLVM::GEPArg>{i});
    return LLVM::LoadOp::create(b, pointer, address);
  };
  SmallVector<Value> arguments;
  for (auto [i, argumentType] : llvm::enumerate(func.getArgumentTypes()))
    arguments.push_back(LLVM::LoadOp::create(b, argumentType, slot(i)));
  auto call = LLVM::CallOp::create(b, func, arguments);
  if (call.getNumResults() == 1)
    LLVM::StoreOp::create(b, call.getResult(), slot(arguments.size()));
  LLVM::ReturnOp::create(b, ValueRange());
}

namespace {

struct PackKernelArguments : attn::impl::AttnPackKernelArgumentsBase<PackKernelArguments> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (LLVM::LLVMFuncOp kernel : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>())) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      std::string counter = (kernel.getSymName() + kNumTilesSuffix).str();
      for (StringRef name : {kernel.getSymName(), StringRef(counter)}) {
        auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
        if (!func) {
          kernel.emitOpError() << "expected a tile counter '" << name << "' beside the kernel";
          return signalPassFailure();
        }
        std::string packed = (name + kPackedSuffix).str();
        if (Operation *other = module.lookupSymbol(packed)) {
          InFlightDiagnostic diag = func.emitOpError()
                                    << "needs the name '" << packed << "' for its packed entry";
          diag.attachNote(other->getLoc()) << "which is taken here";
          return signalPassFailure();
        }
        addPackedEntry(func);
      }
    }
  }
};

} // namespace
