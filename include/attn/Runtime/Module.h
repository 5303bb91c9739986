//===- Module.h - An artifact loaded on a device --------------------------===//

#ifndef ATTN_RUNTIME_MODULE_H
#define ATTN_RUNTIME_MODULE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/CudaContext.h"
#include "attn/Runtime/Error.h"

namespace attn::rt {

/// Whether code for `chip` runs on `device`. PTX for sm_XY runs on that compute
/// capability and later ones, a cubin within the same major version; a chip with
/// suffix "a" runs on that one capability alone, with "f" on later ones of its
/// major version. Unavailable names both; Corrupt when `chip` is no chip name.
Status checkChip(std::string_view chip, PayloadKind kind, const DeviceInfo &device);

/// What the driver says about a loaded kernel.
struct FunctionInfo {
  int registers = 0;          ///< Per thread.
  int localBytes = 0;         ///< Per thread; more than 0 usually means spills.
  int staticSharedBytes = 0;  ///< Per block.
  int maxThreadsPerBlock = 0; ///< Given its registers.
};

/// An artifact's code in a device's context, its kernels ready to launch.
/// Immutable after load, usable from any thread.
class Module {
public:
  using Ptr = std::shared_ptr<const Module>;

  /// Checks chip, driver version and shared memory against the device, loads the
  /// payload (PTX is compiled by the driver; its log is kept and is part of the
  /// error), looks up every kernel and opts in to large shared memory.
  static Expected<Ptr> load(CudaContextPtr context, const Artifact &artifact);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const CudaContextPtr &context() const { return device; }
  const Manifest &manifest() const { return spec; }
  /// The i-th kernel of the manifest.
  cuda::Function function(size_t i) const { return functions[i]; }
  const FunctionInfo &functionInfo(size_t i) const { return infos[i]; }
  /// What the driver's PTX compiler said; empty for a cubin or a silent compiler.
  const std::string &jitLog() const { return log; }

private:
  Module() = default;
  Status loadPayload(const std::string &payload);
  Status loadFunction(const KernelEntry &kernel);

  CudaContextPtr device;
  Manifest spec;
  cuda::Module handle = nullptr;
  std::vector<cuda::Function> functions;
  std::vector<FunctionInfo> infos;
  std::string log;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_MODULE_H
