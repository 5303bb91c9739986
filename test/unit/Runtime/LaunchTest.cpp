#include "attn/Runtime/Launch.h"
#include <functional>

#include "FakeCuda.h"
#include "TestUtils.h"

using namespace attn::rt;
using namespace attn::rt::test;

namespace {
DeviceInfo deviceOf(int major, int minor) {
  DeviceInfo device;
  device.name = "Test GPU";
  device.computeMajor = major;
  device.computeMinor = minor;
  return device;
}

/// The sample artifact on a fake device, with tensors of [batch, rows, 64].
class Launch : public testing::Test {
protected:
  void SetUp() override {
    fake.paramCounts = {{"partial", 9 + 9 + 1 + 1 + 9 + 5}, {"merge", 9 + 5 + 9}};
  }

  std::vector<Argument> arguments(int64_t batch, int64_t rows) {
    return {TensorArg::dense(memory.data(), ElementType::BF16, {batch, rows, 64}),
            TensorArg::dense(memory.data(), ElementType::BF16, {batch, 3, 64}),
            TensorArg::dense(memory.data(), ElementType::F32, {batch, rows, 64}), ScalarArg(1.0f),
            ScalarArg(int64_t(9))};
  }

  static std::string failureOf(const Status &status) {
    EXPECT_FALSE(status);
    return status ? "" : status.error().message;
  }

  FakeCuda fake;
  CudaContextPtr context = fake.context();
  DeviceBuffer memory = DeviceBuffer::allocate(context, 1 << 20).value();
  Workspace workspace{context};
};
} // namespace

TEST(CheckChip, Compatibility) {
  struct Case {
    const char *chip;
    PayloadKind kind;
    int major, minor;
    bool fits;
  };
  const Case cases[] = {
      {"sm_80", PayloadKind::Ptx, 8, 0, true},     {"sm_80", PayloadKind::Ptx, 9, 0, true},
      {"sm_80", PayloadKind::Ptx, 7, 5, false},    {"sm_80", PayloadKind::Cubin, 8, 6, true},
      {"sm_80", PayloadKind::Cubin, 9, 0, false},  {"sm_86", PayloadKind::Cubin, 8, 0, false},
      {"sm_90a", PayloadKind::Ptx, 9, 0, true},    {"sm_90a", PayloadKind::Ptx, 10, 0, false},
      {"sm_90a", PayloadKind::Cubin, 8, 0, false}, {"sm_100f", PayloadKind::Ptx, 10, 3, true},
      {"sm_100f", PayloadKind::Ptx, 12, 0, false}, {"sm_120", PayloadKind::Ptx, 10, 0, false}};
  for (const Case &each : cases)
    EXPECT_EQ(bool(checkChip(each.chip, each.kind, deviceOf(each.major, each.minor))), each.fits)
        << each.chip << " on " << each.major << "." << each.minor;
}

TEST(CheckChip, NamesBoth) {
  Status status = checkChip("sm_90a", PayloadKind::Ptx, deviceOf(8, 0));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(status.error().message,
              testing::HasSubstr("a ptx for sm_90a does not run on device 0 (Test GPU, sm_80)"));
  for (const char *chip : {"", "sm_", "sm_a", "sm_8", "gfx90a", "sm_80x", "sm_99999999999"})
    EXPECT_EQ(checkChip(chip, PayloadKind::Ptx, deviceOf(9, 0)).error().code, ErrorCode::Corrupt)
        << chip;
}

TEST_F(Launch, LoadsOptsInAndUnloads) {
  fake.jitInfo = "ptxas info";
  {
    Module::Ptr module = Module::load(context, sampleArtifact()).value();
    EXPECT_EQ(fake.loadedImage, sampleArtifact().payload);
    EXPECT_EQ(module->jitLog(), "ptxas info");
    EXPECT_EQ(module->functionInfo(0).registers, 32);
    // Only the kernel above 48 KB opts in.
    EXPECT_THAT(fake.dynamicSharedOptIns,
                testing::ElementsAre(testing::Pair("partial", 64 * 1024)));
  }
  EXPECT_EQ(fake.unloads, 1);
  EXPECT_EQ(fake.contextDepth, 0);
}

