//===- BuildProblemTest.cpp - Specs as L0 ---------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/BuildProblem.h"

#include "attn/Compiler/LengthClass.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <gmock/gmock.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/Verifier.h>
#include <mlir/Pass/PassManager.h>
#include <sstream>

using namespace attn;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string problem(std::vector<std::string> words) {
  auto parsed = parseSpec(words, ShapeWords::Refused);
  if (!parsed)
    return parsed.error().message;
  mlir::MLIRContext context;
  loadProblemDialects(context);
  auto module = buildProblem(parsed->spec, context);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

TEST(BuildProblem, EveryPartOfASpecIsInTheOp) {
  std::string text = problem({"dtype=f16", "head_dim=64", "head_dim_v=32", "heads_q=8",
                              "heads_kv=2", "out=f32", "mask=causal", "window=16", "softcap=5",
                              "alibi=true", "alignment=8", "q_tile=32", "order=longest_first"});
  for (const char *part :
       {"memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>",
        "memref<?x?x2x32xf16, strided<[?, ?, ?, 1]>>",
        "memref<?x?x8x32xf32, strided<[?, ?, ?, 1]>>", "memref<?x8x?xf32, strided<[?, ?, 1]>>",
        "memref<8xf32>", "#attn.window<15, 0>", "alignment(8)", "attn.softcap", "attn.alibi",
        "q_tile = 32", "order = \"longest_first\""})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(BuildProblem, PlainProblemHasNoRegionAndNoPins) {
  std::string text = problem({"head_dim=64", "heads_q=8", "lse=false"});
  for (const char *part : {"score", "pins", "memref<?x8x?xf32"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
}

TEST(BuildProblem, OpHasTheFactsOfItsSpec) {
  mlir::MLIRContext context;
  loadProblemDialects(context);
  std::vector<std::vector<std::string>> choices = {
      {"dtype=f32", "dtype=f16", "dtype=bf16"},
      {"phase=prefill", "phase=decode"},
      {"mask=none", "mask=causal", "mask=causal_top_left", "mask=causal window=64",
       "mask=causal_top_left window=64", "mask=window window_left=64 window_right=8",
       "mask=window window_left=64"},
      {"", "alignment=16", "max_seq_len=512", "head_dim_v=128", "heads_kv=2"}};
  std::vector<std::string> lines = {"head_dim=64 heads_q=8"};
  for (const std::vector<std::string> &words : choices) {
    std::vector<std::string> longer;
    for (const std::string &line : lines)
      for (const std::string &word : words)
        longer.push_back(line + " " + word);
    lines = std::move(longer);
  }
  for (const std::string &line : lines) {
    std::istringstream stream(line);
    std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    auto parsed = parseSpec(words, ShapeWords::Refused);
    ASSERT_TRUE(parsed) << parsed.error().message;
    auto module = buildProblem(parsed->spec, context);
    mlir::PassManager pm(&context);
    pm.addNestedPass<mlir::func::FuncOp>(createAttnNormalizeProblem());
    ASSERT_TRUE(succeeded(pm.run(*module))) << line;
    module->walk([&](ForwardOp op) {
      EXPECT_EQ(static_cast<RowFacts>(describeProblem(op)), rowFacts(parsed->spec)) << line;
    });
  }
}

TEST(BuildProblem, DecodeHasOneQuery) {
  EXPECT_THAT(problem({"phase=decode", "head_dim=64", "heads_q=8"}),
              HasSubstr("memref<?x1x8x64xbf16"));
}

} // namespace
