#include "attn/Runtime/CudaDriver.h"
#include "FakeCuda.h"
#include "TestUtils.h"

using namespace attn::rt;
using namespace attn::rt::test;

TEST(CudaDriver, MissingLibraryIsNamed) {
  auto driver = CudaDriver::load("libattn-no-such-driver.so.1");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(driver.error().message,
              testing::AllOf(testing::HasSubstr("'libattn-no-such-driver.so.1'"),
                             testing::HasSubstr("install the NVIDIA driver")));
}

TEST(CudaDriver, ALibraryWithoutTheSymbolsIsTooOld) {
  auto driver = CudaDriver::load("libc.so.6");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(driver.error().message,
              testing::AllOf(testing::HasSubstr("has no cuInit"), testing::HasSubstr("11.0")));
}

TEST(CudaDriver, TooOldNamesBothVersions) {
  FakeCuda fake;
  fake.version = 10020;
  auto driver = CudaDriver::create(fake.api());
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(driver.error().message,
              testing::HasSubstr("found CUDA 10.2, required 11.0 or later"));
}

TEST(CudaDriver, NoDevice) {
  FakeCuda fake;
  fake.failures["cuInit"] = cuda::kNoDevice;
  EXPECT_THAT(CudaDriver::create(fake.api()).error().message, testing::HasSubstr("no device"));
  fake.failures.clear();
  fake.devices = 0;
  EXPECT_THAT(CudaDriver::create(fake.api()).error().message, testing::HasSubstr("no device"));
}

TEST(CudaDriver, FailedInitialisationSaysHow) {
  FakeCuda fake;
  fake.failures["cuInit"] = 803;
  auto driver = CudaDriver::create(fake.api());
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(driver.error().message,
              testing::HasSubstr("CUDA_ERROR_FAKE (803), as the test asked"));
}

TEST(CudaDriver, DeviceInfo) {
  FakeCuda fake;
  auto driver = CudaDriver::create(fake.api()).value();
  std::vector<DeviceInfo> devices = driver->listDevices().value();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].ordinal, 1);
  EXPECT_EQ(devices[1].name, "Fake A100");
  EXPECT_EQ(devices[1].chip(), "sm_80");
  EXPECT_EQ(devices[1].multiprocessors, 108);
  EXPECT_EQ(devices[1].sharedBytesPerBlock, 163 * 1024);
  EXPECT_EQ(devices[1].l2Bytes, 40 << 20);
  EXPECT_EQ(devices[1].memoryBytes, int64_t(80) << 30);
  EXPECT_EQ(devices[1].driverVersion, 12040);
  for (int ordinal : {-1, 2}) {
    auto info = driver->deviceInfo(ordinal);
    ASSERT_FALSE(info);
    EXPECT_EQ(info.error().code, ErrorCode::BadInput);
    EXPECT_THAT(info.error().message, testing::HasSubstr("expected 0 to 1"));
  }
}

TEST(CudaContext, BalancesWhatItTakes) {
  FakeCuda fake;
  {
    CudaContextPtr context = fake.context(1);
    DeviceBuffer buffer = DeviceBuffer::allocate(context, 64).value();
    EXPECT_EQ(fake.memory.begin()->second.second, 1);
    const char text[] = "attention";
    char back[sizeof(text)] = {};
    ASSERT_TRUE(context->copyToDevice(buffer.address(), text, sizeof(text)));
    ASSERT_TRUE(context->copyToHost(back, buffer.address(), sizeof(text)));
    EXPECT_STREQ(back, text);
    ASSERT_TRUE(context->fill(buffer.address(), 7, 64));
    ASSERT_TRUE(context->synchronize());
    CudaStream stream = CudaStream::create(context).value();
    ASSERT_TRUE(stream.synchronize());
    CudaTimer timer = CudaTimer::create(context).value();
    ASSERT_TRUE(timer.start(stream.handle()));
    ASSERT_TRUE(timer.stop(stream.handle()));
    EXPECT_EQ(timer.elapsedMs().value(), 1.5f);
    DeviceBuffer moved = std::move(buffer);
    EXPECT_EQ(moved.size(), 64u);
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(DeviceBuffer::allocate(context, 0).value().data(), nullptr);
  }
  EXPECT_TRUE(fake.memory.empty());
  EXPECT_EQ(fake.contextDepth, 0);
  EXPECT_EQ(fake.retained, 0);
}

TEST(CudaContext, OutOfMemoryNamesTheSizes) {
  FakeCuda fake;
  CudaContextPtr context = fake.context();
  fake.failures["cuMemAlloc"] = cuda::kOutOfMemory;
  auto buffer = DeviceBuffer::allocate(context, 4096);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(buffer.error().message,
              testing::HasSubstr("asked for 4096 bytes, 1000 of 2000 are free"));
}

TEST(CudaContext, ABusyDeviceIsUnavailable) {
  FakeCuda fake;
  fake.failures["cuDevicePrimaryCtxRetain"] = 46;
  auto context = CudaContext::create(CudaDriver::create(fake.api()).value(), 0);
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(context.error().message, testing::HasSubstr("device 0 (Fake A100)"));
}
