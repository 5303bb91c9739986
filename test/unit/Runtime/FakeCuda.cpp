//===- FakeCuda.cpp - A CUDA driver that only remembers -------------------===//

#include "FakeCuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace attn::rt::test {

using namespace attn::rt::cuda;

/// The driver's functions carry no state, so the one in use is global.
static FakeCuda *fake = nullptr;
static int currentDevice = 0;

static constexpr Result kInvalidValue = 1;

static Result outcome(const std::string &function) {
  auto it = fake->failures.find(function);
  return it == fake->failures.end() ? kSuccess : it->second;
}

/// Contexts are told apart by their device; their address is never read.
static Context contextOf(Device device) {
  return reinterpret_cast<Context>(static_cast<uintptr_t>(device) + 1);
}

static Result deviceAttribute(int *value, int attribute, Device device) {
  auto other = fake->computeMajorOf.find(device);
  const int major = other == fake->computeMajorOf.end() ? fake->computeMajor : other->second;
  const std::map<int, int> values = {{kComputeCapabilityMajor, major},
                                     {kComputeCapabilityMinor, fake->computeMinor},
                                     {kMultiprocessorCount, 108},
                                     {kMaxThreadsPerBlock, 1024},
                                     {kMaxSharedMemoryPerBlockOptin, fake->sharedBytesPerBlock},
                                     {kMaxSharedMemoryPerMultiprocessor, 164 * 1024},
                                     {kMaxRegistersPerMultiprocessor, 65536},
                                     {kL2CacheSize, 40 << 20}};
  auto it = values.find(attribute);
  if (it == values.end())
    return kInvalidValue;
  *value = it->second;
  return kSuccess;
}

static Result loadModule(cuda::Module *module, const void *image, unsigned count, int *options,
                         void **values) {
  fake->loadedImage = static_cast<const char *>(image);
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kJitInfoLogBuffer)
      std::strcpy(static_cast<char *>(values[i]), fake->jitInfo.c_str());
    if (options[i] == kJitErrorLogBuffer)
      std::strcpy(static_cast<char *>(values[i]), fake->jitErrors.c_str());
  }
  if (Result result = outcome("cuModuleLoadDataEx"))
    return result;
  *module = reinterpret_cast<cuda::Module>(fake);
  return kSuccess;
}

/// Functions are known by the set's own copy of their name.
static Result findFunction(Function *function, cuda::Module, const char *name) {
  auto it = fake->kernels.find(name);
  if (it == fake->kernels.end())
    return kNotFound;
  *function = reinterpret_cast<Function>(const_cast<std::string *>(&*it));
  return kSuccess;
}

static const std::string &nameOf(Function function) {
  return *reinterpret_cast<const std::string *>(function);
}

static Result launchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                           unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                           Stream stream, void **params, void **) {
  if (Result result = outcome("cuLaunchKernel"))
    return result;
  FakeLaunch launch{
      nameOf(function), {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, stream, {}, {}};
  const size_t count = fake->paramCounts[launch.kernel];
  for (size_t i = 0; i < count; ++i)
    launch.params.push_back(*static_cast<const uint64_t *>(params[i]));
  for (size_t i = 0; i < fake->mapCounts[launch.kernel]; ++i)
    std::memcpy(&launch.maps.emplace_back(), params[count + i], sizeof(FakeTensorMap));
  fake->launches.push_back(std::move(launch));
  return kSuccess;
}

static Result allocate(DevicePtr *pointer, size_t bytes) {
  if (Result result = outcome("cuMemAlloc"))
    return result;
  *pointer = reinterpret_cast<uintptr_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  // As on a device: whatever was there before.
  std::memset(reinterpret_cast<void *>(static_cast<uintptr_t>(*pointer)), 0xa5, bytes);
  fake->memory[*pointer] = {bytes, currentDevice};
  ++fake->allocations;
  return kSuccess;
}

static Result release(DevicePtr pointer) {
  std::free(reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)));
  fake->memory.erase(pointer);
  return kSuccess;
}

static Result pointerAttribute(void *value, int, DevicePtr pointer) {
  auto it = fake->memory.upper_bound(pointer);
  if (it == fake->memory.begin() || pointer >= std::prev(it)->first + std::prev(it)->second.first)
    return kInvalidValue;
  *static_cast<int *>(value) = std::prev(it)->second.second;
  return kSuccess;
}

static Result encodeTensorMap(void *map, TensorMapType elementType, uint32_t rank, void *address,
                              const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                              const uint32_t *steps, TensorMapInterleave interleave,
                              TensorMapSwizzle swizzle, TensorMapPromotion promotion,
                              TensorMapFill fill) {
  if (Result result = outcome("cuTensorMapEncodeTiled"))
    return result;
  ++fake->encodedMaps;
  FakeTensorMap made{address,     {},         {},      {},        {},  rank,
                     elementType, interleave, swizzle, promotion, fill};
  std::copy_n(sizes, 4, made.sizes.begin());
  std::copy_n(strides, 3, made.strides.begin());
  std::copy_n(box, 4, made.box.begin());
  std::copy_n(steps, 4, made.steps.begin());
  std::memcpy(map, &made, sizeof(made));
  return kSuccess;
}

