//===- KeyLoops.cpp - The loops over K/V tiles of a CTA -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

using namespace mlir;
using namespace attn;

SmallVector<KeyLoops> attn::collectKeyLoops(Block &block) {
  SmallVector<KeyLoops> passes;
  llvm::SmallDenseMap<int64_t, unsigned> indexOfPass;
  for (scf::ForOp loop : block.getOps<scf::ForOp>()) {
    auto number = loop->getAttrOfType<IntegerAttr>(kKVPassAttr);
    if (!number)
      continue;
    auto [it, isNew] = indexOfPass.try_emplace(number.getInt(), passes.size());
    if (isNew)
      passes.emplace_back();
    passes[it->second].push_back(loop);
  }
  return passes;
}

ScheduleAttr attn::wgmmaSchedule(scf::ForallOp forall) {
  auto schedule = forall->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  return schedule && schedule.usesWgmma() ? schedule : ScheduleAttr();
}
