//===- CompilerTest.cpp - Keys, manifests, caching ------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompilerTestUtils.h"
#include "attn/Compiler/LengthClass.h"
#include "attn/Target/ScheduleTable.h"

#include <gmock/gmock.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <thread>

using namespace attn;
using attn::test::compilerFor;
using attn::test::spec;
using llvm::StringRef;
using testing::HasSubstr;

namespace {

KernelSpec plain() { return spec({"dtype=bf16", "head_dim=64", "heads_q=4", "mask=causal"}); }

std::string keyOf(const Problem &problem, const std::string &target = "sm_80") {
  auto key = compilerFor(target).key(problem);
  EXPECT_TRUE(key) << key.error().message;
  return *key;
}

TEST(Compiler, EqualProblemsHaveEqualKeys) {
  std::string key = keyOf(plain());
  EXPECT_EQ(keyOf(plain()), key);
  EXPECT_EQ(keyOf(spec({"mask=window", "window=-1,0", "dtype=bfloat16", "heads_q=4", "heads_kv=4",
                        "head_dim=64"})),
            key);
  // The same problem as text, with other names, other strides and locations.
  std::string text =
      R"(func.func @attn_forward(%x: memref<?x?x4x64xbf16>, %y: memref<?x?x4x64xbf16>,
      %z: memref<?x?x4x64xbf16>, %o: memref<?x?x4x64xbf16>, %l: memref<?x4x?xf32>, %s: f32) {
    attn.forward ins(%x, %y, %z : memref<?x?x4x64xbf16>, memref<?x?x4x64xbf16>, memref<?x?x4x64xbf16>)
                 outs(%o, %l : memref<?x?x4x64xbf16>, memref<?x4x?xf32>) scale(%s)
                 mask(#attn.causal<bottom_right>) alignment(16)
    return
  })";
  EXPECT_EQ(keyOf(ProblemText{text, "a.mlir"}), key);
  EXPECT_EQ(keyOf(ProblemText{"\n\n" + text, "b.mlir"}), key);
}

TEST(Compiler, EveryFieldOfASpecChangesTheKey) {
  std::vector<KernelSpec> specs = {plain()};
  for (std::vector<std::string> words :
       std::vector<std::vector<std::string>>{{"phase=decode"},
                                             {"out=f32"},
                                             {"softcap=30"},
                                             {"alibi=true"},
                                             {"lse=false"},
                                             {"alignment=8"},
                                             {"heads_kv=2"},
                                             {"head_dim_v=32"},
                                             {"window_left=100"},
                                             {"q_tile=192"},
                                             {"kv_tile=16"},
                                             {"stages=3"},
                                             {"split_kv=2"},
                                             {"algorithm=naive"}}) {
    words.insert(words.end(), {"dtype=bf16", "head_dim=64", "heads_q=4", "mask=causal"});
    specs.push_back(spec(words));
  }
  for (const char *dtype : {"dtype=f16", "dtype=f32"})
    specs.push_back(spec({dtype, "head_dim=64", "heads_q=4", "mask=causal"}));
  std::set<std::string> keys;
  for (const KernelSpec &each : specs)
    keys.insert(keyOf(each));
  EXPECT_EQ(keys.size(), specs.size());
  EXPECT_NE(keyOf(plain(), "sm_86"), keyOf(plain()));
}

TEST(Compiler, ManifestDescribesTheCall) {
  auto artifact = compilerFor("sm_80").compile(
      spec({"dtype=f16", "head_dim=64", "heads_q=6", "heads_kv=2", "alibi=true", "alignment=8"}),
      rt::PayloadKind::Ptx);
  ASSERT_TRUE(artifact) << artifact.error().message;
  const rt::Manifest &manifest = artifact->manifest;
  std::vector<std::string> names;
  for (const rt::ArgumentSpec &argument : manifest.arguments)
    names.push_back(argument.name);
  EXPECT_THAT(names, testing::ElementsAre("q", "k", "v", "o", "lse", "slopes", "scale"));
  EXPECT_EQ(manifest.arguments[1].shape, (std::vector<int64_t>{-1, -1, 2, 64}));
  EXPECT_EQ(manifest.arguments[0].alignment, 8);
  EXPECT_EQ(manifest.arguments[4].alignment, 4);
  EXPECT_EQ(manifest.equalSizes.size(), 3u);
  EXPECT_EQ(manifest.chip, "sm_80");
  ASSERT_EQ(manifest.kernels.size(), 1u);
  EXPECT_THAT(manifest.kernels[0].grid.text(), HasSubstr("arg0.size(1)"));
  EXPECT_GT(manifest.kernels[0].dynamicSharedBytes, 0);
  EXPECT_TRUE(rt::validate(manifest));
  EXPECT_THAT(artifact->payload, HasSubstr(".target sm_80"));
}

