//===- SharedMemoryTest.cpp - Budgets agree with the allocator ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblem.h"

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;

/// What attn-allocate-smem finds in the tile program of a problem.
static int64_t allocated(TestProblem &problem) {
  if (!problem.run(createAttnLowerToTiles(), createAttnSplitMaskRanges(), createAttnInsertPipes(),
                   createAttnAssignLayouts(), createAttnAllocateSmem()))
    return -1;
  int64_t bytes = -1;
  problem.module->walk([&](scf::ForallOp forall) {
    bytes = forall->getAttrOfType<IntegerAttr>(kSmemBytesAttr).getInt();
  });
  return bytes;
}

TEST(SharedMemory, AgreesWithTheAllocator) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::vector<ScheduleValues> variants;
  for (Algorithm algorithm : {Algorithm::Naive, Algorithm::TwoPass, Algorithm::FA2})
    for (int64_t stages : {1, 2, 3})
      for (WarpSplit split : {WarpSplit::Rows, WarpSplit::Keys})
        variants.push_back({.algorithm = algorithm,
                            .qTile = split == WarpSplit::Rows ? 64 : 16,
                            .kvTile = 64,
                            .stages = stages,
                            .warps = 4,
                            .warpSplit = split,
                            .splitKV = 1});
  for (auto [dimQK, dimV] : {std::pair{64, 64}, {72, 72}, {40, 104}, {128, 128}, {192, 128}})
    for (const char *out : {"bf16", "f32"})
      for (const ScheduleValues &values : variants) {
        TestProblem problem(context, {.headDimQK = dimQK,
                                      .headDimV = dimV,
                                      .mask = "#attn.causal<bottom_right>",
                                      .out = out});
        ASSERT_TRUE(problem.op);
        ScheduleAttr schedule = toAttr(&context, values);
        problem.op.setScheduleAttr(schedule);
        int64_t expected = sharedMemoryUse(describeProblem(problem.op), schedule).total();
        EXPECT_EQ(allocated(problem), expected)
            << dimQK << "/" << dimV << " " << out << " " << fieldText(values.algorithm) << " "
            << values.stages << " " << fieldText(values.warpSplit);
      }
}

TEST(SharedMemory, TableRowsAgreeWithTheAllocator) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  for (const char *element : {"bf16", "f32"})
    for (int64_t dim : {32, 64, 80, 96, 128, 192, 256}) {
      TestProblem problem(context, {.element = element, .headDimQK = dim, .headDimV = dim});
      Selection selection = selectSchedule(problem.op, *findTarget("sm_80"));
      ASSERT_TRUE(static_cast<bool>(selection)) << selection.error;
      problem.op.setScheduleAttr(selection.schedule);
      int64_t expected = sharedMemoryUse(describeProblem(problem.op), selection.schedule).total();
      EXPECT_EQ(allocated(problem), expected) << element << " " << dim;
    }
}
