//===- GpuTest.cpp - The runtime on the machine's own driver --------------===//

#include <cstring>

#include "TestUtils.h"
#include "attn/Runtime/Launch.h"

using namespace attn::rt;
using namespace attn::rt::test;

namespace {
/// y[i] = a * x[i] + workspace[0], where the first kernel sets workspace[0] = 1.
/// The second takes its block's elements through dynamic shared memory.
constexpr const char *kPtx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry prepare(.param .u64 w0, .param .u64 w1, .param .u64 w2, .param .u64 w3,
                        .param .u64 w4) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [w1];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.f32 [%rd2], 0f3F800000;
  ret;
}
.extern .shared .align 16 .b8 scratch[];
.visible .entry axpb(.param .u64 x0, .param .u64 x1, .param .u64 x2, .param .u64 x3, .param .u64 x4,
                     .param .u64 y0, .param .u64 y1, .param .u64 y2, .param .u64 y3, .param .u64 y4,
                     .param .f32 a,
                     .param .u64 w0, .param .u64 w1, .param .u64 w2, .param .u64 w3,
                     .param .u64 w4) {
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<12>;
  .reg .f32 %f<6>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 128, %r2;
  cvt.u64.u32 %rd1, %r3;
  ld.param.u64 %rd2, [x3];
  setp.ge.u64 %p1, %rd1, %rd2;
  @%p1 bra done;
  ld.param.u64 %rd3, [x1];
  ld.param.u64 %rd4, [y1];
  ld.param.u64 %rd5, [w1];
  ld.param.f32 %f1, [a];
  cvta.to.global.u64 %rd3, %rd3;
  cvta.to.global.u64 %rd4, %rd4;
  cvta.to.global.u64 %rd5, %rd5;
  shl.b64 %rd6, %rd1, 2;
  add.s64 %rd7, %rd3, %rd6;
  add.s64 %rd8, %rd4, %rd6;
  ld.global.f32 %f2, [%rd7];
  ld.global.f32 %f3, [%rd5];
  mov.u32 %r4, scratch;
  shl.b32 %r5, %r2, 2;
  add.s32 %r4, %r4, %r5;
  st.shared.f32 [%r4+65024], %f2;
  ld.shared.f32 %f2, [%r4+65024];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd8], %f4;
done:
  ret;
}
)";

Artifact axpbArtifact() {
  Artifact artifact;
  artifact.payload = kPtx;
  artifact.manifest.chip = "sm_80";
  artifact.manifest.arguments = {ArgumentSpec::memref("x", ElementType::F32, {kDynamic}, 4),
                                 ArgumentSpec::memref("y", ElementType::F32, {kDynamic}, 4),
                                 ArgumentSpec::scalar("a", ArgumentKind::F32)};
  artifact.manifest.equalSizes = {{{0, 0}, {1, 0}}};
  artifact.manifest.workspaces = {{ElementType::F32, {SizeExpr{SizeFactor::constant(1)}}}};
  KernelEntry prepare;
  prepare.name = "prepare";
  prepare.threads = 1;
  prepare.arguments = {3};
  KernelEntry axpb;
  axpb.name = "axpb";
  axpb.grid = {SizeFactor::size(0, 0, 128)};
  axpb.dynamicSharedBytes = 65024 + 128 * 4;
  axpb.arguments = {0, 1, 2, 3};
  artifact.manifest.kernels = {prepare, axpb};
  return artifact;
}

class Gpu : public testing::Test {
protected:
  void SetUp() override {
    auto driver = CudaDriver::load();
    if (!driver)
      GTEST_SKIP() << driver.error().message;
    context = CudaContext::create(*driver, 0).value();
    if (Status fits = checkChip("sm_80", PayloadKind::Ptx, context->device()); !fits)
      GTEST_SKIP() << fits.error().message;
  }

  CudaContextPtr context;
};
} // namespace

TEST_F(Gpu, LaunchesFromTheManifest) {
  auto module = Module::load(context, axpbArtifact());
  ASSERT_TRUE(module) << module.error().message;
  CudaStream stream = CudaStream::create(context).value();
  CudaTimer timer = CudaTimer::create(context).value();
  Workspace workspace(context);
  for (int64_t n : {0, 1, 127, 128, 129, 100003}) {
    std::vector<float> x(n), y(n);
    for (int64_t i = 0; i < n; ++i)
      x[i] = static_cast<float>(i % 1000);
    DeviceBuffer dx = DeviceBuffer::allocate(context, n * sizeof(float)).value();
    DeviceBuffer dy = DeviceBuffer::allocate(context, n * sizeof(float)).value();
    ASSERT_TRUE(context->copyToDevice(dx.address(), x.data(), dx.size()));
    const Argument arguments[] = {TensorArg::dense(dx.data(), ElementType::F32, {n}),
                                  TensorArg::dense(dy.data(), ElementType::F32, {n}),
                                  ScalarArg(2.0f)};
    ASSERT_TRUE(timer.start(stream.handle()));
    Status launched = launch(**module, arguments, workspace, {stream.handle(), true});
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(timer.stop(stream.handle()));
    EXPECT_GE(timer.elapsedMs().value(), 0.0f);
    ASSERT_TRUE(context->copyToHost(y.data(), dy.address(), dy.size()));
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y[i], 2 * x[i] + 1) << "n " << n << " element " << i;
  }
}

TEST_F(Gpu, HostMemoryIsRefused) {
  auto module = Module::load(context, axpbArtifact());
  ASSERT_TRUE(module) << module.error().message;
  std::vector<float> host(8);
  const Argument arguments[] = {TensorArg::dense(host.data(), ElementType::F32, {8}),
                                TensorArg::dense(host.data(), ElementType::F32, {8}),
                                ScalarArg(2.0f)};
  Workspace workspace(context);
  Status launched = launch(**module, arguments, workspace);
  ASSERT_FALSE(launched);
  EXPECT_THAT(launched.error().message, testing::HasSubstr("argument 'x'"));
}

TEST_F(Gpu, BadPtxComesWithTheDriversLog) {
  Artifact artifact = axpbArtifact();
  artifact.payload = ".version 7.0\n.target sm_80\n.address_size 64\nnonsense;\n";
  auto module = Module::load(context, artifact);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(module.error().message, testing::HasSubstr("driver log:"));
}

TEST_F(Gpu, TooMuchSharedMemoryIsRefused) {
  Artifact artifact = axpbArtifact();
  artifact.manifest.kernels[1].dynamicSharedBytes = 1 << 20;
  auto module = Module::load(context, artifact);
  ASSERT_FALSE(module);
  EXPECT_THAT(module.error().message, testing::HasSubstr("1048576 bytes of shared memory"));
}
