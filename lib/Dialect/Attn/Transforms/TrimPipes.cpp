//===- TrimPipes.cpp - Waits and releases that nobody needs ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Utils/StaticValueUtils.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNTRIMPIPES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// The first round of a ring finds every stage empty. Returns the pipes of which a fill waits.
static llvm::SmallPtrSet<Value, 4> passFirstRound(Region &producer) {
  llvm::SmallPtrSet<Value, 4> waiting;
  producer.walk([&](PipeAcquireOp acquire) {
    std::optional<int64_t> iteration = getConstantIntValue(acquire.getIteration());
    if (iteration && *iteration < acquire.getPipe().getType().getStages())
      acquire.setSynced(true);
    else
      waiting.insert(acquire.getPipe());
  });
  return waiting;
}

namespace {

struct TrimPipes : attn::impl::AttnTrimPipesBase<TrimPipes> {
  void runOnOperation() override {
    getOperation().walk([](RolesOp roles) {
      llvm::SmallPtrSet<Value, 4> waiting = passFirstRound(roles.getProducer());
      // The last release of a pipe that is waited for would free nothing either, but ptxas makes
      // slower loops without it.
      roles.getConsumer().walk([&](PipeReleaseOp release) {
        if (!waiting.contains(release.getPipe()))
          release.erase();
      });
    });
  }
};

} // namespace