TEST_F(Launch, LoadFailuresSayWhatAndWhy) {
  struct Case {
    const char *message;
    ErrorCode code;
    std::function<void(FakeCuda &, Artifact &)> spoil;
  };
  const Case cases[] = {
      {"for sm_90a does not run", ErrorCode::Unavailable,
       [](FakeCuda &, Artifact &a) { a.manifest.chip = "sm_90a"; }},
      {"needs a driver for CUDA 13.0 or later, found CUDA 12.4", ErrorCode::Unavailable,
       [](FakeCuda &, Artifact &a) { a.manifest.minDriverVersion = 13000; }},
      {"'partial' needs 204800 bytes of shared memory per block, device 0 (Fake A100) has 166912",
       ErrorCode::Unavailable,
       [](FakeCuda &, Artifact &a) { a.manifest.kernels[0].dynamicSharedBytes = 200 * 1024; }},
      {"there is no kernel", ErrorCode::Internal,
       [](FakeCuda &, Artifact &a) { a.manifest.kernels.clear(); }},
      {"driver log:\nline 7: parse error", ErrorCode::Corrupt,
       [](FakeCuda &f, Artifact &) {
         f.failures["cuModuleLoadDataEx"] = cuda::kInvalidPtx;
         f.jitErrors = "line 7: parse error";
       }},
      {"the driver (CUDA 12.4) is older than the PTX version", ErrorCode::Unavailable,
       [](FakeCuda &f, Artifact &) {
         f.failures["cuModuleLoadDataEx"] = cuda::kUnsupportedPtxVersion;
       }},
      {"'merge': the manifest names it, the payload has no such entry", ErrorCode::Corrupt,
       [](FakeCuda &f, Artifact &) { f.kernels.erase("merge"); }},
      {"needs 128 threads per block, with its 255 registers the device allows 64",
       ErrorCode::Unavailable,
       [](FakeCuda &f, Artifact &) {
         f.functionAttributes[cuda::kFuncMaxThreadsPerBlock] = 64;
         f.functionAttributes[cuda::kFuncNumRegs] = 255;
       }},
      {"opting in to 65536 bytes", ErrorCode::Internal,
       [](FakeCuda &f, Artifact &) { f.failures["cuFuncSetAttribute"] = 1; }},
  };
  for (const Case &each : cases) {
    FakeCuda machine;
    Artifact artifact = sampleArtifact();
    each.spoil(machine, artifact);
    auto module = Module::load(machine.context(), artifact);
    ASSERT_FALSE(module) << each.message;
    EXPECT_EQ(module.error().code, each.code) << each.message;
    EXPECT_THAT(module.error().message, testing::HasSubstr(each.message));
    EXPECT_EQ(machine.contextDepth, 0);
  }
}

TEST_F(Launch, PacksParametersAndGrids) {
  Module::Ptr module = Module::load(context, sampleArtifact()).value();
  auto stream = reinterpret_cast<cuda::Stream>(&fake);
  ASSERT_TRUE(launch(*module, arguments(2, 129), workspace, {stream, true}));
  ASSERT_EQ(fake.launches.size(), 2u);

  const FakeLaunch &partial = fake.launches[0];
  EXPECT_EQ(partial.kernel, "partial");
  EXPECT_THAT(partial.grid, testing::ElementsAre(2 * 2 * 2, 1, 1));
  EXPECT_THAT(partial.block, testing::ElementsAre(128, 1, 1));
  EXPECT_EQ(partial.sharedBytes, 64u * 1024);
  EXPECT_EQ(partial.stream, stream);
  const uint64_t tensor = memory.address();
  const uint64_t first = reinterpret_cast<uintptr_t>(workspace.data());
  const uint64_t second = first + 2 * 258 * 64 * 4;
  EXPECT_THAT(partial.params,
              testing::ElementsAreArray<uint64_t>(
                  {tensor,     tensor, 0, 2,   129, 64, 129 * 64, 64, 1, // q
                   tensor,     tensor, 0, 2,   3,   64, 3 * 64,   64, 1, // k
                   0x3f800000, 9,                                        // scale, window
                   first,      first,  0, 2,   258, 64, 258 * 64, 64, 1, // first workspace
                   second,     second, 0, 258, 1}));                     // second workspace

  const FakeLaunch &merge = fake.launches[1];
  EXPECT_EQ(merge.kernel, "merge");
  EXPECT_THAT(merge.grid, testing::ElementsAre(258, 1, 1));
  EXPECT_THAT(merge.block, testing::ElementsAre(64, 1, 1));
  EXPECT_EQ(merge.sharedBytes, 0u);
  EXPECT_EQ(merge.params.front(), first);
  EXPECT_EQ(merge.params[9], second);
  EXPECT_EQ(merge.params[14], tensor);
  EXPECT_EQ(fake.contextDepth, 0);
}

