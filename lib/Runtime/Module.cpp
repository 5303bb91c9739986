//===- Module.cpp - An artifact loaded on a device ------------------------===//

#include "attn/Runtime/Module.h"

#include <charconv>

namespace attn::rt {

//===----------------------------------------------------------------------===//
// Fit of artifact and device
//===----------------------------------------------------------------------===//

/// Shared memory that a block may use without opting in.
static constexpr int64_t kDefaultSharedBytes = 48 * 1024;

Status checkChip(std::string_view chip, PayloadKind kind, const DeviceInfo &device) {
  constexpr std::string_view prefix = "sm_";
  std::string_view number =
      chip.substr(0, prefix.size()) == prefix ? chip.substr(prefix.size()) : std::string_view();
  char suffix = 0;
  if (!number.empty() && (number.back() == 'a' || number.back() == 'f')) {
    suffix = number.back();
    number.remove_suffix(1);
  }
  int capability = 0;
  auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), capability);
  if (problem != std::errc() || end != number.data() + number.size() || capability < 10)
    return fail(ErrorCode::Corrupt,
                "expected a chip such as sm_80 or sm_90a, got '" + std::string(chip) + "'");

  const int found = device.computeMajor * 10 + device.computeMinor;
  const bool sameMajor = capability / 10 == device.computeMajor;
  const bool fits = suffix == 'a'                                 ? capability == found
                    : suffix == 'f' || kind == PayloadKind::Cubin ? sameMajor && capability <= found
                                                                  : capability <= found;
  if (fits)
    return {};
  return fail(ErrorCode::Unavailable,
              "a " + std::string(toString(kind)) + " for " + std::string(chip) +
                  " does not run on device " + std::to_string(device.ordinal) + " (" + device.name +
                  ", " + device.chip() + "); compile for that chip instead");
}

static Status checkDriver(const Manifest &manifest, const DeviceInfo &device) {
  if (device.driverVersion >= manifest.minDriverVersion)
    return {};
  return fail(ErrorCode::Unavailable,
              "the artifact needs a driver for CUDA " +
                  driverVersionText(manifest.minDriverVersion) + " or later, found CUDA " +
                  driverVersionText(device.driverVersion) + "; update the NVIDIA driver");
}

