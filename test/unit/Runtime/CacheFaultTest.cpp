//===- CacheFaultTest.cpp - What may befall a cache ------------------------===//
//
// Processes that are killed, race and find damage, full disks and odd clocks. Nothing
// wrong is ever read, and nobody waits for the dead.
//
//===----------------------------------------------------------------------===//

#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CacheFixture.h"
#include "attn/Runtime/KernelCache.h"

using namespace attn::rt;
using namespace attn::rt::test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

/// What a test says of its own child: skipped, for want of a right.
constexpr int kSkipped = 77;

/// The artifact of a number: no two are equal.
Artifact artifactOf(int64_t number, size_t bytes = 20000) {
  std::mt19937_64 random(static_cast<uint64_t>(number));
  std::string payload(bytes, '\0');
  for (char &c : payload)
    c = static_cast<char>(random());
  return sampleArtifact(std::move(payload));
}

class CacheFaultTest : public CacheFixture {
protected:
  /// Runs `body` in a child that dies after two minutes, whatever it waits for.
  template <class Body> pid_t start(Body &&body) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(120);
      ::_exit(body());
    }
    return child;
  }
  static int wait(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Everything in the cache is what was written under its key.
  void expectOnlyRight(int64_t numKeys) {
    DiskCache cache(options(cacheDir));
    for (int64_t i = 0; i < numKeys; ++i)
      if (std::optional<Artifact> found = cache.get(keyOf(i)))
        EXPECT_EQ(*found, artifactOf(i)) << i;
  }
};

