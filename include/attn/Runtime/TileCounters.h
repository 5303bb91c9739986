//===- TileCounters.h - What persistent kernels draw tiles from -*- C++ -*-===//

#ifndef ATTN_RUNTIME_TILECOUNTERS_H
#define ATTN_RUNTIME_TILECOUNTERS_H

#include <cstddef>
#include <mutex>

#include "attn/Runtime/CudaContext.h"
#include "attn/Runtime/Error.h"
#include "attn/Runtime/TensorArg.h"

namespace attn::rt {

/// Zeroed 32-bit words of a device, for kernels with a tile counter. Each is given away once:
/// nobody here knows when a captured graph runs, and two kernels that run at the same time must not
/// share one. Threads may share an object.
class TileCounters {
public:
  /// Counters that one object gives.
  static constexpr size_t kCapacity = 1 << 18;

  explicit TileCounters(CudaContextPtr context) : context(std::move(context)) {}

  /// An i32 tensor of shape [1] on the device: 0, and the caller's for as long as this object
  /// lives. The first call allocates, and waits for `stream`; Busy when a graph is captured there.
  /// Busy also when all are given away.
  Expected<TensorArg> take(cuda::Stream stream);

private:
  Status allocate(cuda::Stream stream);

  CudaContextPtr context;
  std::mutex mutex;
  DeviceBuffer words;
  size_t taken = 0;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_TILECOUNTERS_H
