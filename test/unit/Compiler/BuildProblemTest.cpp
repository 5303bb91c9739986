//===- BuildProblemTest.cpp - Specs as L0 ---------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/BuildProblem.h"

#include <gmock/gmock.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/Verifier.h>

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

TEST(BuildProblem, DecodeHasOneQuery) {
  EXPECT_THAT(problem({"phase=decode", "head_dim=64", "heads_q=8"}),
              HasSubstr("memref<?x1x8x64xbf16"));
}

} // namespace
