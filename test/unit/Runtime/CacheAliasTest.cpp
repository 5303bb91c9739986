#include <filesystem>

#include <sys/stat.h>

#include "CacheFixture.h"
#include "attn/Runtime/KernelCache.h"

using namespace attn::rt;
using namespace attn::rt::test;
namespace fs = std::filesystem;

namespace {
class CacheAliasTest : public CacheFixture {
protected:
  std::unique_ptr<DiskCache> disk() { return std::make_unique<DiskCache>(options(cacheDir)); }

  std::string aliasPath() { return filePath(alias.text, ".alias"); }
  std::string entryPath() { return CacheFixture::entryPath(key); }

  /// Stores an entry and its alias as a process before this one would have.
  void store() {
    KernelCache cache(disk(), metrics);
    LoadedArtifactPtr artifact =
        cache.get(key, [] { return Expected<Artifact>(sampleArtifact()); }).value();
    cache.link(alias, *artifact, {"said \"this\""});
  }

  /// Whether a process that starts now finds the artifact over the alias.
  bool isFound() { return KernelCache(disk(), metrics).findAliased(alias).has_value(); }

  std::string key = keyOf(1);
  Alias alias{keyOf(100)};
  Metrics metrics;
};
} // namespace

TEST_F(CacheAliasTest, LeadsToTheArtifactInMemoryAndOnDisk) {
  EXPECT_FALSE(isFound());
  store();
  KernelCache cache(disk(), metrics);
  auto first = cache.findAliased(alias), second = cache.findAliased(alias);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->artifact->artifact(), sampleArtifact());
  EXPECT_EQ(first->artifact->origin(), LoadedArtifact::Origin::Disk);
  EXPECT_EQ(first->artifact->key(), key);
  EXPECT_EQ(first->remarks, std::vector<std::string>{"said \"this\""});
  EXPECT_EQ(second->artifact, first->artifact);
  EXPECT_EQ(cache.find(key), first->artifact);
  EXPECT_EQ(metrics.counter(metric::kDiskHits).value(), 1u);
  EXPECT_EQ(metrics.counter(metric::kMemoryHits).value(), 1u);
  cache.clearMemory();
  EXPECT_TRUE(cache.findAliased(alias));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheAliasTest, WorksWithoutADisk) {
  KernelCache cache(nullptr, metrics);
  EXPECT_FALSE(cache.findAliased(alias));
  LoadedArtifactPtr artifact =
      cache.get(key, [] { return Expected<Artifact>(sampleArtifact()); }).value();
  cache.link(alias, *artifact, {});
  EXPECT_EQ(cache.findAliased(alias)->artifact, artifact);
}

TEST_F(CacheAliasTest, AnAliasOfNoGoodEntryIsAMiss) {
  store();
  fs::remove(entryPath());
  EXPECT_FALSE(isFound());
  EXPECT_TRUE(warnings.empty());

  store();
  std::string bytes = readFile(entryPath());
  bytes.back() ^= 1;
  writeFile(entryPath(), bytes);
  EXPECT_FALSE(isFound());
  EXPECT_EQ(warnings.size(), 1u);

  // Another key's entry in the place of the one that the alias names.
  writeFile(entryPath(), serialize(sampleArtifact("other"), keyOf(2)).value());
  EXPECT_FALSE(isFound());
  store();
  EXPECT_TRUE(isFound());
}

TEST_F(CacheAliasTest, EveryCorruptionIsOneWarningAndAMiss) {
  store();
  const std::string good = readFile(aliasPath());
  auto withDigest = [](const std::string &body) { return toHex(sha256({body})) + "\n" + body; };
  std::string flipped = good;
  flipped[good.find(key)] ^= 1;
  const std::string bad[] = {
      "",
      good.substr(0, 64),
      good.substr(0, 65),
      good.substr(0, good.size() - 1),
      good + "\n",
      flipped,
      std::string(1 << 20, 'x'),
      withDigest("[]"),
      withDigest("{"),
      withDigest("{\"alias\":1,\"key\":2,\"remarks\":[]}"),
      withDigest("{\"alias\":\"" + alias.text + "\",\"key\":\"../x\",\"remarks\":[]}"),
      withDigest("{\"alias\":\"" + alias.text + "\",\"key\":\"" + key + "\",\"remarks\":3}"),
      withDigest("{\"alias\":\"" + keyOf(7) + "\",\"key\":\"" + key + "\",\"remarks\":[]}"),
  };
  for (const std::string &bytes : bad) {
    warnings.clear();
    writeFile(aliasPath(), bytes);
    KernelCache cache(disk(), metrics);
    EXPECT_FALSE(cache.findAliased(alias));
    EXPECT_FALSE(cache.findAliased(alias));
    ASSERT_EQ(warnings.size(), 1u) << bytes.substr(0, 200);
    EXPECT_THAT(warnings[0], testing::HasSubstr(aliasPath()));
    EXPECT_EQ(disk()->verify()->bad.size(), 1u);
    // The next compile repairs it.
    store();
    EXPECT_TRUE(isFound());
    EXPECT_TRUE(disk()->verify()->bad.empty());
  }
}

