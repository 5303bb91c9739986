#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "CacheFixture.h"

using namespace attn::rt;
using namespace attn::rt::test;
namespace fs = std::filesystem;

namespace {
class DiskCacheTest : public CacheFixture {
protected:
  /// Makes an entry look as if it was last used `seconds` ago.
  void age(const std::string &path, int seconds) {
    const time_t then = ::time(nullptr) - seconds;
    const struct utimbuf times = {then, then};
    ASSERT_EQ(::utime(path.c_str(), &times), 0);
  }
};
} // namespace

TEST_F(DiskCacheTest, MissThenHit) {
  DiskCache cache(options(cacheDir));
  EXPECT_FALSE(cache.get(keyOf(1)));
  ASSERT_TRUE(cache.put(keyOf(1), sampleArtifact()));
  EXPECT_EQ(cache.get(keyOf(1)), sampleArtifact());
  EXPECT_FALSE(cache.get(keyOf(2)));
  EXPECT_EQ(DiskCache(options(cacheDir)).get(keyOf(1)), sampleArtifact());
  EXPECT_TRUE(warnings.empty());
  EXPECT_TRUE(fs::is_empty(tree() + "/tmp"));
  struct stat info;
  ASSERT_EQ(::stat(cacheDir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(DiskCacheTest, StrangeKeysTouchNoFile) {
  DiskCache cache(options(cacheDir));
  EXPECT_FALSE(cache.get("../../../etc/passwd"));
  EXPECT_FALSE(cache.put("../escape", sampleArtifact()));
  EXPECT_FALSE(fs::exists(cacheDir));
}

TEST_F(DiskCacheTest, EveryCorruptionIsOneWarningAndAMiss) {
  const std::string key = keyOf(1);
  const std::string good = serialize(sampleArtifact(), key).value();
  std::string flipped = good;
  flipped[good.size() - 1] ^= 1;
  const std::string bad[] = {"",
                             good.substr(0, 5),
                             good.substr(0, 40),
                             good.substr(0, 72),
                             good.substr(0, 100),
                             good.substr(0, 200),
                             good.substr(0, good.size() - 1),
                             good + good,
                             flipped,
                             serialize(sampleArtifact(), keyOf(2)).value()};
  for (const std::string &bytes : bad) {
    DiskCache cache(options(cacheDir));
    ASSERT_TRUE(cache.put(key, sampleArtifact()));
    writeFile(entryPath(key), bytes);
    warnings.clear();
    EXPECT_FALSE(cache.get(key));
    EXPECT_FALSE(cache.get(key));
    ASSERT_EQ(warnings.size(), 1u) << bytes.size();
    EXPECT_THAT(warnings[0], testing::HasSubstr(entryPath(key)));
    // The next compile repairs it.
    ASSERT_TRUE(cache.put(key, sampleArtifact()));
    EXPECT_TRUE(cache.get(key));
  }
}

TEST_F(DiskCacheTest, StaleEntriesAreSilentMisses) {
  DiskCache cache(options(cacheDir));
  ASSERT_TRUE(cache.put(keyOf(1), sampleArtifact()));
  std::string bytes = readFile(entryPath(keyOf(1)));
  bytes[8] = 99;
  writeFile(entryPath(keyOf(1)), bytes);
  EXPECT_FALSE(cache.get(keyOf(1)));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DiskCacheTest, WhatIsNoRegularFileIsAMiss) {
  DiskCache cache(options(cacheDir));
  ASSERT_TRUE(cache.put(keyOf(1), sampleArtifact()));
  const std::string path = entryPath(keyOf(1));
  fs::rename(path, temp / "elsewhere");
  fs::create_symlink(temp / "elsewhere", path);
  EXPECT_FALSE(cache.get(keyOf(1)));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(DiskCache(options(cacheDir)).get(keyOf(1)));
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(DiskCache(options(cacheDir)).get(keyOf(1)));
  EXPECT_EQ(warnings.size(), 3u);
}

TEST_F(DiskCacheTest, UnwritableIsMemoryOnlyWithOneWarning) {
  writeFile(temp / "file", "");
  for (const std::string &directory : {temp / "file/cache", std::string("/proc/attn-cache")}) {
    warnings.clear();
    DiskCache cache(options(directory));
    EXPECT_FALSE(cache.get(keyOf(1)));
    EXPECT_TRUE(warnings.empty());
    EXPECT_FALSE(cache.put(keyOf(1), sampleArtifact()));
    EXPECT_FALSE(cache.put(keyOf(2), sampleArtifact()));
    EXPECT_FALSE(cache.lock(keyOf(1), std::chrono::milliseconds(0)));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_THAT(warnings[0], testing::AllOf(testing::HasSubstr(directory),
                                            testing::HasSubstr("in memory only")));
  }
}

TEST_F(DiskCacheTest, RefusesDirectoriesThatOthersControl) {
  fs::create_directories(cacheDir);
  auto expectRefused = [&](const char *reason) {
    warnings.clear();
    DiskCache cache(options(cacheDir));
    EXPECT_FALSE(cache.put(keyOf(1), sampleArtifact()));
    EXPECT_FALSE(cache.get(keyOf(1)));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_THAT(warnings[0], testing::HasSubstr(reason));
    EXPECT_EQ(cache.list().error().code, ErrorCode::Unavailable);
  };
  ASSERT_EQ(::chmod(cacheDir.c_str(), 0777), 0);
  expectRefused("can be written by everybody");
  ASSERT_EQ(::chmod(cacheDir.c_str(), 0700), 0);
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::chown(cacheDir.c_str(), 12345, 12345), 0);
  expectRefused("belongs to user 12345");
}

TEST_F(DiskCacheTest, RefusesEntriesThatOthersControl) {
  DiskCache cache(options(cacheDir));
  ASSERT_TRUE(cache.put(keyOf(1), sampleArtifact()));
  ASSERT_EQ(::chmod(entryPath(keyOf(1)).c_str(), 0666), 0);
  EXPECT_FALSE(cache.get(keyOf(1)));
  ASSERT_EQ(warnings.size(), 1u);
}

TEST_F(DiskCacheTest, AFileIsNoCacheDirectory) {
  writeFile(temp / "file", "");
  DiskCache cache(options(temp / "file"));
  EXPECT_FALSE(cache.get(keyOf(1)));
  EXPECT_FALSE(cache.put(keyOf(1), sampleArtifact()));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::HasSubstr("is not a directory"));
}

TEST_F(DiskCacheTest, PacksAreAskedSecondAndNotWritten) {
  const std::string packDir = temp / "pack";
  ASSERT_TRUE(DiskCache(options(packDir)).put(keyOf(1), sampleArtifact("packed")));
  age(entryPath(keyOf(1), packDir), 1000);
  const auto before = fs::last_write_time(entryPath(keyOf(1), packDir));
  DiskCacheOptions layered = options(cacheDir);
  layered.packs = {temp / "no-such-pack", packDir};
  DiskCache cache(layered);
  EXPECT_EQ(cache.get(keyOf(1))->payload, "packed");
  EXPECT_EQ(fs::last_write_time(entryPath(keyOf(1), packDir)), before);
  ASSERT_TRUE(cache.put(keyOf(1), sampleArtifact("own")));
  EXPECT_EQ(cache.get(keyOf(1))->payload, "own");
}

TEST_F(DiskCacheTest, RacingWritersLeaveAWholeEntry) {
  // Two processes and two threads in each write the same keys while this one reads.
  constexpr int kRounds = 40;
  const Artifact artifact = sampleArtifact(std::string(100000, 'p'));
  pid_t children[2];
  for (pid_t &child : children) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DiskCache cache(options(cacheDir));
      auto work = [&] {
        for (int i = 0; i < kRounds; ++i)
          if (!cache.put(keyOf(i % 4), artifact))
            ::_exit(1);
      };
      std::thread other(work);
      work();
      other.join();
      ::_exit(warnings.empty() ? 0 : 2);
    }
  }
  DiskCache cache(options(cacheDir));
  for (int i = 0; i < 20 * kRounds; ++i)
    if (std::optional<Artifact> found = cache.get(keyOf(i % 4)))
      EXPECT_EQ(*found, artifact);
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(cache.verify()->good, 4u);
  EXPECT_TRUE(fs::is_empty(tree() + "/tmp"));
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoAboveTheBound) {
  const Artifact artifact = sampleArtifact(std::string(10000, 'p'));
  const uint64_t size = serialize(artifact, keyOf(0))->size();
  DiskCacheOptions bounded = options(cacheDir);
  bounded.maxBytes = 3 * size;
  DiskCache cache(bounded);
  for (int i : {0, 1, 2}) {
    ASSERT_TRUE(cache.put(keyOf(i), artifact));
    age(entryPath(keyOf(i)), 1000 - 100 * i);
  }
  // Reading counts as use, so 1 is the oldest now.
  ASSERT_TRUE(cache.get(keyOf(0)));
  ASSERT_TRUE(cache.put(keyOf(3), artifact));
  EXPECT_TRUE(cache.get(keyOf(0)));
  EXPECT_FALSE(cache.get(keyOf(1)));
  EXPECT_TRUE(cache.get(keyOf(2)));
  EXPECT_TRUE(cache.get(keyOf(3)));
  for (int i = 4; i < 20; ++i) {
    ASSERT_TRUE(cache.put(keyOf(i), artifact));
    EXPECT_LE(cache.stat()->bytes, bounded.maxBytes);
    EXPECT_TRUE(cache.get(keyOf(i)));
  }
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DiskCacheTest, AnEntryAboveTheBoundIsNotStored) {
  DiskCacheOptions bounded = options(cacheDir);
  bounded.maxBytes = 100;
  DiskCache cache(bounded);
  EXPECT_FALSE(cache.put(keyOf(1), sampleArtifact()));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::HasSubstr("the limit is 100"));
}

