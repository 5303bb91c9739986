//===- NvtxTest.cpp - What a profiler sees of launches --------------------===//
//
// In a program of its own: NVTX looks for a profiler once in a process.
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Nvtx.h"

#include "FakeCuda.h"
#include "TestUtils.h"
#include "attn/Runtime/Launch.h"

using namespace attn::rt;
using namespace attn::rt::test;

TEST(Nvtx, EachLaunchIsARangeNamedByItsKernel) {
  ASSERT_TRUE(hasNvtx());
  TempDir folder;
  const std::string path = folder / "ranges";
  setenv("ATTN_TEST_RANGES", path.c_str(), 1);
  setenv("NVTX_INJECTION64_PATH", ATTN_FAKE_PROFILER, 1);

  FakeCuda fake;
  fake.paramCounts = {{"partial", 9 + 9 + 1 + 1 + 9 + 5}, {"merge", 9 + 5 + 9}};
  CudaContextPtr context = fake.context();
  Module::Ptr module = Module::load(context, sampleArtifact()).value();
  DeviceBuffer memory = DeviceBuffer::allocate(context, 1 << 20).value();
  Workspace workspace(context);
  const std::vector<Argument> arguments = {
      TensorArg::dense(memory.data(), ElementType::BF16, {2, 5, 64}),
      TensorArg::dense(memory.data(), ElementType::BF16, {2, 3, 64}),
      TensorArg::dense(memory.data(), ElementType::F32, {2, 5, 64}), ScalarArg(1.0f),
      ScalarArg(int64_t(9))};
  ASSERT_TRUE(launch(*module, arguments, workspace));
  // A launch that fails ends its range too.
  fake.failures["cuLaunchKernel"] = cuda::kInvalidPtx;
  ASSERT_FALSE(launch(*module, arguments, workspace));

  EXPECT_EQ(readFile(path), "domain attn\npush partial\npop\npush merge\npop\npush partial\npop\n");
}