TEST(Compiler, SplitKeysTakeWorkspaces) {
  auto artifact = compilerFor("sm_80").compile(
      spec({"dtype=f16", "head_dim=64", "heads_q=6", "split_kv=3"}), rt::PayloadKind::Ptx);
  ASSERT_TRUE(artifact) << artifact.error().message;
  const rt::Manifest &manifest = artifact->manifest;
  ASSERT_EQ(manifest.workspaces.size(), 3u); // O, LSE and its tail
  EXPECT_EQ(manifest.workspaces[0].shape.size(), 5u);
  ASSERT_EQ(manifest.kernels.size(), 2u);
  EXPECT_EQ(manifest.kernels[0].arguments.size(), manifest.arguments.size() + 3);
  EXPECT_TRUE(rt::validate(manifest));
}

TEST(Compiler, CacheSavesTheSecondCompile) {
  rt::Metrics metrics;
  rt::KernelCache cache(nullptr, metrics);
  Compiler compiler = compilerFor("sm_80");
  auto first = compiler.compile(plain(), rt::PayloadKind::Ptx, cache);
  auto second = compiler.compile(plain(), rt::PayloadKind::Ptx, cache);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->get(), second->get());
  EXPECT_EQ(metrics.counter(rt::metric::kCompiles).value(), 1u);
}

/// A compiler that counts, and a cache in a folder that goes away with it.
struct CachedCompiler {
  CachedCompiler() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("attn-test", directory));
    restart();
  }
  ~CachedCompiler() { llvm::sys::fs::remove_directories(directory); }

  /// Forgets what is in memory.
  void restart() {
    rt::DiskCacheOptions disk;
    disk.directory = directory.str().str();
    disk.warn = [this](const std::string &message) { warnings.push_back(message); };
    cache.emplace(std::make_unique<rt::DiskCache>(disk), metrics);
  }

  rt::LoadedArtifactPtr compile(const KernelSpec &spec, const std::string &target = "sm_80") {
    remarks.clear();
    auto compiler =
        Compiler::create({.target = target,
                          .remark = [this](const std::string &text) { remarks.push_back(text); },
                          .metrics = &metrics});
    auto artifact = compiler->compile(spec, rt::PayloadKind::Ptx, *cache);
    EXPECT_TRUE(artifact) << artifact.error().message;
    return *artifact;
  }

  uint64_t contexts() { return metrics.counter(kContextsMetric).value(); }

  /// Files of one kind in the cache.
  std::vector<std::string> files(StringRef suffix) {
    std::vector<std::string> paths;
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator it(directory, error), end; it != end && !error;
         it.increment(error))
      if (StringRef(it->path()).ends_with(suffix))
        paths.push_back(it->path());
    return paths;
  }

  llvm::SmallString<128> directory;
  rt::Metrics metrics;
  std::optional<rt::KernelCache> cache;
  std::vector<std::string> warnings, remarks;
};

TEST(Compiler, HitsMakeNoContext) {
  CachedCompiler cached;
  rt::LoadedArtifactPtr first = cached.compile(plain());
  EXPECT_EQ(cached.contexts(), 1u);
  EXPECT_EQ(cached.compile(plain()), first); // From memory.
  cached.restart();
  rt::LoadedArtifactPtr second = cached.compile(plain()); // From disk.
  EXPECT_EQ(second->origin(), rt::LoadedArtifact::Origin::Disk);
  EXPECT_EQ(second->artifact(), first->artifact());
  EXPECT_EQ(second->key(), keyOf(plain()));
  EXPECT_EQ(cached.contexts(), 1u);
  EXPECT_EQ(cached.files(".attn").size(), 1u);
  EXPECT_EQ(cached.files(".alias").size(), 1u);
  EXPECT_TRUE(cached.warnings.empty());
}

