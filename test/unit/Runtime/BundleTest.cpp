#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "CacheFixture.h"
#include "attn/Runtime/Bundle.h"
#include "attn/Runtime/KernelCache.h"
#include "attn/Runtime/SpecRecorder.h"

using namespace attn::rt;
using namespace attn::rt::test;
namespace fs = std::filesystem;
using testing::HasSubstr;

namespace {

class BundleTest : public CacheFixture {
protected:
  static BundleKernel kernelOf(int number, const std::string &target = "sm_80") {
    return {"head_dim=" + std::to_string(8 * number),
            target,
            PayloadKind::Ptx,
            keyOf(1000 + number),
            keyOf(number),
            {"remark " + std::to_string(number)}};
  }
  /// Three kernels.
  void publish(const std::string &payload = "code") {
    BundleWriter writer("attn test");
    for (int i : {1, 2, 3})
      ASSERT_TRUE(writer.add(kernelOf(i), sampleArtifact(payload + std::to_string(i))));
    Status status = writer.publish(path);
    ASSERT_TRUE(status) << status.error().message;
  }
  std::string path = temp / "kernels.attnb";
};

TEST_F(BundleTest, FindsAndReadsKernels) {
  publish();
  auto bundle = Bundle::open(path);
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ((*bundle)->compiler(), "attn test");
  EXPECT_THAT((*bundle)->kernels(), testing::ElementsAre(kernelOf(1), kernelOf(2), kernelOf(3)));
  const BundleKernel *found = (*bundle)->find("head_dim=16", "sm_80", PayloadKind::Ptx);
  ASSERT_TRUE(found);
  EXPECT_EQ(found, (*bundle)->resolve(keyOf(1002)));
  EXPECT_EQ((*bundle)->get(found->key)->payload, "code2");
  EXPECT_EQ((*bundle)->get(found->key)->manifest, sampleArtifact().manifest);
  EXPECT_FALSE((*bundle)->find("head_dim=16", "sm_90a", PayloadKind::Ptx));
  EXPECT_FALSE((*bundle)->find("head_dim=16", "sm_80", PayloadKind::Cubin));
  EXPECT_FALSE((*bundle)->resolve(keyOf(7)));
  EXPECT_EQ((*bundle)->get(keyOf(7)).error().code, ErrorCode::NotFound);
  EXPECT_TRUE((*bundle)->verify().empty());
}

TEST_F(BundleTest, EqualKeysShareAnArtifact) {
  BundleWriter writer("attn test");
  BundleKernel twin = kernelOf(1);
  twin.spec = "head_dim=8 lse=true";
  twin.alias = keyOf(2000);
  ASSERT_TRUE(writer.add(kernelOf(1), sampleArtifact()));
  ASSERT_TRUE(writer.add(twin, sampleArtifact()));
  ASSERT_TRUE(writer.publish(path));
  auto bundle = Bundle::open(path);
  ASSERT_TRUE(bundle);
  EXPECT_EQ((*bundle)->kernels().size(), 2u);
  EXPECT_EQ((*bundle)->numArtifacts(), 1u);
}

TEST_F(BundleTest, ReplacingDoesNotDisturbReaders) {
  publish("old");
  auto before = Bundle::open(path);
  publish("new");
  EXPECT_EQ((*before)->get(keyOf(1))->payload, "old1");
  EXPECT_EQ((*Bundle::open(path))->get(keyOf(1))->payload, "new1");
  EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator()), 1);
}

TEST_F(BundleTest, NothingDamagedIsRead) {
  publish();
  const std::string good = readFile(path);
  // Every byte flipped in turn: the kernels are those that were written, or there is an error.
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    // A file of its own: some file systems flush one that is written over.
    fs::remove(path);
    writeFile(path, bytes);
    auto bundle = Bundle::open(path);
    if (!bundle) {
      EXPECT_TRUE(bundle.error().code == ErrorCode::Corrupt ||
                  bundle.error().code == ErrorCode::Stale);
      EXPECT_THAT(bundle.error().message, HasSubstr(path));
      continue;
    }
    EXPECT_EQ((*bundle)->verify().size(), 1u) << at;
    for (int i : {1, 2, 3})
      if (auto artifact = (*bundle)->get(keyOf(i)))
        EXPECT_EQ(*artifact, sampleArtifact("code" + std::to_string(i)));
  }
  for (size_t size = 0; size < good.size(); size += 7) {
    writeFile(path, good.substr(0, size));
    EXPECT_EQ(Bundle::open(path).error().code, ErrorCode::Corrupt) << size;
  }
}