TEST_F(CacheAliasTest, StrangeFilesAndNamesAreMisses) {
  store();
  ASSERT_EQ(::chmod(aliasPath().c_str(), 0666), 0);
  EXPECT_FALSE(isFound());
  EXPECT_EQ(warnings.size(), 1u);
  fs::remove(aliasPath());
  ASSERT_EQ(::mkfifo(aliasPath().c_str(), 0600), 0);
  EXPECT_FALSE(isFound());
  EXPECT_EQ(warnings.size(), 2u);
  DiskCache cache(options(cacheDir));
  EXPECT_FALSE(cache.resolve("../../../etc/passwd"));
  EXPECT_FALSE(cache.link("../escape", {key, {}}));
  EXPECT_FALSE(cache.link(keyOf(3), {"../escape", {}}));
  EXPECT_FALSE(cache.link(keyOf(3), {keyOf(4), {}})); // No such entry.
  EXPECT_FALSE(cache.link(keyOf(3), {key, {std::string(1 << 20, 'x')}}));
}

TEST_F(CacheAliasTest, PacksHoldAliasesToo) {
  store();
  const std::string packDir = temp / "pack";
  fs::rename(cacheDir, packDir);
  DiskCacheOptions layered = options(cacheDir);
  layered.packs = {temp / "no-such-pack", packDir};
  KernelCache cache(std::make_unique<DiskCache>(layered), metrics);
  EXPECT_TRUE(cache.findAliased(alias));
  // An alias of this user for an entry of the pack, which maintenance keeps.
  Alias own{keyOf(101)};
  cache.link(own, *cache.find(key), {});
  EXPECT_TRUE(fs::exists(filePath(own.text, ".alias")));
  EXPECT_EQ(cache.disk()->prune(~uint64_t(0))->files, 0u);
  EXPECT_FALSE(fs::exists(filePath(own.text, ".alias", packDir)));
}

TEST_F(CacheAliasTest, MaintenanceRemovesAliasesWithTheirEntries) {
  store();
  EXPECT_EQ(disk()->stat()->entries, 1u);
  EXPECT_EQ(disk()->prune(~uint64_t(0))->files, 0u);
  EXPECT_EQ(disk()->prune(0)->files, 2u);
  EXPECT_FALSE(fs::exists(aliasPath()));
  store();
  EXPECT_EQ(disk()->clear()->files, 2u);
  EXPECT_FALSE(fs::exists(aliasPath()));

  // An entry that makes room for another takes its alias along.
  store();
  DiskCacheOptions bounded = options(cacheDir);
  bounded.maxBytes = fs::file_size(entryPath()) + 1;
  EXPECT_TRUE(DiskCache(bounded).put(keyOf(2), sampleArtifact()));
  EXPECT_FALSE(fs::exists(aliasPath()));
}

TEST_F(CacheAliasTest, OneEvictionReadsNoAliases) {
  store();
  DiskCacheOptions bounded = options(cacheDir);
  const uint64_t size = fs::file_size(entryPath());
  bounded.maxBytes = 20 * size + size / 2;
  DiskCache cache(bounded);
  int number = 1000;
  auto evict = [&](int entries) {
    for (int i = 0; i < entries; ++i)
      ASSERT_TRUE(cache.put(keyOf(++number), sampleArtifact()));
  };
  evict(20);
  // The entry goes first, being the oldest; its alias stays and is a silent miss.
  EXPECT_FALSE(fs::exists(entryPath()));
  EXPECT_TRUE(fs::exists(aliasPath()));
  EXPECT_FALSE(isFound());
  EXPECT_TRUE(warnings.empty());
  evict(2);
  EXPECT_FALSE(fs::exists(aliasPath()));
}