/// Another value of a field, whatever its type.
template <typename T> void change(T &field) {
  if constexpr (std::is_same_v<T, bool>)
    field = !field;
  else
    field = static_cast<T>(static_cast<int64_t>(field) + 1);
}
template <typename T> void change(std::optional<T> &field) {
  if (field)
    change(*field);
  else
    field.emplace();
}

TEST(Compiler, EveryFieldOfASpecChangesTheAlias) {
  Compiler compiler = compilerFor("sm_80");
  std::set<std::string> seen = {compiler.alias(plain()).text};
  EXPECT_EQ(compiler.alias(plain()).text, *seen.begin());
  // The fields are those that the visitor knows, so that a new one is tried too.
  size_t numFields = 0;
  KernelSpec walked = plain();
  visitSpec(walked, [&](const SpecKey &, auto &) { ++numFields; });
  for (size_t wanted = 0; wanted < numFields; ++wanted) {
    KernelSpec changed = plain();
    size_t index = 0;
    StringRef name;
    visitSpec(changed, [&](const SpecKey &key, auto &field) {
      if (index++ != wanted)
        return;
      name = key.name;
      change(field);
    });
    ASSERT_FALSE(changed == plain()) << name.str();
    // Only where dispatch tells lengths apart: see below.
    if (name == "max_seq_len")
      continue;
    EXPECT_TRUE(seen.insert(compiler.alias(changed).text).second) << name.str();
    // Given or not is another question than which value.
    visitSpec(changed, [&, at = size_t(0)](const SpecKey &, auto &field) mutable {
      if (at++ == wanted)
        change(field);
    });
    EXPECT_TRUE(seen.insert(compiler.alias(changed).text).second || changed == plain())
        << name.str();
  }
  KernelSpec softer = plain(), harder = plain();
  softer.softcap = 30;
  harder.softcap = 30.5;
  EXPECT_NE(compiler.alias(softer).text, compiler.alias(harder).text);
  EXPECT_TRUE(seen.insert(compilerFor("sm_86").alias(plain()).text).second);
}

TEST(Compiler, BoundsOfLengthsAreWhatCallsAskWith) {
  for (const TargetInfo &target : allTargets())
    for (const ScheduleRow &row : scheduleTable(target).forward)
      if (int64_t bound = row.takes.maxSeqLen) {
        EXPECT_EQ(lengthBound(bound), bound) << row.name.str();
        EXPECT_EQ(lengthBound(bound / 2 + 1), bound) << row.name.str();
      }
}

TEST(Compiler, LengthsTellKernelsApartWhereScheduleTablesDo) {
  auto wide = [](std::optional<int64_t> maxSeqLen) {
    KernelSpec wide = spec({"dtype=bf16", "head_dim=192", "heads_q=4", "mask=causal"});
    wide.maxSeqLen = maxSeqLen;
    return wide;
  };
  auto alias = [&](const char *target, std::optional<int64_t> maxSeqLen) {
    return compilerFor(target).alias(wide(maxSeqLen)).text;
  };
  for (const char *target : {"cpu", "sm_80", "sm_90a"})
    EXPECT_EQ(alias(target, 2049), alias(target, std::nullopt)) << target;
  EXPECT_EQ(alias("sm_80", 100), alias("sm_80", std::nullopt));
  EXPECT_EQ(alias("sm_90a", 100), alias("sm_90a", 2048));
  EXPECT_NE(alias("sm_90a", 2048), alias("sm_90a", std::nullopt));
  // The content key is that of the schedule: what comes to one is one kernel.
  Compiler hopper = compilerFor("sm_90a"), ampere = compilerFor("sm_80");
  EXPECT_NE(*hopper.key(wide(2048)), *hopper.key(wide(std::nullopt)));
  EXPECT_EQ(*hopper.key(wide(100)), *hopper.key(wide(2048)));
  EXPECT_EQ(*ampere.key(wide(100)), *ampere.key(wide(std::nullopt)));
}

TEST(Compiler, ACachedSpecHasTheKeyOfItsProblem) {
  CachedCompiler cached;
  for (const char *word : {"softcap=30", "order=linear", "alignment=8"}) {
    KernelSpec changed = spec({"dtype=bf16", "head_dim=64", "heads_q=4", "mask=causal", word});
    EXPECT_EQ(cached.compile(changed)->key(), keyOf(changed)) << word;
    EXPECT_EQ(cached.compile(changed)->key(), keyOf(changed)) << word;
  }
  EXPECT_EQ(cached.files(".alias").size(), 3u);
}

