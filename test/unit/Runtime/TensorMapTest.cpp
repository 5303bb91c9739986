#include "attn/Runtime/TensorMap.h"
#include "attn/Runtime/Launch.h"

#include "FakeCuda.h"
#include "TestUtils.h"

using namespace attn::rt;
using namespace attn::rt::test;

namespace {
/// A kernel that reads [batch, rows, 4, 64] through a map of boxes of 128 rows.
class TensorMaps : public testing::Test {
protected:
  void SetUp() override {
    takeOneTensorByMap(artifact.manifest);
    fake.paramCounts = {{"partial", 11}};
    fake.mapCounts = {{"partial", 1}};
  }

  TensorArg tensor(int64_t batch, int64_t rows) {
    return TensorArg::dense(memory.data(), ElementType::BF16, {batch, rows, 4, 64});
  }

  Status run(const TensorArg &q) {
    std::vector<Argument> arguments = {q};
    return launch(*Module::load(context, artifact).value(), arguments, workspace);
  }

  FakeCuda fake;
  Artifact artifact = sampleArtifact();
  CudaContextPtr context = fake.context();
  DeviceBuffer memory = DeviceBuffer::allocate(context, 1 << 20).value();
  Workspace workspace{context};
};
} // namespace

TEST_F(TensorMaps, ComeLastAndDescribeTheTensor) {
  ASSERT_TRUE(run(tensor(2, 100)));
  ASSERT_EQ(fake.launches.size(), 1u);
  const FakeLaunch &launched = fake.launches.front();
  // 200 tiles, but only as many blocks as there are multiprocessors.
  EXPECT_EQ(launched.grid[0], 108u);
  ASSERT_EQ(launched.maps.size(), 1u);
  // Columns, rows, heads, batch; the numbers of the enumerations are those of cuda.h.
  FakeTensorMap expected{.address = memory.data(),
                         .sizes = {64, 100, 4, 2},
                         .strides = {4 * 64 * 2, 64 * 2, 100 * 4 * 64 * 2},
                         .box = {64, 128, 1, 1},
                         .steps = {1, 1, 1, 1},
                         .rank = 4,
                         .elementType = 9,
                         .interleave = 0,
                         .swizzle = 3,
                         .promotion = 3,
                         .fill = 0};
  EXPECT_EQ(launched.maps.front(), expected);
}

TEST_F(TensorMaps, AreEncodedAgainWhenTheGeometryChanges) {
  ASSERT_TRUE(run(tensor(2, 100)));
  ASSERT_TRUE(run(tensor(2, 100)));
  EXPECT_EQ(fake.encodedMaps, 1);
  ASSERT_TRUE(run(tensor(2, 99)));
  EXPECT_EQ(fake.encodedMaps, 2);
  ASSERT_TRUE(run(tensor(2, 100)));
  EXPECT_EQ(fake.encodedMaps, 2);
  for (int64_t rows = 1; rows <= static_cast<int64_t>(TensorMapCache::kCapacity); ++rows)
    ASSERT_TRUE(run(tensor(3, rows)));
  ASSERT_TRUE(run(tensor(2, 100)));
  EXPECT_EQ(fake.encodedMaps, 3 + static_cast<int>(TensorMapCache::kCapacity));
}

TEST_F(TensorMaps, TheStrideOfASingleElementIsFree) {
  TensorArg q = tensor(1, 100);
  q.strides[0] = -7;
  EXPECT_TRUE(run(q));
}

TEST_F(TensorMaps, RefuseWhatHardwareCannotTake) {
  TensorArg backwards = tensor(2, 100);
  backwards.strides[1] = -256;
  Status status = run(backwards);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::BadInput);
  EXPECT_THAT(status.error().message, testing::HasSubstr("argument 'q': expected strides of 0 to "
                                                         "2^40 bytes"));
  fake.failures["cuTensorMapEncodeTiled"] = 1;
  status = run(tensor(2, 98));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              testing::HasSubstr("encoding the tensor map of argument 'q'"));
  EXPECT_TRUE(fake.launches.empty());
}

/// What a launch on a GPU and an emulated one both ask.
TEST_F(TensorMaps, GeometryKnowsTheLimitsOfSizes) {
  TensorArg q = tensor(2, int64_t(1) << 32);
  q.strides = {0, 0, 64, 1};
  const ArgumentSpec &argument = artifact.manifest.arguments[0];
  TensorGeometry geometry = describeTensorMap(argument, {0, 128, 64}, q).value();
  EXPECT_EQ(geometry.sizes[1], uint64_t(1) << 32);
  EXPECT_EQ(geometry.strides[0], 0u);
  ++q.sizes[1];
  Expected<TensorGeometry> refused = describeTensorMap(argument, {0, 128, 64}, q);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("argument 'q': expected at most 2^32 elements in dimension 1, got "
                                 "4294967297; split the tensor"));
}

TEST_F(TensorMaps, NeedADriverThatEncodesThem) {
  cuda::CudaApi api = fake.api();
  api.tensorMapEncodeTiled = nullptr;
  CudaDriver::Ptr old = CudaDriver::create(api).value();
  auto map = encodeTensorMap(*old, artifact.manifest.arguments[0], {0, 128, 64}, tensor(1, 1));
  ASSERT_FALSE(map);
  EXPECT_THAT(map.error().message, testing::HasSubstr("update the NVIDIA driver to CUDA 12.0"));
}

TEST_F(TensorMaps, ManifestsRoundTripAndAreChecked) {
  EXPECT_EQ(parseManifest(toJson(artifact.manifest)).value(), artifact.manifest);
  for (TensorMapSpec wrong : {TensorMapSpec{1, 128, 64}, TensorMapSpec{0, 0, 64},
                              TensorMapSpec{0, 257, 64}, TensorMapSpec{0, 128, 32}}) {
    artifact.manifest.kernels[0].tensorMaps = {wrong};
    EXPECT_FALSE(validate(artifact.manifest));
  }
}

TEST_F(TensorMaps, OfOneManifestAreAtMostWhatACallKeeps) {
  std::vector<KernelEntry> &kernels = artifact.manifest.kernels;
  kernels.push_back(kernels[0]);
  kernels[1].tensorMaps.assign(kMaxTensorMaps - 1, {0, 128, 64});
  EXPECT_TRUE(validate(artifact.manifest));
  kernels[0].tensorMaps.push_back({0, 64, 64});
  Status status = validate(artifact.manifest);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              testing::HasSubstr("at most 32 tensor maps over all kernels, got 33"));
}
