#include "attn/Runtime/Launch.h"

#include <set>

#include "FakeCuda.h"
#include "TestUtils.h"

using namespace attn::rt;
using namespace attn::rt::test;
using testing::HasSubstr;

namespace {
const auto kStream = reinterpret_cast<cuda::Stream>(0x70);
const auto kOtherStream = reinterpret_cast<cuda::Stream>(0x80);

/// Two persistent kernels over [batch, rows, 4, 64]: tensor, counter, tensor map.
class TileCounter : public testing::Test {
protected:
  void SetUp() override {
    Manifest &manifest = artifact.manifest;
    KernelEntry kernel = takeOneTensorByMap(manifest);
    kernel.tileCounter = true;
    manifest.kernels = {kernel, kernel};
    manifest.kernels[1].name = "merge";
    for (const char *name : {"partial", "merge"}) {
      fake.paramCounts[name] = 11 + 5;
      fake.mapCounts[name] = 1;
    }
  }

  Status run(Workspace &workspace, cuda::Stream stream, int64_t rows = 100) {
    std::vector<Argument> arguments = {
        TensorArg::dense(memory.data(), ElementType::BF16, {2, rows, 4, 64})};
    return launch(*Module::load(context, artifact).value(), arguments, workspace,
                  {.stream = stream});
  }

  /// Addresses of the counters, launch by launch.
  std::vector<uint64_t> counters() const {
    std::vector<uint64_t> found;
    for (const FakeLaunch &launched : fake.launches)
      found.push_back(launched.params[11]);
    return found;
  }

  FakeCuda fake;
  Artifact artifact = sampleArtifact();
  CudaContextPtr context = fake.context();
  DeviceBuffer memory = DeviceBuffer::allocate(context, 1 << 20).value();
  std::shared_ptr<TileCounters> pool = std::make_shared<TileCounters>(context);
  Workspace workspace{context, pool};
};
} // namespace

TEST_F(TileCounter, LiesBetweenArgumentsAndMaps) {
  ASSERT_TRUE(run(workspace, kStream));
  const FakeLaunch &launched = fake.launches.front();
  const uint64_t address = launched.params[11];
  EXPECT_THAT(std::vector(launched.params.begin() + 11, launched.params.end()),
              testing::ElementsAre(address, address, 0, 1, 1));
  EXPECT_EQ(*reinterpret_cast<const int32_t *>(address), 0);
  EXPECT_EQ(launched.maps.front().address, memory.data());
}

TEST_F(TileCounter, IsOneForAllLaunchesOfAStream) {
  Workspace other(context, pool);
  ASSERT_TRUE(run(workspace, kStream));
  ASSERT_TRUE(run(workspace, kStream));
  ASSERT_TRUE(run(other, kOtherStream));
  const uint64_t first = counters()[0], second = counters()[4];
  EXPECT_NE(first, second);
  EXPECT_THAT(counters(), testing::ElementsAre(first, first, first, first, second, second));
}

TEST_F(TileCounter, IsFreshForEachCapturedKernel) {
  ASSERT_TRUE(run(workspace, kStream));
  fake.capturing = {kStream, kOtherStream};
  ASSERT_TRUE(run(workspace, kStream));
  // A stream that has run nothing before: what another one has allocated will do.
  Workspace other(context, pool);
  ASSERT_TRUE(run(other, kOtherStream));
  fake.capturing.clear();
  ASSERT_TRUE(run(workspace, kStream));
  const std::vector<uint64_t> all = counters();
  EXPECT_EQ(std::set<uint64_t>(all.begin(), all.end()).size(), 5u);
  EXPECT_EQ(all.back(), all.front());
  for (uint64_t address : all)
    EXPECT_EQ(*reinterpret_cast<const int32_t *>(address), 0);
}

TEST_F(TileCounter, IsNotAllocatedDuringCapture) {
  fake.capturing = {kStream};
  const int before = fake.allocations;
  Status status = run(workspace, kStream);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Busy);
  EXPECT_THAT(status.error().message,
              HasSubstr("kernel 'partial': this call needs tile counters of 1048576 bytes, which "
                        "cannot be allocated while a CUDA graph is captured; make the call once "
                        "before the capture"));
  EXPECT_EQ(fake.allocations, before);
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(TileCounter, IsNotTakenForAnEmptyGrid) {
  fake.capturing = {kStream};
  EXPECT_TRUE(run(workspace, kStream, 0));
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(TileCounter, ThatNobodyHasMayNotBeLeft) {
  ASSERT_TRUE(run(workspace, kStream));
  std::set<void *> taken;
  for (size_t i = 1; i < TileCounters::kCapacity; ++i)
    taken.insert(pool->take(kStream).value().data);
  EXPECT_EQ(taken.size(), TileCounters::kCapacity - 1);
  // Launches outside of graphs go on.
  EXPECT_TRUE(run(workspace, kStream));
  fake.launches.clear();
  fake.capturing = {kStream};
  Status status = run(workspace, kStream);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Busy);
  EXPECT_THAT(status.error().message,
              testing::AllOf(HasSubstr("all 262144 tile counters are taken"),
                             HasSubstr("persistent = static")));
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(TileCounter, WithoutMemoryIsAnError) {
  fake.failures["cuMemAlloc"] = cuda::kOutOfMemory;
  Status status = run(workspace, kStream);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(status.error().message, HasSubstr("tile counters: CUDA device 0 is out of memory"));
  fake.failures.clear();
  EXPECT_TRUE(run(workspace, kStream));
}

TEST_F(TileCounter, RoundTripsInManifests) {
  artifact.manifest.kernels[1].tileCounter = false;
  EXPECT_EQ(parseManifest(toJson(artifact.manifest)).value(), artifact.manifest);
}
