//===- PrewarmManifestTest.cpp - Which kernels to have ready --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/PrewarmManifest.h"
#include "attn/Compiler/Attention.h"

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
std::string asked(const Attention &attention, int64_t seqQ, int64_t offset, bool lse) {
  constexpr int64_t kKeys = 9;
  auto memory = [&](uintptr_t base) { return reinterpret_cast<void *>(base + offset); };
  AttentionTensors tensors;
  tensors.q = rt::TensorArg::dense(memory(0x10000), rt::ElementType::BF16, {2, seqQ, 32, 128});
  tensors.k = rt::TensorArg::dense(memory(0x20000), rt::ElementType::BF16, {2, kKeys, 8, 128});
  tensors.v = rt::TensorArg::dense(memory(0x30000), rt::ElementType::BF16, {2, kKeys, 8, 128});
  tensors.o = rt::TensorArg::dense(memory(0x40000), rt::ElementType::BF16, {2, seqQ, 32, 128});
  if (lse)
    tensors.lse = rt::TensorArg::dense(memory(0x50000), rt::ElementType::F32, {2, 32, seqQ});
  auto spec = attention.specOf(tensors);
  EXPECT_TRUE(spec) << spec.error().message;
  return toText(*canonicalize(*spec));
}

TEST(PrewarmManifest, AModelIsExactlyWhatDispatchAsksFor) {
  auto kernels = expandManifest(R"({"models": ["llama-3-8b"]})", "m", {{"cpu"}, {}});
  ASSERT_TRUE(kernels) << kernels.error().message;
  Jit jit;
  KernelSpec base;
  base.mask = MaskKind::Causal;
  Attention attention(jit, base);
  std::set<std::string> all;
  for (int64_t seqQ : {1, 2, 500})
    for (int64_t offset : {0, 2, 4, 8, 16, 24})
      for (bool lse : {false, true})
        all.insert(asked(attention, seqQ, offset, lse));
  EXPECT_EQ(specsOf(*kernels), all);
}

TEST(PrewarmManifest, EveryModelExpandsToWhatTargetsTake) {
  std::set<std::string> seen;
  for (const std::string &name : modelNames()) {
    auto kernels =
        expandManifest("{\"models\": [\"" + name + "\"]}", name, {{"cpu", "sm_80", "sm_90a"}, {}});
    ASSERT_TRUE(kernels) << kernels.error().message;
    EXPECT_EQ(kernels->size() % 3, 0u) << name;
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
