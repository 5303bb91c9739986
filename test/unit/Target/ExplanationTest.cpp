//===- ExplanationTest.cpp - What an explanation says ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblem.h"

#include "attn/Dispatch/Explanation.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;

static bool contains(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

TEST(Explanation, CountsWorkAndResources) {
  MLIRContext context;
  TestProblem problem(context, {.headDimQK = 128,
                                .headDimV = 128,
                                .mask = "#attn.causal<bottom_right>",
                                .headsQ = 32,
                                .headsKV = 8});
  ProblemShape shape{.batch = 2, .seqLenQ = 4096, .seqLenKV = 4096};
  Explanation explanation = explainForward(problem.op, *findTarget("sm_80"), shape);
  ASSERT_TRUE(static_cast<bool>(explanation.selection));
  EXPECT_EQ(explanation.selection.row, "mma_d128");
  ASSERT_TRUE(explanation.work.has_value());
  const Work &work = *explanation.work;
  double pairs = 4096.0 * 4097 / 2 * 2 * 32;
  EXPECT_DOUBLE_EQ(work.pairs, pairs);
  EXPECT_DOUBLE_EQ(work.flops, pairs * 4 * 128);
  // Q and O of 32 heads, K and V of 8, two bytes each.
  EXPECT_DOUBLE_EQ(work.bytes, 2.0 * 4096 * 128 * 2 * (32 + 32 + 8 + 8));
  EXPECT_EQ(work.ctas, 2 * 32 * 4096 / 128);
  ASSERT_TRUE(explanation.resources.has_value());
  EXPECT_EQ(explanation.resources->ctasPerSM, 2);
  // A Q tile of 128 rows, two stages of 48 rows of K and of V, 256 bytes a row.
  EXPECT_EQ(explanation.resources->shared.total(), (128 + 2 * 2 * 48) * 256);
  EXPECT_DOUBLE_EQ(work.waves, 2048.0 / (108 * 2));
  ASSERT_EQ(work.rooflines.size(), 1u);
  const Roofline &roof = work.rooflines.front();
  EXPECT_FALSE(roof.isMemoryBound);
  EXPECT_NEAR(roof.tflops, 312, 1e-6);
  EXPECT_NEAR(roof.boundUs, work.flops / 312e6, 1e-6);
}

TEST(Explanation, KnowsMemoryBoundProblems) {
  MLIRContext context;
  TestProblem problem(context, {.headDimQK = 128, .headDimV = 128, .seqLenQ = "1"});
  ProblemShape shape{.batch = 64, .seqLenQ = 1, .seqLenKV = 4096};
  Explanation explanation = explainForward(problem.op, *findTarget("sm_90"), shape);
  ASSERT_EQ(explanation.work->rooflines.size(), 2u);
  for (const Roofline &roof : explanation.work->rooflines)
    EXPECT_TRUE(roof.isMemoryBound);
  EXPECT_EQ(explanation.work->rooflines[0].rates.source, RateSource::Datasheet);
  EXPECT_EQ(explanation.work->rooflines[1].rates.source, RateSource::Measured);
}

TEST(Explanation, TextNamesChoiceAndReasons) {
  MLIRContext context;
  TestProblem problem(context, {.element = "f32", .headDimQK = 256, .headDimV = 256});
  ProblemShape shape{.batch = 1, .seqLenQ = 128, .seqLenKV = 128};
  std::string text = explainForward(problem.op, *findTarget("sm_86"), shape).toText();
  EXPECT_TRUE(contains(text, "row           generic_small\n")) << text;
  EXPECT_TRUE(contains(text, "generic path  element type: takes f16, bf16")) << text;
  EXPECT_TRUE(contains(text, "rejected      generic: shared memory: expected at most 101376"))
      << text;
  EXPECT_TRUE(contains(text, "datasheet rates: A40")) << text;
  EXPECT_TRUE(contains(text, "occupancy     1 CTAs an SM, limited by shared memory")) << text;
}

TEST(Explanation, JsonHoldsTheSame) {
  MLIRContext context;
  TestProblem problem(context, {});
  ProblemShape shape{.batch = 1, .seqLenQ = 1000, .seqLenKV = 1337};
  Explanation explanation = explainForward(problem.op, *findTarget("sm_80"), shape);
  llvm::json::Value value = explanation.toJson();
  llvm::json::Object *object = value.getAsObject();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->getString("row"), "mma_d64");
  EXPECT_EQ(object->getString("target"), "sm_80");
  EXPECT_EQ(object->getBoolean("generic_path"), false);
  llvm::json::Object *schedule = object->getObject("schedule");
  ASSERT_NE(schedule, nullptr);
  EXPECT_EQ(schedule->getInteger("q_tile"), 128);
  EXPECT_EQ(schedule->getString("algorithm"), "fa2");
  EXPECT_EQ(schedule->getBoolean("q_in_registers"), true);
  EXPECT_EQ(object->getObject("work")->getInteger("ctas"), 8 * 8);
  EXPECT_EQ(object->getObject("resources")->getObject("registers")->getInteger("limit"), 255);
  EXPECT_EQ(object->getArray("rejected")->size(), 4u);
}

