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

rt::Expected<std::vector<PrewarmKernel>> expandManifest(const std::string &text,
                                                        const std::string &name,
                                                        const PrewarmOverrides &overrides) {
  PrewarmList list;
  if (rt::Status status = addManifest(text, name, overrides, list); !status)
    return rt::fail(status.error());
  return list.kernels();
}

/// The message of a manifest that is refused.
std::string refusal(const std::string &text, const std::string &name) {
  auto kernels = expandManifest(text, name, {{"cpu"}, {}});
  EXPECT_FALSE(kernels) << text;
  return kernels ? "" : kernels.error().message;
}

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
    auto count = [&](llvm::StringRef target) {
      return llvm::count_if(*kernels, [&](const auto &kernel) { return kernel.target == target; });
    };
    // Schedules for short sequences are of sm_90a alone.
    EXPECT_GT(count("cpu"), 0) << name;
    EXPECT_EQ(count("cpu"), count("sm_80")) << name;
    EXPECT_GE(count("sm_90a"), count("sm_80")) << name;
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

std::string numbersUpTo(int last) {
  std::string list;
  for (int i = 1; i <= last; ++i)
    list += (i > 1 ? "," : "") + std::to_string(i);
  return list;
}

TEST(PrewarmManifest, MistakesThatMultiplyAreRefused) {
  std::string message = "more than 100000 kernels";
  std::string list = numbersUpTo(400);
  EXPECT_THAT(refusal("{\"specs\": [{\"head_dim\": 8, \"heads_q\": 1, \"mask\": \"window\", "
                      "\"window_left\": [" +
                          list + "], \"window_right\": [" + list + "]}]}",
                      "m"),
              HasSubstr(message));
  // Words, of which each is another kernel, and of which all are one.
  for (bool differ : {true, false}) {
    std::string words;
    for (int i = 1; i <= 100001; ++i)
      words += (i > 1 ? ",\"head_dim=8 heads_q=1 mask=window window="
                      : "\"head_dim=8 heads_q=1 "
                        "mask=window window=") +
               std::to_string(differ ? i : 7) + "\"";
    EXPECT_THAT(refusal("{\"specs\": [" + words + "]}", "m"), HasSubstr(message));
  }
}

TEST(PrewarmManifest, TheBoundHoldsOverAllThatIsAdded) {
  std::string layer = "{\"specs\": [{\"head_dim\": 8, \"heads_q\": 1, \"phase\": \"prefill\", "
                      "\"lse\": true, \"mask\": \"window\", \"window_right\": 0, "
                      "\"window_left\": [" +
                      numbersUpTo(12501) + "]";
  // Four alignments for each target.
  auto both = expandManifest(layer + "}]}", "m", {{"cpu", "sm_80"}, {}});
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("more than 100000 kernels"));
  PrewarmList list;
  ASSERT_TRUE(addManifest(layer + "}]}", "m", {{"cpu"}, {}}, list));
  EXPECT_TRUE(addManifest(layer + "}]}", "m", {{"cpu"}, {}}, list)) << "all are there already";
  EXPECT_EQ(list.kernels().size(), 4u * 12501);
  rt::Status more = addManifest(layer + ", \"dtype\": \"f16\"}]}", "m", {{"cpu"}, {}}, list);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("more than 100000 kernels"));
}

TEST(PrewarmManifest, RecordingsAreBounded) {
  std::string text;
  for (int i = 1; i <= 100001; ++i)
    text += "{\"spec\":\"head_dim=8 heads_q=1 mask=window window=" + std::to_string(i) +
            "\",\"target\":\"cpu\"}\n";
  PrewarmList list;
  rt::Status status = addRecording(text, "r.jsonl", {}, {}, list);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("r.jsonl:100001: more than 100000 kernels"));
}

TEST(PrewarmManifest, RecordingsSkipWhatWasNotFinished) {
  std::vector<std::string> warnings;
  auto warn = [&](const std::string &text) { warnings.push_back(text); };
  PrewarmList list;
  rt::Status status = addRecording("{\"spec\":\"head_dim=8 heads_q=1\",\"target\":\"sm_80\"}\n\n"
                                   "{\"spec\":\"head_di\n",
                                   "r.jsonl", {}, warn, list);
  ASSERT_TRUE(status) << status.error().message;
  ASSERT_EQ(list.kernels().size(), 1u);
  EXPECT_EQ(list.kernels().front().target, "sm_80");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("r.jsonl:3: skipping"));
  EXPECT_THAT(addRecording("{}", "r.jsonl", {}, {}, list).error().message, HasSubstr("r.jsonl:1"));
  EXPECT_THAT(addRecording("\n", "r.jsonl", {}, {}, list).error().message,
              HasSubstr("names no kernel"));
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

TEST(PrewarmManifest, RepeatedKeysAreRefused) {
  for (std::string text : {R"({"specs": [], "specs": ["head_dim=8 heads_q=1"]})",
                           R"({"specs": [{"head_dim": 8, "heads_q": 1, "specs": 1, "specs": 2}]})"})
    EXPECT_EQ(refusal(text, "m.json"), "m.json: 'specs' is given twice in one object; keep one");
  EXPECT_EQ(refusal("specs:\n  - head_dim: 8\n    heads_q: 1\n    head_dim: 16\n", "m.yaml"),
            "m.yaml:4:5: not YAML: 'head_dim' is given twice in one object; keep one");
}

