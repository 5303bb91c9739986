//===- TileCounters.cpp - What persistent kernels draw tiles from ---------===//

#include "attn/Runtime/TileCounters.h"

namespace attn::rt {

Status TileCounters::allocate(cuda::Stream stream) {
  Expected<bool> capturing = context->isCapturing(stream);
  if (!capturing)
    return fail(capturing.error());
  constexpr size_t bytes = kCapacity * sizeof(int32_t);
  if (*capturing)
    return fail(ErrorCode::Busy,
                "this call needs tile counters of " + std::to_string(bytes) +
                    " bytes, which cannot be allocated while a CUDA graph is captured; make the "
                    "call once before the capture");
  Expected<DeviceBuffer> made = DeviceBuffer::allocate(context, bytes);
  if (!made)
    return fail(made.error().code, "tile counters: " + made.error().message);
  // Other streams may be the first to use them: zero when this returns.
  if (Status status = context->fill(made->address(), 0, bytes, stream); !status)
    return status;
  if (Status status = context->synchronize(stream); !status)
    return status;
  words = std::move(*made);
  return {};
}

Expected<TensorArg> TileCounters::take(cuda::Stream stream) {
  std::lock_guard<std::mutex> guard(mutex);
  if (words.size() == 0)
    if (Status status = allocate(stream); !status)
      return fail(status.error());
  if (taken == kCapacity)
    return fail(ErrorCode::Busy,
                "all " + std::to_string(kCapacity) +
                    " tile counters are taken: each kernel of a captured CUDA graph that draws its "
                    "tiles keeps one; capture fewer calls, or pin persistent = static");
  auto *counter = static_cast<int32_t *>(words.data()) + taken++;
  return TensorArg::dense(counter, ElementType::I32, {1});
}

} // namespace attn::rt