TEST_F(BundleTest, TruncationUnderAReaderIsAnError) {
  publish();
  auto bundle = Bundle::open(path);
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  auto artifact = (*bundle)->get(keyOf(1));
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(artifact.error().message, HasSubstr("truncated while it was read"));
}

TEST_F(BundleTest, RefusesFilesThatOthersControl) {
  EXPECT_EQ(Bundle::open(path).error().code, ErrorCode::NotFound);
  publish();
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(Bundle::open(path).error().code, ErrorCode::Unavailable);
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_EQ(Bundle::open(path).error().code, ErrorCode::Unavailable);
}

TEST_F(BundleTest, LiesUnderTheCache) {
  publish();
  DiskCacheOptions layered = options(cacheDir);
  layered.bundles = {*Bundle::open(path)};
  DiskCache cache(layered);
  EXPECT_EQ(cache.get(keyOf(1))->payload, "code1");
  EXPECT_EQ(cache.resolve(keyOf(1001)), (AliasTarget{keyOf(1), {"remark 1"}}));
  ASSERT_TRUE(cache.put(keyOf(1), sampleArtifact("own")));
  EXPECT_EQ(cache.get(keyOf(1))->payload, "own");
  // What is in the bundle alone can be linked to as well.
  EXPECT_TRUE(cache.link(keyOf(3000), {keyOf(2), {}}));
  EXPECT_EQ(cache.stat()->entries, 1u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(BundleTest, ServesWithoutADirectory) {
  publish();
  Metrics metrics;
  auto disk = std::make_unique<DiskCache>(options(""));
  disk->addBundle(*Bundle::open(path));
  KernelCache kernels(std::move(disk), metrics);
  auto found = kernels.findAliased({keyOf(1003)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->artifact->artifact().payload, "code3");
  auto made = kernels.get(keyOf(9), [] { return Expected<Artifact>(sampleArtifact("made")); });
  EXPECT_EQ((*made)->artifact().payload, "made");
  EXPECT_EQ(metrics.counter(metric::kCompiles).value(), 1u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(BundleTest, PublishingIntoNothingFails) {
  BundleWriter writer("attn test");
  Status status = writer.publish(temp / "no/such/folder");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::BadInput);
  EXPECT_THAT(status.error().message, HasSubstr("no/such"));
}

TEST_F(BundleTest, RecordingsHaveEachKernelOnce) {
  const std::string file = temp / "asked.jsonl";
  for (int round = 0; round < 2; ++round) {
    auto recorder = SpecRecorder::open(file);
    ASSERT_TRUE(recorder) << recorder.error().message;
    EXPECT_TRUE((*recorder)->record("head_dim=8", "cpu"));
    EXPECT_TRUE((*recorder)->record("head_dim=8", "cpu"));
    EXPECT_TRUE((*recorder)->record("head_dim=8", "sm_80"));
  }
  EXPECT_EQ(readFile(file), "{\"spec\":\"head_dim=8\",\"target\":\"cpu\"}\n"
                            "{\"spec\":\"head_dim=8\",\"target\":\"sm_80\"}\n");
  // After a writer that was killed.
  writeFile(file, "{\"spec\":\"head");
  ASSERT_TRUE((*SpecRecorder::open(file))->record("head_dim=16", "cpu"));
  EXPECT_EQ(readFile(file), "{\"spec\":\"head\n{\"spec\":\"head_dim=16\",\"target\":\"cpu\"}\n");
  EXPECT_EQ(SpecRecorder::open(temp / "no/folder").error().code, ErrorCode::Unavailable);
}

} // namespace
