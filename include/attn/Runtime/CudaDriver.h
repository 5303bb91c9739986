//===- CudaDriver.h - The CUDA driver, loaded at run time -----------------===//

#ifndef ATTN_RUNTIME_CUDADRIVER_H
#define ATTN_RUNTIME_CUDADRIVER_H

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/Runtime/CudaApi.h"
#include "attn/Runtime/Error.h"

namespace attn::rt {

/// Oldest driver the runtime works with, as cuDriverGetVersion counts: CUDA 11.0,
/// the first that knows sm_80.
inline constexpr int kMinDriverVersion = 11000;

/// "12.3" for 12030.
std::string driverVersionText(int version);

/// What a device is and can hold.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int computeMajor = 0;
  int computeMinor = 0;
  int multiprocessors = 0;
  int maxThreadsPerBlock = 0;
  int64_t sharedBytesPerBlock = 0; ///< With the opt-in above 48 KB.
  int64_t sharedBytesPerMultiprocessor = 0;
  int registersPerMultiprocessor = 0;
  int64_t l2Bytes = 0;
  int64_t memoryBytes = 0;
  int driverVersion = 0;

  /// "sm_90" for compute capability 9.0.
  std::string chip() const;
};

/// The loaded driver. Immutable after load, usable from any thread.
class CudaDriver {
public:
  using Ptr = std::shared_ptr<const CudaDriver>;

  /// Opens `library` and initialises the driver. Unavailable when the library or
  /// a symbol is missing, the driver is older than `requiredVersion` (both
  /// versions are named), or there is no device.
  static Expected<Ptr> load(const std::string &library = "libcuda.so.1",
                            int requiredVersion = kMinDriverVersion);

  /// The same with entry points that the caller provides.
  static Expected<Ptr> create(const cuda::CudaApi &api, int requiredVersion = kMinDriverVersion);

  CudaDriver(const CudaDriver &) = delete;
  CudaDriver &operator=(const CudaDriver &) = delete;

  const cuda::CudaApi &api() const { return table; }
  int version() const { return driverVersion; }
  int deviceCount() const { return devices; }

  /// BadInput for an ordinal outside [0, deviceCount()).
  Expected<DeviceInfo> deviceInfo(int ordinal) const;
  Expected<std::vector<DeviceInfo>> listDevices() const;

  /// Success, or an error that says `what` failed and how the driver calls it.
  /// Out of memory and a missing device are Unavailable, the rest Internal.
  Status check(cuda::Result result, std::string_view what) const;
  /// The same where what() makes the text: a call that succeeds makes none.
  template <std::invocable What> Status check(cuda::Result result, What &&what) const {
    if (result == cuda::kSuccess)
      return {};
    const std::string text = what();
    return check(result, std::string_view(text));
  }

private:
  CudaDriver() = default;
  Status initialize(int requiredVersion);

  cuda::CudaApi table;
  int driverVersion = 0;
  int devices = 0;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_CUDADRIVER_H