TEST(PrewarmManifest, YamlSaysTheSameAsJson) {
  PrewarmOverrides none;
  auto json = expandManifest(R"({
    "description": "two ways: to say it", "targets": ["cpu", "sm_80"],
    "features": {"dtype": "f16", "lse": true, "alignment": 16},
    "models": ["gpt2", {"model": "gemma-2-2b", "phase": "prefill"}],
    "specs": [{"head_dim": [32, 64], "heads_q": 4, "mask": ["none", "causal"], "softcap": 12.5},
              "dtype=f32 head_dim=8 heads_q=1 alignment=4"]})",
                             "m.json", none);
  ASSERT_TRUE(json) << json.error().message;
  std::string yaml = R"(# A comment.
description: >
  two ways: to say it
targets: [cpu, "sm_80"]
features:
  dtype: f16
  lse: true     # On the same line.
  alignment: 16
models:
  - gpt2
  - model: gemma-2-2b
    phase: 'prefill'
specs:
- head_dim: [32, 64]
  heads_q: 4
  mask:
    - none
    - causal
  softcap: 12.5
- dtype=f32 head_dim=8 heads_q=1 alignment=4
)";
  for (std::string name : {"m.yaml", "m.yml"}) {
    auto same = expandManifest(yaml, name, none);
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(*same, *json);
  }
  // Which JSON is as well.
  auto flow =
      expandManifest(R"({"specs": ["head_dim=8 heads_q=1"], "targets": ["cpu"]})", "m.yaml", none);
  ASSERT_TRUE(flow) << flow.error().message;
  EXPECT_EQ(flow->size(), 1u);
}

TEST(PrewarmManifest, FaultsOfYamlHaveAPlace) {
  for (auto [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "m.yaml: expected one object with description, targets"},
           {"# nothing\n", "m.yaml: expected one object with description, targets"},
           {"- a\n- b\n", "m.yaml: expected one object with description, targets"},
           {"specs:\n  - [\n", "m.yaml:"},
           {"specs: 'open\n", "m.yaml:1:13: not YAML: Expected quote"},
           {"specs: []\n  targets: []\n", "m.yaml:2:"},
           {"specs: &a []\nmodels: *a\n", "m.yaml:2:9: not YAML: aliases are not taken"},
           {"specs: !!seq []\n", "not YAML: tags such as !!seq are not taken"},
           {"? [a]\n: b\n", "expected a key that is a word"},
           {"specs: []\n---\nspecs: []\n", "m.yaml:3:1: not YAML: expected one document"},
           {"specs: \"\xff\"\n", "m.yaml: not YAML: byte 8 is no UTF-8"},
           {"\tspecs: []\n", "m.yaml:1:1: not YAML: Found invalid tab character in indentation"},
           {"# all\n \tspecs: []\n", "m.yaml:2:2: not YAML: Found invalid tab character"},
           {"specs:\n\t- a\n", "m.yaml:2:1: not YAML: Found invalid tab character in indentation"},
           {"specs:\n  - dtype: f16\n\t  lse: true\n", "not YAML: Found invalid tab character"},
           {"description:\n \tx\n", "m.yaml:2:2: not YAML: Found invalid tab character"},
           {"specs: " + std::string(70, '[') + std::string(70, ']') + "\n",
            "nests deeper than 64 levels"},
           {"specs: " + std::string(100000, '['), "nests deeper than 64 levels"},
           {"spec: []\n", "m.yaml: unknown key 'spec'"},
           {"specs:\n  - head_dim: 63\n    heads_q: 1\n", "m.yaml: specs[0]: head_dim=63"},
           {"specs:\n  - head_dim:\n    heads_q: 1\n",
            "m.yaml: specs[0]: 'head_dim': expected a number"}})
    EXPECT_THAT(refusal(text, "m.yaml"), HasSubstr(message)) << text.substr(0, 60);
}

TEST(PrewarmManifest, TabsInYamlBracesAreSpace) {
  for (std::string text : {"{\n\t\"specs\": [\"head_dim=64 heads_q=1\"]}\n",
                           "specs:\n  - {head_dim: 64,\n\theads_q: 1}\n",
                           "specs: [\"head_dim=64 heads_q=1\",\n\t\"head_dim=128 heads_q=1\"]\n"}) {
    auto kernels = expandManifest(text, "m.yaml", {{"cpu"}, {}});
    EXPECT_TRUE(kernels) << text << kernels.error().message;
  }
}

TEST(PrewarmManifest, TornYamlIsNeverACrash) {
  std::string text = "a: {b: [1, 'x', \"y\\n\"], c: |\n  d\n}\n? e\n: - f\n  - *g\n--- %Z\n...\n";
  for (size_t begin = 0; begin < text.size(); ++begin)
    for (size_t size = 0; begin + size <= text.size(); ++size)
      refusal(text.substr(begin, size), "m.yaml");
}

} // namespace
