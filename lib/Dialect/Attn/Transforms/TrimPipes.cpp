//===- TrimPipes.cpp - Waits and releases that nobody needs ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Utils/StaticValueUtils.h>
#include <mlir/Interfaces/LoopLikeInterface.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNTRIMPIPES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

/// The first round of the ring finds every stage empty.
static void passFirstRound(Region &producer) {
  producer.walk([](PipeAcquireOp acquire) {
    std::optional<int64_t> iteration = getConstantIntValue(acquire.getIteration());
    if (iteration && *iteration < acquire.getPipe().getType().getStages())
      acquire.setSynced(true);
  });
}

/// Every fill has one release, and both are counted in the order of the program: the release that
/// runs last would free a stage for a fill that is not there.
static void dropLastReleases(Region &consumer) {
  llvm::MapVector<Value, PipeReleaseOp> last;
  consumer.walk([&](PipeReleaseOp release) { last[release.getPipe()] = release; });
  for (auto [pipe, release] : last) {
    auto loop = release->getParentOfType<LoopLikeOpInterface>();
    if (!loop || !consumer.isAncestor(loop->getParentRegion()))
      release.erase();
  }
}

namespace {

struct TrimPipes : attn::impl::AttnTrimPipesBase<TrimPipes> {
  void runOnOperation() override {
    getOperation().walk([](RolesOp roles) {
      passFirstRound(roles.getProducer());
      dropLastReleases(roles.getConsumer());
    });
  }
};

} // namespace
