//===- CudaDriver.cpp - The CUDA driver, loaded at run time ---------------===//

#include "attn/Runtime/CudaDriver.h"

#include <dlfcn.h>

namespace attn::rt {

std::string driverVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string DeviceInfo::chip() const {
  return "sm_" + std::to_string(computeMajor) + std::to_string(computeMinor);
}

/// Fills the table from a loaded library.
static Status resolve(void *library, const std::string &name, cuda::CudaApi &api) {
#define ATTN_CUDA_RESOLVE(member, symbol, parameters)                                              \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, symbol));                     \
  if (!api.member)                                                                                 \
    return fail(ErrorCode::Unavailable, "the CUDA driver library '" + name +                       \
                                            "' has no " symbol "; attn needs driver CUDA " +       \
                                            driverVersionText(kMinDriverVersion) +                 \
                                            " or later, so update the NVIDIA driver");
  ATTN_CUDA_FUNCTIONS(ATTN_CUDA_RESOLVE)
#undef ATTN_CUDA_RESOLVE
#define ATTN_CUDA_RESOLVE(member, symbol, parameters)                                              \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, symbol));
  ATTN_CUDA_OPTIONAL_FUNCTIONS(ATTN_CUDA_RESOLVE)
#undef ATTN_CUDA_RESOLVE
  return {};
}

Expected<CudaDriver::Ptr> CudaDriver::load(const std::string &library, int requiredVersion) {
  // Never closed: the driver starts threads and exit handlers that outlive us.
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return fail(ErrorCode::Unavailable, "cannot load the CUDA driver library '" + library + "' (" +
                                            (reason ? reason : "no reason given") +
                                            "); install the NVIDIA driver, or run on the CPU");
  }
  cuda::CudaApi api;
  if (Status status = resolve(handle, library, api); !status)
    return fail(status.error());
  return create(api, requiredVersion);
}

Expected<CudaDriver::Ptr> CudaDriver::create(const cuda::CudaApi &api, int requiredVersion) {
  std::shared_ptr<CudaDriver> driver(new CudaDriver());
  driver->table = api;
  if (Status status = driver->initialize(requiredVersion); !status)
    return fail(status.error());
  return Ptr(std::move(driver));
}

Status CudaDriver::initialize(int requiredVersion) {
  // The version needs no initialisation, which an old driver might refuse.
  if (Status status = check(table.driverGetVersion(&driverVersion), "asking for the CUDA version");
      !status)
    return status;
  if (driverVersion < requiredVersion)
    return fail(ErrorCode::Unavailable, "the CUDA driver is too old: found CUDA " +
                                            driverVersionText(driverVersion) + ", required " +
                                            driverVersionText(requiredVersion) +
                                            " or later; update the NVIDIA driver");
  const Error noDevice{ErrorCode::Unavailable,
                       "the CUDA driver (CUDA " + driverVersionText(driverVersion) +
                           ") found no device; run on the CPU, or make a GPU visible"};
  cuda::Result result = table.init(0);
  if (result == cuda::kNoDevice)
    return fail(noDevice);
  if (Status status = check(result, "initialising the CUDA driver"); !status)
    return fail(ErrorCode::Unavailable, status.error().message);
  if (Status status = check(table.deviceGetCount(&devices), "counting CUDA devices"); !status)
    return status;
  if (devices == 0)
    return fail(noDevice);
  return {};
}

Expected<DeviceInfo> CudaDriver::deviceInfo(int ordinal) const {
  if (ordinal < 0 || ordinal >= devices)
    return fail(ErrorCode::BadInput, "there is no CUDA device " + std::to_string(ordinal) +
                                         ": expected 0 to " + std::to_string(devices - 1));
  DeviceInfo info;
  info.ordinal = ordinal;
  info.driverVersion = driverVersion;
  const std::string what = "asking about CUDA device " + std::to_string(ordinal);
  cuda::Device device = 0;
  if (Status status = check(table.deviceGet(&device, ordinal), what); !status)
    return fail(status.error());

  char name[256] = {};
  size_t memory = 0;
  if (Status status = check(table.deviceGetName(name, sizeof(name) - 1, device), what); !status)
    return fail(status.error());
  if (Status status = check(table.deviceTotalMem(&memory, device), what); !status)
    return fail(status.error());
  info.name = name;
  info.memoryBytes = static_cast<int64_t>(memory);

  int sharedPerBlock = 0, sharedPerMultiprocessor = 0, l2 = 0;
  const std::pair<cuda::DeviceAttribute, int *> attributes[] = {
      {cuda::kComputeCapabilityMajor, &info.computeMajor},
      {cuda::kComputeCapabilityMinor, &info.computeMinor},
      {cuda::kMultiprocessorCount, &info.multiprocessors},
      {cuda::kMaxThreadsPerBlock, &info.maxThreadsPerBlock},
      {cuda::kMaxSharedMemoryPerBlockOptin, &sharedPerBlock},
      {cuda::kMaxSharedMemoryPerMultiprocessor, &sharedPerMultiprocessor},
      {cuda::kMaxRegistersPerMultiprocessor, &info.registersPerMultiprocessor},
      {cuda::kL2CacheSize, &l2},
  };
  for (auto [attribute, value] : attributes)
    if (Status status = check(table.deviceGetAttribute(value, attribute, device), what); !status)
      return fail(status.error());
  info.sharedBytesPerBlock = sharedPerBlock;
  info.sharedBytesPerMultiprocessor = sharedPerMultiprocessor;
  info.l2Bytes = l2;
  return info;
}

Expected<std::vector<DeviceInfo>> CudaDriver::listDevices() const {
  std::vector<DeviceInfo> list;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    Expected<DeviceInfo> info = deviceInfo(ordinal);
    if (!info)
      return fail(info.error());
    list.push_back(std::move(*info));
  }
  return list;
}

Status CudaDriver::check(cuda::Result result, std::string_view what) const {
  if (result == cuda::kSuccess)
    return {};
  const char *name = nullptr, *text = nullptr;
  table.getErrorName(result, &name);
  table.getErrorString(result, &text);
  const bool unavailable = result == cuda::kOutOfMemory || result == cuda::kNoDevice;
  return fail(unavailable ? ErrorCode::Unavailable : ErrorCode::Internal,
              std::string(what) + " failed: " + (name ? name : "CUDA error") + " (" +
                  std::to_string(result) + ")" + (text ? std::string(", ") + text : ""));
}

} // namespace attn::rt