TEST_F(DiskCacheTest, ListStatVerifyPruneClear) {
  DiskCache cache(options(cacheDir));
  EXPECT_TRUE(cache.list()->empty());
  EXPECT_EQ(cache.stat()->entries, 0u);
  EXPECT_EQ(cache.clear()->files, 0u);
  for (int i : {0, 1, 2, 3}) {
    ASSERT_TRUE(cache.put(keyOf(i), sampleArtifact()));
    age(entryPath(keyOf(i)), 1000 - 100 * i);
  }
  writeFile(tree() + "/" + keyOf(0).substr(0, 2) + "/notes.txt", "mine");
  std::vector<CacheEntry> entries = cache.list().value();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].key, keyOf(3));
  EXPECT_EQ(entries[0].path, entryPath(keyOf(3)));
  EXPECT_EQ(cache.stat()->bytes, 4 * entries[0].bytes);

  writeFile(entryPath(keyOf(2)), "damaged");
  VerifyReport report = cache.verify().value();
  EXPECT_EQ(report.good, 3u);
  ASSERT_EQ(report.bad.size(), 1u);
  EXPECT_EQ(report.bad[0].first, entryPath(keyOf(2)));

  EXPECT_EQ(cache.prune(~uint64_t(0), /*removeBad=*/true)->files, 1u);
  EXPECT_EQ(cache.prune(2 * entries[0].bytes)->files, 1u);
  EXPECT_FALSE(cache.get(keyOf(0)));
  EXPECT_TRUE(cache.get(keyOf(3)));

  PruneReport cleared = cache.clear().value();
  EXPECT_EQ(cleared.files, 2u);
  EXPECT_EQ(cleared.bytes, 2 * entries[0].bytes);
  EXPECT_TRUE(cache.list()->empty());
  EXPECT_TRUE(fs::exists(tree() + "/" + keyOf(0).substr(0, 2) + "/notes.txt"));
}

