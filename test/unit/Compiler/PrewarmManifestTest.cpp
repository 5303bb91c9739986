//===- PrewarmManifestTest.cpp - Which kernels to have ready --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/PrewarmManifest.h"
#include "attn/Compiler/Attention.h"
#include "attn/Compiler/LengthClass.h"

#include <gmock/gmock.h>
#include <set>

using namespace attn;
using testing::HasSubstr;

namespace {

std::set<std::string> specsOf(const std::vector<PrewarmKernel> &kernels) {
  std::set<std::string> specs;
  for (const PrewarmKernel &kernel : kernels)
    specs.insert(toText(kernel.spec));
  return specs;
}

/// The question that Attention asks for tensors of these shapes, at this offset from an aligned
/// address.
std::string asked(const Attention &attention, int64_t seqQ, int64_t offset, bool lse,
                  const char *target, int64_t headDim) {
  constexpr int64_t kKeys = 9;
  auto memory = [&](uintptr_t base) { return reinterpret_cast<void *>(base + offset); };
  AttentionTensors tensors;
  tensors.q = rt::TensorArg::dense(memory(0x10000), rt::ElementType::BF16, {2, seqQ, 32, headDim});
  tensors.k = rt::TensorArg::dense(memory(0x20000), rt::ElementType::BF16, {2, kKeys, 8, headDim});
  tensors.v = rt::TensorArg::dense(memory(0x30000), rt::ElementType::BF16, {2, kKeys, 8, headDim});
  tensors.o = rt::TensorArg::dense(memory(0x40000), rt::ElementType::BF16, {2, seqQ, 32, headDim});
  if (lse)
    tensors.lse = rt::TensorArg::dense(memory(0x50000), rt::ElementType::F32, {2, 32, seqQ});
  auto spec = attention.specOf(tensors);
  EXPECT_TRUE(spec) << spec.error().message;
  return toText(withLengthClass(*canonicalize(*spec), *findTarget(target)));
}

/// All questions for a model of 32 and 8 heads under a causal mask.
std::set<std::string> allAsked(const char *target, int64_t headDim) {
  Jit jit;
  KernelSpec base;
  base.mask = MaskKind::Causal;
  Attention attention(jit, base);
  std::set<std::string> all;
  for (int64_t seqQ : {1, 2, 500, 1024, 1025, 3000, 100000})
    for (int64_t offset : {0, 2, 4, 8, 16, 24})
      for (bool lse : {false, true})
        all.insert(asked(attention, seqQ, offset, lse, target, headDim));
  return all;
}

TEST(PrewarmManifest, AModelIsExactlyWhatDispatchAsksFor) {
  auto kernels = expandManifest(R"({"models": ["llama-3-8b"]})", "m", {{"cpu"}, {}});
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_EQ(specsOf(*kernels), allAsked("cpu", 128));
}

TEST(PrewarmManifest, ShortSequencesHaveKernelsWhereTheTargetTellsThemApart) {
  auto expand = [](const std::string &words) {
    auto kernels =
        expandManifest("{\"specs\": [{\"head_dim\": 64, \"heads_q\": 32, \"heads_kv\": 8, "
                       "\"mask\": \"causal\"" +
                           words + "}]}",
                       "m", {{"sm_90a"}, {}});
    EXPECT_TRUE(kernels) << kernels.error().message;
    return specsOf(*kernels);
  };
  std::set<std::string> all = expand("");
  EXPECT_EQ(all, allAsked("sm_90a", 64));
  EXPECT_EQ(llvm::count_if(all,
                           [](const std::string &spec) {
                             return llvm::StringRef(spec).contains("max_seq_len=1024");
                           }),
            2);
  EXPECT_EQ(
      expand(", \"max_seq_len\": 700, \"phase\": \"prefill\", \"lse\": true, \"alignment\": 16"),
      std::set<std::string>{"phase=prefill dtype=bf16 out=bf16 head_dim=64 head_dim_v=64 "
                            "heads_q=32 heads_kv=8 mask=causal alibi=false lse=true kv=dense "
                            "alignment=16 max_seq_len=1024"});
}

TEST(PrewarmManifest, EveryModelExpandsToWhatTargetsTake) {
  std::set<std::string> seen;
  for (const std::string &name : modelNames()) {
    auto kernels =
        expandManifest("{\"models\": [\"" + name + "\"]}", name, {{"cpu", "sm_80", "sm_90a"}, {}});
    ASSERT_TRUE(kernels) << kernels.error().message;
    EXPECT_FALSE(kernels->empty()) << name;
    for (const PrewarmKernel &kernel : *kernels) {
      EXPECT_EQ(*canonicalize(kernel.spec), kernel.spec) << name;
      if (!seen.insert(kernel.target + toText(kernel.spec)).second)
        continue;
      auto compiler = Compiler::create({.target = kernel.target});
      auto explanation = compiler->explain(kernel.spec, std::nullopt);
      ASSERT_TRUE(explanation) << explanation.error().message;
      EXPECT_EQ(explanation->error, "") << name << " " << kernel.target;
    }
  }
}

TEST(PrewarmManifest, EachKernelOnce) {
  auto kernels = expandManifest(
      R"({"specs": ["head_dim=8 heads_q=1 mask=causal", "heads_q=1 head_dim=8 mask=window window=-1,0",
                    {"head_dim": 8, "heads_q": 1, "mask": "causal", "phase": "prefill",
                     "lse": true, "alignment": 16}]})",
      "m", {{"cpu", "cpu"}, {}});
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_EQ(kernels->size(), 1u);
}

TEST(PrewarmManifest, MistakesThatMultiplyAreRefused) {
  std::string list;
  for (int i = 1; i <= 400; ++i)
    list += (i > 1 ? "," : "") + std::to_string(i);
  auto kernels = expandManifest("{\"specs\": [{\"head_dim\": 8, \"heads_q\": 1, \"mask\": "
                                "\"window\", \"window_left\": [" +
                                    list + "], \"window_right\": [" + list + "]}]}",
                                "m", {{"cpu"}, {}});
  ASSERT_FALSE(kernels);
  EXPECT_THAT(kernels.error().message, HasSubstr("more than 100000 kernels"));
}

TEST(PrewarmManifest, RecordingsSkipWhatWasNotFinished) {
  std::vector<std::string> warnings;
  auto kernels =
      expandRecording("{\"spec\":\"head_dim=8 heads_q=1\",\"target\":\"sm_80\"}\n\n"
                      "{\"spec\":\"head_di\n",
                      "r.jsonl", {}, [&](const std::string &text) { warnings.push_back(text); });
  ASSERT_TRUE(kernels) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ(kernels->front().target, "sm_80");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("r.jsonl:3: skipping"));
  EXPECT_THAT(expandRecording("{}", "r.jsonl", {}, {}).error().message, HasSubstr("r.jsonl:1"));
}

} // namespace