FakeCuda::FakeCuda() : previous(fake) { fake = this; }

FakeCuda::~FakeCuda() {
  for (auto &[pointer, block] : memory)
    std::free(reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)));
  fake = previous;
}

CudaApi FakeCuda::api() const {
  CudaApi api;
  api.init = [](unsigned) { return outcome("cuInit"); };
  api.driverGetVersion = [](int *version) {
    *version = fake->version;
    return kSuccess;
  };
  api.getErrorName = [](Result result, const char **name) {
    *name = result == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return kSuccess;
  };
  api.getErrorString = [](Result, const char **text) {
    *text = "as the test asked";
    return kSuccess;
  };
  api.deviceGetCount = [](int *count) {
    *count = fake->devices;
    return kSuccess;
  };
  api.deviceGet = [](Device *device, int ordinal) {
    *device = ordinal;
    return kSuccess;
  };
  api.deviceGetName = [](char *name, int, Device) {
    std::strcpy(name, "Fake A100");
    return kSuccess;
  };
  api.deviceTotalMem = [](size_t *bytes, Device) {
    *bytes = size_t(80) << 30;
    return kSuccess;
  };
  api.deviceGetAttribute = deviceAttribute;
  api.primaryCtxRetain = [](Context *context, Device device) {
    if (Result result = outcome("cuDevicePrimaryCtxRetain"))
      return result;
    ++fake->retained;
    *context = contextOf(device);
    return kSuccess;
  };
  api.primaryCtxRelease = [](Device) {
    --fake->retained;
    return kSuccess;
  };
  api.ctxPushCurrent = [](Context context) {
    ++fake->contextDepth;
    currentDevice = static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
    return kSuccess;
  };
  api.ctxPopCurrent = [](Context *) {
    --fake->contextDepth;
    return kSuccess;
  };
  api.ctxSynchronize = [] { return outcome("cuCtxSynchronize"); };
  api.memAlloc = allocate;
  api.memFree = release;
  api.memcpyHtoD = [](DevicePtr to, const void *from, size_t bytes) {
    std::memcpy(reinterpret_cast<void *>(static_cast<uintptr_t>(to)), from, bytes);
    return kSuccess;
  };
  api.memcpyDtoH = [](void *to, DevicePtr from, size_t bytes) {
    std::memcpy(to, reinterpret_cast<void *>(static_cast<uintptr_t>(from)), bytes);
    return kSuccess;
  };
  api.memsetD8Async = [](DevicePtr to, unsigned char value, size_t bytes, Stream) {
    std::memset(reinterpret_cast<void *>(static_cast<uintptr_t>(to)), value, bytes);
    return kSuccess;
  };
  api.memGetInfo = [](size_t *freeBytes, size_t *totalBytes) {
    *freeBytes = 1000;
    *totalBytes = 2000;
    return kSuccess;
  };
  api.pointerGetAttribute = pointerAttribute;
  api.streamCreate = [](Stream *stream, unsigned) {
    *stream = reinterpret_cast<Stream>(fake);
    return kSuccess;
  };
  api.streamDestroy = [](Stream) { return kSuccess; };
  api.streamIsCapturing = [](Stream stream, int *status) {
    *status = fake->capturing.count(stream) ? 1 : kCaptureNone;
    return outcome("cuStreamIsCapturing");
  };
  api.streamSynchronize = [](Stream) { return outcome("cuStreamSynchronize"); };
  api.eventCreate = [](Event *event, unsigned) {
    *event = reinterpret_cast<Event>(fake);
    return kSuccess;
  };
  api.eventDestroy = [](Event) { return kSuccess; };
  api.eventRecord = [](Event, Stream) { return kSuccess; };
  api.eventSynchronize = [](Event) { return kSuccess; };
  api.eventElapsedTime = [](float *milliseconds, Event, Event) {
    *milliseconds = 1.5f;
    return kSuccess;
  };
  api.moduleLoadDataEx = loadModule;
  api.moduleUnload = [](cuda::Module) {
    ++fake->unloads;
    return kSuccess;
  };
  api.moduleGetFunction = findFunction;
  api.funcGetAttribute = [](int *value, int attribute, Function) {
    *value = fake->functionAttributes[attribute];
    return kSuccess;
  };
  api.funcSetAttribute = [](Function function, int, int value) {
    fake->dynamicSharedOptIns[nameOf(function)] = value;
    return outcome("cuFuncSetAttribute");
  };
  api.launchKernel = launchKernel;
  api.tensorMapEncodeTiled = encodeTensorMap;
  return api;
}

CudaContextPtr FakeCuda::context(int ordinal) const {
  return CudaContext::create(CudaDriver::create(api()).value(), ordinal).value();
}

} // namespace attn::rt::test
