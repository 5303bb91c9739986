#include <atomic>
#include <thread>

#include "FakeCuda.h"
#include "TestUtils.h"
#include "attn/Runtime/KernelCache.h"

using namespace attn::rt;
using namespace attn::rt::test;

namespace {
class KernelCacheTest : public testing::Test {
protected:
  std::unique_ptr<DiskCache> disk() {
    DiskCacheOptions options;
    options.directory = temp / "cache";
    options.warn = [this](const std::string &message) { warnings.push_back(message); };
    return std::make_unique<DiskCache>(options);
  }

  uint64_t count(std::string_view name) { return metrics.counter(name).value(); }

  TempDir temp;
  Metrics metrics;
  std::vector<std::string> warnings;
  int compiles = 0;
  KernelCache::Producer compile = [this]() -> Expected<Artifact> {
    ++compiles;
    return sampleArtifact();
  };
};
} // namespace

TEST_F(KernelCacheTest, CompilesOnceThenHitsMemoryThenDisk) {
  {
    KernelCache cache(disk(), metrics);
    LoadedArtifactPtr first = cache.get(keyOf(1), compile).value();
    EXPECT_EQ(first->origin(), LoadedArtifact::Origin::Compiled);
    EXPECT_EQ(first->key(), keyOf(1));
    EXPECT_EQ(cache.get(keyOf(1), compile).value(), first);
    EXPECT_EQ(cache.find(keyOf(1)), first);
    EXPECT_EQ(cache.find(keyOf(2)), nullptr);
    cache.clearMemory();
    EXPECT_EQ(cache.get(keyOf(1), compile).value()->origin(), LoadedArtifact::Origin::Disk);
  }
  KernelCache again(disk(), metrics);
  EXPECT_EQ(again.get(keyOf(1), compile).value()->artifact(), sampleArtifact());
  EXPECT_EQ(compiles, 1);
  EXPECT_EQ(count(metric::kMisses), 1u);
  EXPECT_EQ(count(metric::kMemoryHits), 1u);
  EXPECT_EQ(count(metric::kDiskHits), 2u);
  EXPECT_EQ(count(metric::kCompiles), 1u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(KernelCacheTest, WorksWithoutADisk) {
  KernelCache cache(nullptr, metrics);
  EXPECT_TRUE(cache.get(keyOf(1), compile));
  EXPECT_TRUE(cache.get(keyOf(1), compile));
  EXPECT_EQ(compiles, 1);
  EXPECT_EQ(cache.disk(), nullptr);
}

TEST_F(KernelCacheTest, AnUnwritableDiskStillServesFromMemory) {
  writeFile(temp / "cache", "in the way");
  KernelCache cache(disk(), metrics);
  EXPECT_TRUE(cache.get(keyOf(1), compile));
  EXPECT_TRUE(cache.get(keyOf(1), compile));
  EXPECT_TRUE(cache.get(keyOf(2), compile));
  EXPECT_EQ(compiles, 2);
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(KernelCacheTest, FailuresPropagateAndAreNotKept) {
  KernelCache cache(disk(), metrics);
  auto failing = []() -> Expected<Artifact> { return fail(ErrorCode::BadInput, "no such mask"); };
  auto result = cache.get(keyOf(1), failing);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_EQ(result.error().message, "no such mask");
  EXPECT_TRUE(cache.get(keyOf(1), compile));
  EXPECT_EQ(compiles, 1);
}

TEST_F(KernelCacheTest, BadKeys) {
  KernelCache cache(nullptr, metrics);
  EXPECT_EQ(cache.get("no key", compile).error().code, ErrorCode::BadInput);
  EXPECT_EQ(compiles, 0);
}

TEST_F(KernelCacheTest, AskingForItsOwnKeyIsAnErrorAndNoHang) {
  KernelCache cache(nullptr, metrics);
  auto result = cache.get(keyOf(1), [&]() -> Expected<Artifact> {
    auto inner = cache.get(keyOf(1), compile);
    return inner ? Expected<Artifact>((*inner)->artifact()) : fail(inner.error());
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Internal);
}

TEST_F(KernelCacheTest, ThreadsShareOneCompile) {
  constexpr int kThreads = 8;
  KernelCache cache(disk(), metrics);
  std::atomic<int> calls{0};
  auto slow = [&]() -> Expected<Artifact> {
    ++calls;
    // Until the others wait, or for a while on a slow machine.
    for (int i = 0; i < 200 && count(metric::kWaits) < kThreads - 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return sampleArtifact();
  };
  std::vector<LoadedArtifactPtr> results(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { results[t] = cache.get(keyOf(1), slow).value_or(nullptr); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(calls, 1);
  EXPECT_NE(results[0], nullptr);
  for (const LoadedArtifactPtr &result : results)
    EXPECT_EQ(result, results[0]);
  EXPECT_EQ(count(metric::kWaits) + count(metric::kMemoryHits), kThreads - 1u);
}

TEST_F(KernelCacheTest, WaitingThreadsShareTheFailure) {
  KernelCache cache(nullptr, metrics);
  auto failing = [&]() -> Expected<Artifact> {
    for (int i = 0; i < 200 && count(metric::kWaits) < 1; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return fail(ErrorCode::BadInput, "shared");
  };
  std::string messages[2];
  std::vector<std::thread> threads;
  for (std::string &message : messages)
    threads.emplace_back([&] { message = cache.get(keyOf(1), failing).error().message; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(messages[0], "shared");
  EXPECT_EQ(messages[1], "shared");
}

TEST_F(KernelCacheTest, DifferentKeysDoNotWaitForEachOther) {
  KernelCache cache(disk(), metrics);
  std::atomic<bool> secondDone{false};
  std::thread first([&] {
    auto result = cache.get(keyOf(1), [&]() -> Expected<Artifact> {
      for (int i = 0; i < 2000 && !secondDone; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return sampleArtifact();
    });
    EXPECT_TRUE(result);
  });
  EXPECT_TRUE(cache.get(keyOf(2), [] { return Expected<Artifact>(sampleArtifact()); }));
  secondDone = true;
  first.join();
}

TEST_F(KernelCacheTest, WaitsForAnotherProcessButNotForever) {
  auto store = disk();
  // Stands for another process: locks belong to the opened file, not to us.
  auto held = store->lock(keyOf(1), std::chrono::milliseconds(0));
  ASSERT_TRUE(held);
  KernelCache cache(disk(), metrics, {std::chrono::milliseconds(20)});
  EXPECT_TRUE(cache.get(keyOf(1), compile));
  EXPECT_EQ(compiles, 1);
}

TEST_F(KernelCacheTest, TakesWhatAnotherProcessStoredMeanwhile) {
  auto store = disk();
  auto held =
      std::make_unique<Expected<CompileLock>>(store->lock(keyOf(1), std::chrono::milliseconds(0)));
  ASSERT_TRUE(*held);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(store->put(keyOf(1), sampleArtifact()));
    held.reset();
  });
  KernelCache cache(disk(), metrics, {std::chrono::milliseconds(10000)});
  EXPECT_EQ(cache.get(keyOf(1), compile).value()->origin(), LoadedArtifact::Origin::Disk);
  other.join();
  EXPECT_EQ(compiles, 0);
}

TEST_F(KernelCacheTest, ModulesAreLoadedOncePerContext) {
  FakeCuda fake;
  KernelCache cache(nullptr, metrics);
  LoadedArtifactPtr artifact = cache.get(keyOf(1), compile).value();
  CudaContextPtr first = fake.context(0), second = fake.context(1);
  Module::Ptr module = artifact->module(first).value();
  EXPECT_EQ(artifact->module(first).value(), module);
  EXPECT_NE(artifact->module(second).value(), module);
  fake.failures["cuModuleLoadDataEx"] = cuda::kOutOfMemory;
  CudaContextPtr third = fake.context(0);
  EXPECT_FALSE(artifact->module(third));
  fake.failures.clear();
  EXPECT_TRUE(artifact->module(third));
  cache.clearMemory();
  module.reset();
  artifact.reset();
  EXPECT_EQ(fake.unloads, 3);
}
