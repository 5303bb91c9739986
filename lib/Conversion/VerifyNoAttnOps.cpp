//===- VerifyNoAttnOps.cpp - Proves that nothing of attn is left ----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNVERIFYNOATTNOPS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

static bool isAttnType(Type type) { return isa<AttnDialect>(type.getDialect()); }

/// A type of the dialect that the op mentions, also inside a function type. `clean` are types
/// known to mention none: unrolled code has few types and thousands of ops.
static Type findAttnType(Operation *op, DenseSet<Type> &clean) {
  auto search = [&](Type type) -> Type {
    Type found;
    if (clean.contains(type))
      return found;
    type.walk([&](Type nested) {
      if (!isAttnType(nested))
        return WalkResult::advance();
      found = nested;
      return WalkResult::interrupt();
    });
    if (!found)
      clean.insert(type);
    return found;
  };
  SmallVector<Type> mentioned(op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(mentioned, block.getArgumentTypes());
  if (auto func = dyn_cast<FunctionOpInterface>(op))
    mentioned.push_back(func.getFunctionType());
  for (Type type : mentioned)
    if (Type found = search(type))
      return found;
  return {};
}

namespace {

struct VerifyNoAttnOps : attn::impl::AttnVerifyNoAttnOpsBase<VerifyNoAttnOps> {
  void runOnOperation() override {
    DenseSet<Type> clean;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<AttnDialect>(op->getDialect())) {
        op->emitOpError() << "is left after the conversion out of the attn dialect";
        signalPassFailure();
      } else if (Type type = findAttnType(op, clean)) {
        op->emitOpError() << "still has the type " << type
                          << " after the conversion out of the attn dialect";
        signalPassFailure();
      }
    });
  }
};

} // namespace
