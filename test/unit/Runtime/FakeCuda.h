//===- FakeCuda.h - A CUDA driver that only remembers ---------------------===//
//
// Fills the runtime's table of driver functions with ones that keep memory on
// the host and record what they are asked to do.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_RUNTIME_FAKECUDA_H
#define ATTN_TEST_UNIT_RUNTIME_FAKECUDA_H

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "attn/Runtime/CudaApi.h"
#include "attn/Runtime/CudaContext.h"

namespace attn::rt::test {

/// What a fake tensor map was made of, in the place of the opaque 128 bytes.
struct FakeTensorMap {
  void *address;
  std::array<uint64_t, 4> sizes;
  std::array<uint64_t, 3> strides;
  std::array<uint32_t, 4> box, steps;
  uint32_t rank;
  int elementType, interleave, swizzle, promotion, fill;
  bool operator==(const FakeTensorMap &) const = default;
};
static_assert(sizeof(FakeTensorMap) <= 128);

struct FakeLaunch {
  std::string kernel;
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  cuda::Stream stream;
  std::vector<uint64_t> params;
  std::vector<FakeTensorMap> maps;
};

/// The state behind the functions. The youngest object is the one in use.
struct FakeCuda {
  // What the machine is.
  int version = 12040;
  int devices = 2;
  int computeMajor = 8;
  std::map<int, int> computeMajorOf; ///< Of devices that are of another kind.
  int computeMinor = 0;
  int sharedBytesPerBlock = 163 * 1024;
  std::set<std::string> kernels = {"partial", "merge"};
  std::map<int, int> functionAttributes = {{cuda::kFuncMaxThreadsPerBlock, 1024},
                                           {cuda::kFuncNumRegs, 32}};
  std::string jitInfo, jitErrors;
  /// Parameters of each kernel, since a launch does not say how many it has.
  std::map<std::string, size_t> paramCounts;
  /// How many of them are tensor maps, at the end.
  std::map<std::string, size_t> mapCounts;
  /// Results that the named functions give instead of success.
  std::map<std::string, cuda::Result> failures;

  // What was done to it.
  std::string loadedImage;
  std::map<std::string, int> dynamicSharedOptIns;
  std::vector<FakeLaunch> launches;
  std::map<cuda::DevicePtr, std::pair<size_t, int>> memory; ///< Size and device.
  int allocations = 0;
  int encodedMaps = 0;
  std::set<cuda::Stream> capturing; ///< Streams that are being captured.
  int contextDepth = 0;
  int unloads = 0;
  int retained = 0;

  FakeCuda();
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;

  cuda::CudaApi api() const;
  CudaContextPtr context(int ordinal = 0) const;

private:
  FakeCuda *previous; ///< In use again after this one.
};

} // namespace attn::rt::test

#endif // ATTN_TEST_UNIT_RUNTIME_FAKECUDA_H
