//===- KernelSpecTest.cpp - Words, JSON, canonical form -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/KernelSpec.h"

#include <gmock/gmock.h>

using namespace attn;
using testing::HasSubstr;

namespace {

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> words;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    words.push_back(part.str());
  return words;
}

rt::Expected<ParsedSpec> parse(const std::string &text, ShapeWords shape = ShapeWords::Allowed) {
  return parseSpec(split(text), shape);
}

std::string canonicalText(const std::string &text) {
  auto parsed = parse(text);
  return parsed ? toText(parsed->spec) : "error: " + parsed.error().message;
}

std::string errorOf(const std::string &text, ShapeWords shape = ShapeWords::Allowed) {
  auto parsed = parse(text, shape);
  if (parsed)
    return "no error";
  EXPECT_EQ(parsed.error().code, rt::ErrorCode::BadInput);
  return parsed.error().message;
}

TEST(KernelSpec, DefaultsAreFilledIn) {
  EXPECT_EQ(canonicalText("head_dim=64 heads_q=8"),
            "phase=prefill dtype=bf16 out=bf16 head_dim=64 head_dim_v=64 heads_q=8 heads_kv=8 "
            "mask=none alibi=false lse=true kv=dense alignment=16");
}

TEST(KernelSpec, CanonicalTextReadsBackAsItself) {
  std::string text = canonicalText(
      "phase=decode dtype=fp16 out=f32 head_dim=192 head_dim_v=128 heads_q=28 heads_kv=4 "
      "mask=causal window=4096 softcap=30.5 alibi=true lse=true alignment=4 algorithm=two_pass "
      "q_tile=32 kv_tile=48 stages=2 warps=2 warp_split=keys split_kv=3 instruction=fma "
      "q_in_registers=true order=longest_first");
  EXPECT_THAT(text, HasSubstr("dtype=f16"));
  EXPECT_EQ(canonicalText(text), text);
}

TEST(KernelSpec, MasksFoldToTheSimplestForm) {
  auto mask = [](const std::string &words) {
    std::string text = canonicalText("head_dim=64 heads_q=8 " + words);
    size_t begin = text.find("mask=");
    return text.substr(begin, text.find(" alibi=") - begin);
  };
  EXPECT_EQ(mask("mask=causal window=1024"), "mask=window window_left=1023 window_right=0");
  EXPECT_EQ(mask("mask=window window=1024"), "mask=window window_left=1023 window_right=0");
  EXPECT_EQ(mask("mask=causal window=128,128"), "mask=window window_left=128 window_right=0");
  EXPECT_EQ(mask("mask=window window=-1,0"), "mask=causal");
  EXPECT_EQ(mask("window=1024"), mask("mask=window window=1024"));
  EXPECT_EQ(mask("window_left=7"), mask("mask=window window_left=7"));
  EXPECT_EQ(mask("window_left=-1 window_right=-1"), "mask=none");
  EXPECT_EQ(mask("mask=window_top_left window_right=0"), "mask=causal_top_left");
  EXPECT_EQ(mask("mask=window window=-1,-1"), "mask=none");
  EXPECT_EQ(mask("mask=window window_left=9223372036854775807"), "mask=none");
  EXPECT_EQ(mask("mask=causal_top_left window_left=5"),
            "mask=window_top_left window_left=5 window_right=0");
}

TEST(KernelSpec, JsonSaysTheSameAsWords) {
  auto parsed = parseSpecJson(R"({"head_dim": 128, "heads_q": 32, "heads_kv": 8,
      "mask": "window", "window": [16, 0], "softcap": 50, "alibi": true, "seq_q": 7})",
                              "spec.json", ShapeWords::Allowed);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(toText(parsed->spec), canonicalText("head_dim=128 heads_q=32 heads_kv=8 mask=window "
                                                "window=16,0 softcap=50 alibi=true"));
  EXPECT_EQ(parsed->shape.seqQ, 7);
}

TEST(KernelSpec, BadJson) {
  auto error = [](llvm::StringRef text) {
    auto parsed = parseSpecJson(text, "s.json", ShapeWords::Refused);
    return parsed ? std::string("no error") : parsed.error().message;
  };
  EXPECT_THAT(error("{"), HasSubstr("s.json: not JSON"));
  EXPECT_THAT(error(std::string(100000, '[')),
              HasSubstr("s.json: not JSON: byte 64 nests deeper than 64 levels"));
  EXPECT_THAT(error("[1]"), HasSubstr("expected one JSON object"));
  EXPECT_THAT(error(R"({"head_dim": 64, "head_dim": 32})"), HasSubstr("'head_dim' is given twice"));
  EXPECT_THAT(error(R"({"head_dim": {"a": 1}})"), HasSubstr("expected a number"));
  EXPECT_THAT(error(R"({"head_dim": null})"), HasSubstr("expected a number"));
  EXPECT_THAT(error(R"({"head_dim": 64.5, "heads_q": 1})"), HasSubstr("head_dim=64.5"));
}