TEST_F(Launch, AnEmptyGridLaunchesNothing) {
  Module::Ptr module = Module::load(context, sampleArtifact()).value();
  EXPECT_TRUE(launch(*module, arguments(0, 5), workspace));
  EXPECT_TRUE(launch(*module, arguments(2, 0), workspace));
  EXPECT_TRUE(fake.launches.empty());
  EXPECT_EQ(workspace.capacity(), 0u);
}

TEST_F(Launch, TheWorkspaceIsKeptAndGrows) {
  Module::Ptr module = Module::load(context, sampleArtifact()).value();
  ASSERT_TRUE(launch(*module, arguments(2, 64), workspace));
  const int before = fake.allocations;
  const size_t capacity = workspace.capacity();
  ASSERT_TRUE(launch(*module, arguments(2, 64), workspace));
  ASSERT_TRUE(launch(*module, arguments(1, 64), workspace));
  EXPECT_EQ(fake.allocations, before);
  ASSERT_TRUE(launch(*module, arguments(4, 64), workspace));
  EXPECT_EQ(fake.allocations, before + 1);
  EXPECT_GT(workspace.capacity(), capacity);
  fake.failures["cuMemAlloc"] = cuda::kOutOfMemory;
  EXPECT_THAT(failureOf(launch(*module, arguments(8, 64), workspace)),
              testing::HasSubstr("workspace of"));
}

TEST_F(Launch, NothingIsLaunchedWhenACheckFails) {
  Module::Ptr module = Module::load(context, sampleArtifact()).value();
  std::vector<Argument> wrongType = arguments(1, 1);
  std::get<TensorArg>(wrongType[0]).elementType = ElementType::F16;
  EXPECT_THAT(failureOf(launch(*module, wrongType, workspace)), testing::HasSubstr("'q'"));

  std::vector<Argument> tooMany = arguments(1, 1);
  for (int i : {0, 2})
    std::get<TensorArg>(tooMany[i]).sizes[1] = int64_t(1) << 40;
  EXPECT_THAT(failureOf(launch(*module, tooMany, workspace)),
              testing::HasSubstr("the limit is 2147483647"));

  alignas(16) static char host[64 * 4];
  std::vector<Argument> onHost = arguments(1, 1);
  std::get<TensorArg>(onHost[2]).data = host;
  EXPECT_THAT(failureOf(launch(*module, onHost, workspace)),
              testing::HasSubstr("argument 'o': expected memory of device 0, got an address the "
                                 "CUDA driver does not know"));

  DeviceBuffer elsewhere = DeviceBuffer::allocate(fake.context(1), 1024).value();
  std::vector<Argument> onOther = arguments(1, 1);
  std::get<TensorArg>(onOther[0]).data = elsewhere.data();
  EXPECT_THAT(failureOf(launch(*module, onOther, workspace)),
              testing::HasSubstr("argument 'q': expected memory of device 0, got memory of "
                                 "device 1"));

  Workspace otherWorkspace(fake.context(1));
  EXPECT_THAT(failureOf(launch(*module, arguments(1, 1), otherWorkspace)),
              testing::HasSubstr("expected a workspace of device 0, got one of device 1"));
  EXPECT_TRUE(fake.launches.empty());

  EXPECT_TRUE(launch(*module, onOther, workspace, {nullptr, /*checkPointers=*/false}));
  EXPECT_EQ(fake.launches.size(), 2u);
}

TEST_F(Launch, AFailedLaunchNamesTheKernelAndItsShape) {
  Module::Ptr module = Module::load(context, sampleArtifact()).value();
  fake.failures["cuLaunchKernel"] = 701;
  EXPECT_THAT(failureOf(launch(*module, arguments(1, 1), workspace)),
              testing::HasSubstr("launching kernel 'partial' (2 blocks of 128 threads, 65536 bytes "
                                 "of dynamic shared memory) failed: CUDA_ERROR_FAKE (701)"));
}