TEST(Explanation, PersistentGridsHaveTiles) {
  MLIRContext context;
  TestProblem problem(context, {.headDimQK = 128, .headDimV = 128, .headsQ = 32, .headsKV = 8});
  auto explain = [&](int64_t seqLen) {
    ProblemShape shape{.batch = 1, .seqLenQ = seqLen, .seqLenKV = seqLen};
    return explainForward(problem.op, *findTarget("sm_90a"), shape);
  };
  Explanation many = explain(4096);
  ASSERT_TRUE(many.work.has_value());
  int64_t qTile = many.selection.schedule.getQTile();
  ASSERT_NE(many.selection.schedule.getPersistent(), Persistence::None);
  int64_t tiles = 32 * 4096 / qTile;
  EXPECT_EQ(many.work->tiles, tiles);
  EXPECT_EQ(many.work->ctas, 132);
  std::string text = many.toText();
  std::string grid = llvm::formatv("grid          {0} tiles on 132 persistent CTAs, {1:F2} tiles a "
                                   "CTA\n",
                                   tiles, static_cast<double>(tiles) / 132);
  EXPECT_TRUE(contains(text, grid)) << text;
  EXPECT_FALSE(contains(text, "waves")) << text;
  llvm::json::Value value = many.toJson();
  const llvm::json::Object *work = value.getAsObject()->getObject("work");
  EXPECT_EQ(work->getInteger("tiles"), tiles);
  EXPECT_EQ(work->getInteger("ctas"), 132);
  EXPECT_DOUBLE_EQ(work->getNumber("tiles_per_cta").value_or(0), static_cast<double>(tiles) / 132);
  EXPECT_FALSE(work->getNumber("waves").has_value());

  // Fewer tiles than SMs: one each.
  Explanation few = explain(qTile);
  EXPECT_EQ(few.work->tiles, 32);
  EXPECT_EQ(few.work->ctas, 32);
  EXPECT_DOUBLE_EQ(few.work->tilesPerCta(), 1);
  // No tiles, no CTAs.
  EXPECT_TRUE(contains(explain(0).toText(), "0 tiles on 0 persistent CTAs, 0.00 tiles a CTA"));
}

TEST(Explanation, PackedHeadsShareTiles) {
  MLIRContext context;
  TestProblem problem(
      context, {.headDimQK = 128, .headDimV = 128, .seqLenQ = "1", .headsQ = 32, .headsKV = 8});
  problem.op->setAttr(kPinsAttr,
                      Builder(&context).getDictionaryAttr(NamedAttribute(
                          StringAttr::get(&context, "pack_gqa"), BoolAttr::get(&context, true))));
  Explanation explanation =
      explainForward(problem.op, *findTarget("sm_80"), ProblemShape{64, 1, 4096});
  ASSERT_TRUE(static_cast<bool>(explanation.selection)) << explanation.toText();
  // A tile is the four query heads of a key/value head.
  EXPECT_EQ(explanation.work->tiles, 64 * 8 * explanation.selection.schedule.getSplitKv());
}

TEST(Explanation, ExplainsAProblemThatNothingTakes) {
  MLIRContext context;
  TestProblem problem(context, {});
  Builder b(&context);
  problem.op->setAttr(kPinsAttr,
                      b.getDictionaryAttr(b.getNamedAttr("q_tile", b.getI64IntegerAttr(24))));
  Explanation explanation =
      explainForward(problem.op, *findTarget("sm_80"), ProblemShape{.seqLenQ = 8, .seqLenKV = 8});
  EXPECT_FALSE(static_cast<bool>(explanation.selection));
  EXPECT_FALSE(explanation.resources.has_value());
  EXPECT_TRUE(contains(explanation.toText(), "error         no row")) << explanation.toText();
  EXPECT_TRUE(explanation.toJson().getAsObject()->getString("error").has_value());
}

TEST(Explanation, Cpu) {
  MLIRContext context;
  TestProblem problem(context, {.element = "f32"});
  ProblemShape shape{.batch = 1, .seqLenQ = 2048, .seqLenKV = 2048};
  Explanation explanation = explainForward(problem.op, *findTarget("cpu"), shape);
  EXPECT_EQ(explanation.selection.row, "cpu_d128");
  EXPECT_FALSE(explanation.resources.has_value());
  EXPECT_EQ(explanation.work->ctas, 8 * 2048 / 128);
  EXPECT_TRUE(contains(explanation.toText(), "grid          128 tasks"));
  EXPECT_TRUE(contains(explanation.toText(), "nominal rates")) << explanation.toText();
}