struct BadCase {
  const char *words;
  const char *message;
};

class BadSpec : public testing::TestWithParam<BadCase> {};

TEST_P(BadSpec, SaysWhatIsWrong) {
  EXPECT_THAT(errorOf(GetParam().words), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSpec,
    testing::Values(
        BadCase{"heads_q=8", "missing head_dim"}, BadCase{"head_dim=64", "missing heads_q"},
        BadCase{"head_dim=100 heads_q=8", "head_dim=100: expected a multiple of 8 in [8, 256]; "
                                          "pad the tensors to 104 columns"},
        BadCase{"head_dim=264 heads_q=8", "head_dim=264: expected a multiple of 8 in [8, 256]"},
        BadCase{"head_dim=0 heads_q=8", "head_dim=0"},
        BadCase{"head_dim=64 head_dim_v=520 heads_q=8", "[8, 512]"},
        BadCase{"head_dim=64 heads_q=8 heads_kv=3", "heads_q=8 heads_kv=3: expected heads_q"},
        BadCase{"head_dim=64 heads_q=0", "heads_q=0: expected an integer in [1, 65536]"},
        BadCase{"head_dim=64 heads_q=8 headdim=3", "did you mean 'head_dim'?"},
        BadCase{"head_dim=64 heads_q=8 colour=red", "known keys are window, phase"},
        BadCase{"head_dim=64 head_dim=64 heads_q=8", "given twice"},
        BadCase{"head_dim=64 heads_q=8 mask=causl", "did you mean 'causal'?"},
        BadCase{"head_dim=64 heads_q=8 mask=none window=5",
                "mask=none: contradicts the window bounds"},
        BadCase{"head_dim=64 heads_q=8 mask=window", "mask=window: expected a bound as well"},
        BadCase{"head_dim=64 heads_q=8 mask=window window=0",
                "window=0: expected a number of keys"},
        BadCase{"head_dim=64 heads_q=8 mask=window window=1,x", "window=1,x: expected LEFT,RIGHT"},
        BadCase{"head_dim=64 heads_q=8 mask=window window=4 window_left=3", "keep one"},
        BadCase{"head_dim=64 heads_q=8 softcap=-1", "softcap=-1"},
        BadCase{"head_dim=64 heads_q=8 softcap=nan", "softcap=nan: expected a finite number"},
        BadCase{"head_dim=64 heads_q=8 dtype=f32 out=f16", "out=f16: expected f32"},
        BadCase{"head_dim=64 heads_q=8 dtype=f64", "expected one of f32, bf16, f16"},
        BadCase{"head_dim=64 heads_q=8 alignment=24", "a power of two"},
        BadCase{"head_dim=64 heads_q=8 dtype=f32 alignment=2", "at least the 4 bytes"},
        BadCase{"head_dim=64 heads_q=8 algorithm=fa1", "algorithm=fa1: keeps its running result"},
        BadCase{"head_dim=64 heads_q=8 algorithm=fa1 out=f32 split_kv=2", "split_kv=2"},
        BadCase{"head_dim=64 heads_q=8 stages=99", "stages=99: expected an integer in [1, 8]"},
        BadCase{"head_dim=64 heads_q=8 lse=yes", "lse=yes: expected true or false"},
        BadCase{"head_dim=64 heads_q=8 kv=paged", "expected one of dense"},
        BadCase{"head_dim= heads_q=8", "expected a value after '='"},
        BadCase{"head_dim", "expected key=value"}, BadCase{"", "no problem given"},
        BadCase{"nothing.json", "nothing.json: cannot read"}));

TEST(RunShape, Defaults) {
  KernelSpec spec = parse("head_dim=64 heads_q=8")->spec;
  RunShape shape;
  shape.seqQ = 5;
  auto full = canonicalize(shape, spec);
  ASSERT_TRUE(full);
  EXPECT_EQ(toText(*full), "batch=1 seq_q=5 seq_kv=5 scale=0.125");
}

TEST(RunShape, Bad) {
  auto error = [](const std::string &words) {
    auto parsed = parse("head_dim=64 heads_q=8 " + words);
    if (!parsed)
      return parsed.error().message;
    auto shape = canonicalize(parsed->shape, parsed->spec);
    return shape ? "no error" : shape.error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("missing seq_q"));
  EXPECT_THAT(error("phase=decode"), HasSubstr("missing seq_kv"));
  EXPECT_THAT(error("phase=decode seq_q=2 seq_kv=9"), HasSubstr("seq_q=2: expected 1"));
  EXPECT_THAT(error("seq_q=-1"), HasSubstr("seq_q=-1"));
  EXPECT_THAT(error("seq_q=1 scale=-2"), HasSubstr("scale=-2"));
  EXPECT_THAT(errorOf("head_dim=64 heads_q=8 seq_q=5", ShapeWords::Refused),
              HasSubstr("'seq_q' is an argument of the kernel"));
}

} // namespace