static Status checkResources(const KernelEntry &kernel, int64_t staticBytes,
                             const DeviceInfo &device) {
  const int64_t shared = staticBytes + kernel.dynamicSharedBytes;
  if (shared > device.sharedBytesPerBlock)
    return fail(ErrorCode::Unavailable,
                "kernel '" + kernel.name + "' needs " + std::to_string(shared) +
                    " bytes of shared memory per block, device " + std::to_string(device.ordinal) +
                    " (" + device.name + ") has " + std::to_string(device.sharedBytesPerBlock) +
                    "; use smaller tiles or fewer stages");
  if (kernel.threads > device.maxThreadsPerBlock)
    return fail(ErrorCode::Unavailable,
                "kernel '" + kernel.name + "' needs " + std::to_string(kernel.threads) +
                    " threads per block, device " + std::to_string(device.ordinal) + " allows " +
                    std::to_string(device.maxThreadsPerBlock));
  return {};
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Expected<Module::Ptr> Module::load(CudaContextPtr context, const Artifact &artifact) {
  const Manifest &manifest = artifact.manifest;
  const DeviceInfo &device = context->device();
  if (Status status = validate(manifest); !status)
    return fail(status.error());
  if (Status status = checkChip(manifest.chip, manifest.payloadKind, device); !status)
    return fail(status.error());
  if (Status status = checkDriver(manifest, device); !status)
    return fail(status.error());
  for (const KernelEntry &kernel : manifest.kernels)
    if (Status status = checkResources(kernel, kernel.staticSharedBytes, device); !status)
      return fail(status.error());

  std::shared_ptr<Module> module(new Module());
  module->device = std::move(context);
  module->spec = manifest;
  CudaContext::Scope scope(*module->device);
  if (!scope.status())
    return fail(scope.status().error());
  if (Status status = module->loadPayload(artifact.payload); !status)
    return fail(status.error());
  for (const KernelEntry &kernel : module->spec.kernels)
    if (Status status = module->loadFunction(kernel); !status)
      return fail(status.error());
  return Ptr(std::move(module));
}

Status Module::loadPayload(const std::string &payload) {
  const CudaDriver &driver = device->driver();
  constexpr size_t kLogBytes = 16 * 1024;
  std::string info(kLogBytes, '\0'), errors(kLogBytes, '\0');
  // Sizes and flags travel in the pointer itself.
  auto asPointer = [](uintptr_t value) { return reinterpret_cast<void *>(value); };
  int options[] = {cuda::kJitInfoLogBuffer, cuda::kJitInfoLogBufferSizeBytes,
                   cuda::kJitErrorLogBuffer, cuda::kJitErrorLogBufferSizeBytes,
                   cuda::kJitLogVerbose};
  void *values[] = {info.data(), asPointer(kLogBytes), errors.data(), asPointer(kLogBytes),
                    asPointer(1)};
  // What the driver assembles stays in a cache of the driver's. Its linker would hand out a cubin
  // to keep in ours, but assembles for separate compilation, where setmaxnreg is ignored and wgmma
  // serialized: several times slower kernels.
  cuda::Result result =
      driver.api().moduleLoadDataEx(&handle, payload.c_str(), std::size(options), options, values);
  log = std::string(info.c_str()) + errors.c_str();
  if (result == cuda::kSuccess)
    return {};

  Error error =
      driver
          .check(result, "loading a " + std::string(toString(spec.payloadKind)) + " for " +
                             spec.chip + " on device " + std::to_string(device->device().ordinal) +
                             " (" + device->device().name + ")")
          .error();
  if (result == cuda::kUnsupportedPtxVersion) {
    error.code = ErrorCode::Unavailable;
    error.message += "; the driver (CUDA " + driverVersionText(driver.version()) +
                     ") is older than the PTX version, so update it or compile to a cubin";
  } else if (result == cuda::kInvalidImage || result == cuda::kInvalidPtx ||
             result == cuda::kNoBinaryForGpu) {
    error.code = ErrorCode::Corrupt;
  }
  if (!log.empty())
    error.message += "\ndriver log:\n" + log;
  return fail(std::move(error));
}

Status Module::loadFunction(const KernelEntry &kernel) {
  const CudaDriver &driver = device->driver();
  const std::string what = "kernel '" + kernel.name + "': ";
  cuda::Function function = nullptr;
  cuda::Result result = driver.api().moduleGetFunction(&function, handle, kernel.name.c_str());
  if (result == cuda::kNotFound)
    return fail(ErrorCode::Corrupt, what + "the manifest names it, the payload has no such entry");
  if (Status status = driver.check(result, what + "finding it"); !status)
    return status;

  FunctionInfo info;
  const std::pair<cuda::FunctionAttribute, int *> attributes[] = {
      {cuda::kFuncNumRegs, &info.registers},
      {cuda::kFuncLocalSizeBytes, &info.localBytes},
      {cuda::kFuncSharedSizeBytes, &info.staticSharedBytes},
      {cuda::kFuncMaxThreadsPerBlock, &info.maxThreadsPerBlock},
  };
  for (auto [attribute, value] : attributes)
    if (Status status = driver.check(driver.api().funcGetAttribute(value, attribute, function),
                                     what + "asking "
                                            "about it");
        !status)
      return status;

  if (Status status = checkResources(kernel, info.staticSharedBytes, device->device()); !status)
    return status;
  if (kernel.threads > info.maxThreadsPerBlock)
    return fail(ErrorCode::Unavailable,
                what + "it needs " + std::to_string(kernel.threads) +
                    " threads per block, with its " + std::to_string(info.registers) +
                    " registers the device allows " + std::to_string(info.maxThreadsPerBlock));
  if (info.staticSharedBytes + kernel.dynamicSharedBytes > kDefaultSharedBytes)
    if (Status status = driver.check(
            driver.api().funcSetAttribute(function, cuda::kFuncMaxDynamicSharedSizeBytes,
                                          static_cast<int>(kernel.dynamicSharedBytes)),
            what + "opting in to " + std::to_string(kernel.dynamicSharedBytes) +
                " bytes of dynamic shared memory");
        !status)
      return status;
  functions.push_back(function);
  infos.push_back(info);
  return {};
}

Module::~Module() {
  if (!handle)
    return;
  CudaContext::Scope scope(*device);
  if (scope.status())
    device->driver().api().moduleUnload(handle);
}

} // namespace attn::rt