TEST(Compiler, WhatAnAliasNamesIsChecked) {
  CachedCompiler cached;
  std::string key = cached.compile(plain())->key();
  std::string aliasPath = cached.files(".alias").front();
  std::string forOther = cached.compile(plain(), "sm_86")->key();
  // Well-formed, but of an artifact of another chip.
  rt::DiskCacheOptions options;
  options.directory = cached.directory.str().str();
  std::string alias = llvm::sys::path::stem(aliasPath).str();
  ASSERT_TRUE(rt::DiskCache(options).link(alias, {forOther, {}}));
  cached.restart();
  EXPECT_EQ(cached.compile(plain())->key(), key);
  EXPECT_EQ(cached.contexts(), 3u);
  cached.restart();
  EXPECT_EQ(cached.compile(plain())->key(), key); // Repaired.
  EXPECT_EQ(cached.contexts(), 3u);
}

TEST(Compiler, HitsRepeatTheRemarkOfTheGenericPath) {
  CachedCompiler cached;
  KernelSpec generic = spec({"dtype=f32", "head_dim=64", "heads_q=4"});
  cached.compile(generic);
  std::vector<std::string> remarks = cached.remarks;
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_THAT(remarks[0], HasSubstr("generic path"));
  cached.compile(generic);
  EXPECT_EQ(cached.remarks, remarks);
  cached.restart();
  cached.compile(generic);
  EXPECT_EQ(cached.remarks, remarks);
  EXPECT_EQ(cached.contexts(), 1u);
  EXPECT_EQ(cached.metrics.counter("fallback." + remarks[0]).value(), 3u);
}

TEST(Compiler, TheGenericPathIsRemarkedAndCounted) {
  rt::Metrics metrics;
  std::string remark;
  auto compiler = Compiler::create({.target = "sm_80",
                                    .remark = [&](const std::string &text) { remark = text; },
                                    .metrics = &metrics});
  ASSERT_TRUE(compiler->key(spec({"dtype=f32", "head_dim=64", "heads_q=4"})));
  EXPECT_THAT(remark, HasSubstr("generic path"));
  EXPECT_THAT(metrics.toJson(), HasSubstr("generic path"));
}

TEST(Compiler, EveryReasonOfTheGenericPathIsCounted) {
  // Head dims, masks and phases are no reasons: the fast rows take all of them between them.
  struct {
    std::string target;
    std::vector<std::string> words;
    std::string reason;
  } cases[] = {
      {"sm_80", {"dtype=f32", "head_dim=64"}, "element type: takes f16, bf16, the problem has f32"},
      {"sm_80",
       {"dtype=f16", "head_dim=64", "alignment=8"},
       "alignment: takes 16 bytes or more, the problem promises 8"},
      {"sm_80",
       {"dtype=f16", "head_dim=64", "head_dim_v=512"},
       "registers: expected at most 255 a thread, got 312"},
      {"sm_86",
       {"dtype=f16", "head_dim=256", "stages=4"},
       "shared memory: expected at most 101376 bytes, got 294912"}};
  for (auto &[target, words, reason] : cases) {
    rt::Metrics metrics;
    auto compiler = Compiler::create({.target = target, .metrics = &metrics});
    words.push_back("heads_q=4");
    ASSERT_TRUE(compiler->key(spec(words))) << reason;
    ASSERT_TRUE(compiler->key(spec(words))) << reason;
    llvm::Expected<llvm::json::Value> json = parseJson(metrics.toJson());
    ASSERT_TRUE(static_cast<bool>(json));
    const llvm::json::Object &fallbacks = *json->getAsObject()->getObject("fallbacks");
    ASSERT_EQ(fallbacks.size(), 1u) << reason;
    EXPECT_THAT(StringRef(fallbacks.begin()->first).str(), HasSubstr("(" + reason));
    EXPECT_EQ(fallbacks.begin()->second.getAsInteger(), 2) << reason;
  }
}