TEST_F(DiskCacheTest, PruneRemovesWhatDeadProcessesLeft) {
  DiskCache cache(options(cacheDir));
  ASSERT_TRUE(cache.put(keyOf(0), sampleArtifact()));
  CompileLock held = std::move(*cache.lock(keyOf(1), std::chrono::milliseconds(0)));
  for (const char *name : {"tmp/old", "tmp/young", "locks/dead.lock"})
    writeFile(tree() + "/" + name, "x");
  for (std::string name :
       {std::string("tmp/old"), std::string("locks/dead.lock"), "locks/" + keyOf(1) + ".lock"})
    age(tree() + "/" + name, 7200);
  EXPECT_EQ(cache.prune(~uint64_t(0))->files, 2u);
  EXPECT_FALSE(fs::exists(tree() + "/tmp/old"));
  EXPECT_TRUE(fs::exists(tree() + "/tmp/young"));
  EXPECT_TRUE(fs::exists(tree() + "/locks/" + keyOf(1) + ".lock"));
}

TEST_F(DiskCacheTest, LocksWaitForABoundedTimeAndDieWithTheirOwner) {
  DiskCache cache(options(cacheDir));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto lock = cache.lock(keyOf(1), std::chrono::milliseconds(0));
    const char byte = lock ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1)
      ::_exit(1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  auto busy = cache.lock(keyOf(1), std::chrono::milliseconds(20));
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, ErrorCode::Busy);
  EXPECT_TRUE(cache.lock(keyOf(2), std::chrono::milliseconds(0)));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(cache.lock(keyOf(1), std::chrono::milliseconds(1000)));
  EXPECT_TRUE(fs::is_empty(tree() + "/locks"));
  ::close(ready[0]);
  ::close(ready[1]);
}

namespace {
/// Sets or clears an environment variable and puts it back.
class ScopedEnvironment {
public:
  ScopedEnvironment(const char *name, const char *value) : name(name) {
    if (const char *old = ::getenv(name))
      before = old;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~ScopedEnvironment() { before ? ::setenv(name, before->c_str(), 1) : ::unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> before;
};
} // namespace

TEST(DefaultCacheDir, Order) {
  ScopedEnvironment home("HOME", "/home/somebody");
  ScopedEnvironment xdg("XDG_CACHE_HOME", "/xdg");
  {
    ScopedEnvironment own("ATTN_CACHE_DIR", "/own");
    EXPECT_EQ(defaultCacheDir("/flag").value(), "/flag");
    EXPECT_EQ(defaultCacheDir().value(), "/own");
  }
  for (const char *unset : {static_cast<const char *>(nullptr), ""}) {
    ScopedEnvironment own("ATTN_CACHE_DIR", unset);
    EXPECT_EQ(defaultCacheDir().value(), "/xdg/attn");
    for (const char *unusable : {static_cast<const char *>(nullptr), "", "relative"}) {
      ScopedEnvironment noXdg("XDG_CACHE_HOME", unusable);
      EXPECT_EQ(defaultCacheDir().value(), "/home/somebody/.cache/attn");
    }
  }
}