TEST_F(CacheFaultTest, KilledWritersLeaveNothingWrong) {
  constexpr int kRounds = 200, kKeys = 8;
  const std::string bundlePath = temp / "kernels.attnb";
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    const pid_t writer = start([&] {
      Metrics metrics;
      for (int i = round;; ++i) {
        // A new cache each time: what it knows in memory would spare the disk.
        KernelCache cache(std::make_unique<DiskCache>(options(cacheDir)), metrics);
        (void)cache.get(keyOf(i % kKeys),
                        [&] { return Expected<Artifact>(artifactOf(i % kKeys)); });
        DiskCache(options(cacheDir)).put(keyOf(i % kKeys), artifactOf(i % kKeys));
        BundleWriter bundle("attn test");
        (void)bundle.add({"spec", "sm_80", PayloadKind::Ptx, keyOf(100), keyOf(i % kKeys), {}},
                         artifactOf(i % kKeys));
        (void)bundle.publish(bundlePath);
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ASSERT_EQ(::kill(writer, SIGKILL), 0);
    ASSERT_EQ(wait(writer), 128 + SIGKILL);
    // A name that exists has all of a bundle.
    auto bundle = Bundle::open(bundlePath);
    if (bundle)
      EXPECT_TRUE((*bundle)->verify().empty());
    else
      EXPECT_EQ(bundle.error().code, ErrorCode::NotFound) << bundle.error().message;
  }
  expectOnlyRight(kKeys);
  DiskCache cache(options(cacheDir));
  EXPECT_TRUE(cache.verify()->bad.empty());
  EXPECT_TRUE(warnings.empty());
  // Locks of the dead are free.
  for (int i = 0; i < kKeys; ++i)
    EXPECT_TRUE(cache.lock(keyOf(i), 0ms));
}

TEST_F(CacheFaultTest, RacingProcessesCompileOnce) {
  constexpr int kProcesses = 32, kKeys = 50;
  auto *compiles = static_cast<std::atomic<int> *>(::mmap(nullptr, sizeof(std::atomic<int>),
                                                          PROT_READ | PROT_WRITE,
                                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(compiles, MAP_FAILED);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process)
    children.push_back(start([&] {
      Metrics metrics;
      KernelCache cache(std::make_unique<DiskCache>(options(cacheDir)), metrics,
                        {.processWait = 10s});
      for (int step = 0; step < kKeys; ++step) {
        const int key = (step * 7 + process) % kKeys;
        auto found = cache.get(keyOf(key), [&] {
          ++*compiles;
          std::this_thread::sleep_for(2ms);
          return Expected<Artifact>(artifactOf(key));
        });
        if (!found || (*found)->artifact() != artifactOf(key))
          return 1;
      }
      return warnings.empty() ? 0 : 2;
    }));
  for (pid_t child : children)
    EXPECT_EQ(wait(child), 0);
  EXPECT_EQ(*compiles, kKeys);
  EXPECT_EQ(DiskCache(options(cacheDir)).verify()->good, static_cast<uint64_t>(kKeys));
  ::munmap(compiles, sizeof(std::atomic<int>));
}

TEST_F(CacheFaultTest, FlippedBitsAndMissingEndsAreMisses) {
  ASSERT_TRUE(DiskCache(options(cacheDir)).put(keyOf(0), artifactOf(0, 500)));
  ASSERT_TRUE(DiskCache(options(cacheDir)).link(keyOf(9), {keyOf(0), {"a remark"}}));
  std::mt19937 random(2);
  for (const std::string &path : {entryPath(keyOf(0)), filePath(keyOf(9), ".alias")}) {
    const std::string good = readFile(path);
    for (int round = 0; round < 1000; ++round) {
      std::string bytes = good;
      if (round % 4 == 0)
        bytes.resize(random() % good.size());
      else
        bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      // A file of its own: some file systems flush one that is written over.
      fs::remove(path);
      writeFile(path, bytes);
      DiskCache cache(options(cacheDir));
      std::optional<AliasTarget> target = cache.resolve(keyOf(9));
      EXPECT_TRUE(!target || *target == (AliasTarget{keyOf(0), {"a remark"}}));
      std::optional<Artifact> found = cache.get(keyOf(0));
      EXPECT_TRUE(!found || *found == artifactOf(0, 500));
      EXPECT_FALSE(target && found) << "round " << round;
    }
    writeFile(path, good);
  }
}

TEST_F(CacheFaultTest, AReadOnlyDirectoryServesAndTakesNothing) {
  ASSERT_TRUE(DiskCache(options(cacheDir)).put(keyOf(0), artifactOf(0)));
  constexpr uid_t kNobody = 65534;
  const bool isRoot = ::geteuid() == 0;
  // Root may write anywhere, so somebody else has to try.
  for (const auto &entry : fs::recursive_directory_iterator(cacheDir)) {
    if (isRoot)
      ASSERT_EQ(::chown(entry.path().c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(::chmod(entry.path().c_str(), entry.is_directory() ? 0500 : 0400), 0);
  }
  if (isRoot)
    ASSERT_EQ(::chown(cacheDir.c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod(cacheDir.c_str(), 0500), 0);
  ASSERT_EQ(::chmod(temp.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((temp / "deep").c_str(), 0755), 0);
  const int code = wait(start([&] {
    if (isRoot && ::setresuid(kNobody, kNobody, kNobody) != 0)
      return kSkipped;
    Metrics metrics;
    KernelCache cache(std::make_unique<DiskCache>(options(cacheDir)), metrics);
    auto failing = [] { return Expected<Artifact>(fail(ErrorCode::Internal, "compiled")); };
    auto found = cache.get(keyOf(0), failing);
    if (!found || (*found)->artifact() != artifactOf(0))
      return 1;
    for (int i : {1, 2, 1})
      if (!cache.get(keyOf(i), [&] { return Expected<Artifact>(artifactOf(i)); }))
        return 2;
    return warnings.size() == 1 ? 0 : 3;
  }));
  for (const auto &entry : fs::recursive_directory_iterator(cacheDir))
    ::chmod(entry.path().c_str(), 0700);
  ::chmod(cacheDir.c_str(), 0700);
  if (code == kSkipped)
    GTEST_SKIP() << "cannot become another user";
  EXPECT_EQ(code, 0);
}

/// Three kernels on a disk that is full after the first: all are served from memory, with
/// one warning, and no part of a file stays.
static int runOnFullDisk(const DiskCacheOptions &options,
                         const std::vector<std::string> &warnings) {
  Metrics metrics;
  KernelCache cache(std::make_unique<DiskCache>(options), metrics);
  for (int round = 0; round < 2; ++round)
    for (int i : {0, 1, 2}) {
      auto found = cache.get(
          keyOf(i), [&] { return Expected<Artifact>(artifactOf(i, i == 0 ? 1000 : 200000)); });
      if (!found || (*found)->artifact() != artifactOf(i, i == 0 ? 1000 : 200000))
        return 1;
    }
  if (metrics.counter(metric::kCompiles).value() != 3 || warnings.size() != 1)
    return 2;
  DiskCache after(options);
  auto report = after.verify();
  if (!report || report->good != 1 || !report->bad.empty())
    return 3;
  return fs::is_empty(options.directory + "/v" + std::to_string(kArtifactSchema) + "/tmp") ? 0 : 4;
}

TEST_F(CacheFaultTest, FilesAboveTheLimitOfAProcessAreNotStored) {
  EXPECT_EQ(wait(start([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{50000, 50000};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
                return kSkipped;
              return runOnFullDisk(options(cacheDir), warnings);
            })),
            0);
}

TEST_F(CacheFaultTest, AFullDiskMeansMemory) {
  const std::string disk = temp / "disk";
  fs::create_directory(disk);
  const int code = wait(start([&] {
    // A mount that nobody else sees.
    const bool mayMount = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=128k,mode=0700") == 0;
    return mayMount ? runOnFullDisk(options(disk + "/cache"), warnings) : kSkipped;
  }));
  if (code == kSkipped)
    GTEST_SKIP() << "mounting a small tmpfs is not permitted";
  EXPECT_EQ(code, 0);
}

TEST_F(CacheFaultTest, EntriesOfOtherUsersAreRefused) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  DiskCache cache(options(cacheDir));
  ASSERT_TRUE(cache.put(keyOf(0), artifactOf(0)));
  ASSERT_TRUE(cache.link(keyOf(9), {keyOf(0), {}}));
  ASSERT_EQ(::chown(entryPath(keyOf(0)).c_str(), 12345, 12345), 0);
  ASSERT_EQ(::chown(filePath(keyOf(9), ".alias").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache.get(keyOf(0)));
  EXPECT_FALSE(cache.resolve(keyOf(9)));
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_THAT(warnings[0], HasSubstr("belongs to another user"));
  // The next compile takes the place.
  ASSERT_TRUE(cache.put(keyOf(0), artifactOf(0)));
  EXPECT_TRUE(cache.get(keyOf(0)));
}

/// Sets the time of last use, in seconds since 1970.
void stamp(const std::string &path, int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(CacheFaultTest, ClockJumpsNeitherLoseTheBoundNorEntries) {
  const uint64_t size = serialize(artifactOf(0), keyOf(0))->size();
  DiskCacheOptions bounded = options(cacheDir);
  bounded.maxBytes = 4 * size;
  const int64_t century = int64_t(100) * 365 * 24 * 3600;
  for (int64_t jump : {-century / 2, int64_t(0), century, int64_t(1) << 40}) {
    DiskCache(bounded).clear();
    DiskCache cache(bounded);
    for (int i : {0, 1}) {
      ASSERT_TRUE(cache.put(keyOf(i), artifactOf(i)));
      stamp(entryPath(keyOf(i)), std::max<int64_t>(::time(nullptr) + jump, 0));
    }
    EXPECT_EQ(cache.list()->size(), 2u);
    // What is asked for is there, however old or new it looks, and gets a sound time.
    EXPECT_EQ(*cache.get(keyOf(0)), artifactOf(0));
    EXPECT_LT(std::chrono::abs(fs::last_write_time(entryPath(keyOf(0))) -
                               fs::file_time_type::clock::now()),
              60s);
    for (int i = 2; i < 20; ++i) {
      ASSERT_TRUE(cache.put(keyOf(i), artifactOf(i)));
      EXPECT_TRUE(cache.get(keyOf(i)));
      EXPECT_LE(cache.stat()->bytes, bounded.maxBytes);
    }
  }
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheFaultTest, WhatTheDeadLeftGoesWhateverTheClockSaid) {
  DiskCache cache(options(cacheDir));
  ASSERT_TRUE(cache.put(keyOf(0), artifactOf(0)));
  fs::create_directories(tree() + "/locks");
  for (const char *name : {"tmp/past", "tmp/future", "locks/future.lock"})
    writeFile(tree() + "/" + name, "x");
  stamp(tree() + "/tmp/past", 0);
  stamp(tree() + "/tmp/future", ::time(nullptr) + 7200);
  stamp(tree() + "/locks/future.lock", int64_t(1) << 40);
  EXPECT_EQ(cache.prune(~uint64_t(0))->files, 3u);
  EXPECT_TRUE(cache.get(keyOf(0)));
}

TEST_F(CacheFaultTest, AStoppedOwnerDelaysForABoundedTime) {
  auto *ready = static_cast<std::atomic<int> *>(::mmap(nullptr, sizeof(std::atomic<int>),
                                                       PROT_READ | PROT_WRITE,
                                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(ready, MAP_FAILED);
  const pid_t owner = start([&] {
    DiskCache cache(options(cacheDir));
    auto lock = cache.lock(keyOf(0), 0ms);
    *ready = lock ? 1 : 2;
    for (;;)
      ::pause();
    return 0;
  });
  while (*ready == 0)
    std::this_thread::sleep_for(1ms);
  ASSERT_EQ(*ready, 1);
  ASSERT_EQ(::kill(owner, SIGSTOP), 0);
  Metrics metrics;
  KernelCache cache(std::make_unique<DiskCache>(options(cacheDir)), metrics, {.processWait = 50ms});
  const auto begin = std::chrono::steady_clock::now();
  auto found = cache.get(keyOf(0), [] { return Expected<Artifact>(artifactOf(0)); });
  EXPECT_TRUE(found && (*found)->artifact() == artifactOf(0));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  wait(owner);
  ::munmap(ready, sizeof(std::atomic<int>));
}

} // namespace