TEST(Compiler, ThreadsMayShareOne) {
  Compiler compiler = compilerFor("cpu");
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&] { text = compiler.emit(plain(), Emit::Tiles).value_or("failed"); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, texts[0]);
  EXPECT_THAT(texts[0], HasSubstr("scf.forall"));
}

TEST(Compiler, ErrorsNameThePlace) {
  auto text = compilerFor("cpu").emit(ProblemText{"func.func @f() {\n  attn.nothing\n}", "x.mlir"},
                                      Emit::Problem);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, rt::ErrorCode::BadInput);
  EXPECT_THAT(text.error().message, HasSubstr("x.mlir:2:3: "));
}

TEST(HostProgram, RefusesWhatDoesNotFit) {
  auto program =
      compilerFor("cpu").compileHost(spec({"dtype=f32", "head_dim=8", "heads_q=1", "lse=false"}));
  ASSERT_TRUE(program) << program.error().message;
  std::vector<float> data(64, 1.0f);
  auto tensor = [&](int64_t rows, int64_t dim) {
    return rt::TensorArg::dense(data.data(), rt::ElementType::F32, {1, rows, 1, dim});
  };
  auto run = [&](rt::TensorArg q, rt::TensorArg k) {
    rt::Argument arguments[] = {q, k, k, q, rt::ScalarArg(1.0f)};
    rt::Status status = (*program)->run(arguments);
    return status ? std::string("ran") : status.error().message;
  };
  EXPECT_EQ(run(tensor(3, 8), tensor(4, 8)), "ran");
  EXPECT_THAT(run(tensor(3, 16), tensor(4, 8)), HasSubstr("'q'"));
  rt::TensorArg twice = tensor(2, 8);
  twice.sizes[0] = 2;
  EXPECT_THAT(run(tensor(3, 8), twice), HasSubstr("argument 'k': expected size 1"));
}

TEST(EmulatedProgram, FaultsAreOfWhoWroteTheProgram) {
  Compiler compiler = compilerFor("sm_80");
  KernelSpec problem = spec({"dtype=bf16", "head_dim=64", "heads_q=1", "lse=false"});
  auto compiled = compiler.compileEmulated(problem);
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ((*compiled)->faultCode(), rt::ErrorCode::Internal);
  auto l3 = compiler.emit(problem, Emit::LLVM);
  ASSERT_TRUE(l3) << l3.error().message;
  auto given = compiler.emulate({*l3, "given.mlir"}, (*compiled)->manifest());
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ((*given)->faultCode(), rt::ErrorCode::BadInput);
}

TEST(EmulatedProgram, RefusesWhatDoesNotFit) {
  for (const char *target : {"sm_80", "sm_90a"}) {
    auto program = compilerFor(target).compileEmulated(
        spec({"dtype=bf16", "head_dim=64", "heads_q=1", "lse=false"}));
    ASSERT_TRUE(program) << program.error().message;
    alignas(16) static uint16_t data[4 * 128];
    auto tensor = [&](int64_t rows, int64_t dim, rt::ElementType type = rt::ElementType::BF16) {
      return rt::TensorArg::dense(data, type, {1, rows, 1, dim});
    };
    auto run = [&](std::vector<rt::Argument> arguments) {
      rt::Status status = (*program)->run(arguments, {});
      return status ? std::string("ran") : status.error().message;
    };
    rt::Argument q = tensor(3, 64), k = tensor(4, 64), scale = rt::ScalarArg(1.0f);
    EXPECT_EQ(run({q, k, k, tensor(3, 64), scale}), "ran");
    EXPECT_THAT(run({tensor(3, 128), k, k, q, scale}), HasSubstr("'q'"));
    EXPECT_THAT(run({q, tensor(4, 64, rt::ElementType::F16), k, q, scale}), HasSubstr("'k'"));
    EXPECT_THAT(run({q, k, tensor(5, 64), q, scale}), HasSubstr("'v'"));
    EXPECT_THAT(run({q, k, k, tensor(2, 64), scale}), HasSubstr("'o'"));
    EXPECT_THAT(run({q, k, k, q}), HasSubstr("argument"));
    rt::TensorArg odd = tensor(3, 64);
    odd.data = reinterpret_cast<char *>(data) + 2;
    EXPECT_THAT(run({odd, k, k, q, scale}), HasSubstr("'q'"));
  }
}

} // namespace
