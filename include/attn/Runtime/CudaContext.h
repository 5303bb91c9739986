//===- CudaContext.h - A device's context, memory, streams and timers -----===//

#ifndef ATTN_RUNTIME_CUDACONTEXT_H
#define ATTN_RUNTIME_CUDACONTEXT_H

#include <cstdint>
#include <memory>
#include <utility>

#include "attn/Runtime/CudaDriver.h"
#include "attn/Runtime/Error.h"

namespace attn::rt {

class CudaContext;
using CudaContextPtr = std::shared_ptr<const CudaContext>;

/// The primary context of one device: the one the CUDA runtime and the
/// frameworks on top of it use too. Every operation makes it current for its own
/// duration and restores what the calling thread had, so the current device of
/// the caller neither matters nor changes.
class CudaContext : public std::enable_shared_from_this<CudaContext> {
public:
  static Expected<CudaContextPtr> create(CudaDriver::Ptr driver, int ordinal);
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  const CudaDriver &driver() const { return *cuda; }
  const DeviceInfo &device() const { return info; }

  /// Waits for everything submitted to the device by this context.
  Status synchronize() const;
  /// Waits for everything submitted to the stream.
  Status synchronize(cuda::Stream stream) const;
  /// Copies between host and device; both wait for the copy to end.
  Status copyToDevice(cuda::DevicePtr to, const void *from, size_t bytes) const;
  Status copyToHost(void *to, cuda::DevicePtr from, size_t bytes) const;
  /// Whether work on the stream is recorded into a graph rather than run: nothing may be
  /// allocated, loaded or waited for then.
  Expected<bool> isCapturing(cuda::Stream stream) const;
  /// Fills bytes on the stream.
  Status fill(cuda::DevicePtr to, uint8_t value, size_t bytes, cuda::Stream stream = nullptr) const;

  /// Makes the context current in this thread while the object lives.
  class Scope {
  public:
    explicit Scope(const CudaContext &context);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    /// Whether the context could be made current; check before any driver call.
    const Status &status() const { return pushed; }

  private:
    const CudaContext &context;
    Status pushed;
  };

private:
  CudaContext() = default;

  CudaDriver::Ptr cuda;
  DeviceInfo info;
  cuda::Device handle = 0;
  cuda::Context context = nullptr;
};

/// Device memory that is freed with the object.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  /// `bytes` of device memory, aligned to at least 256 bytes; none for 0 bytes.
  /// Unavailable, with the sizes, when the device has not enough left.
  static Expected<DeviceBuffer> allocate(CudaContextPtr context, size_t bytes);
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    swap(other);
    return *this;
  }

  cuda::DevicePtr address() const { return pointer; }
  void *data() const { return reinterpret_cast<void *>(static_cast<uintptr_t>(pointer)); }
  size_t size() const { return bytes; }
  /// Frees the memory now; waits for the kernels that may still use it.
  void reset();

private:
  void swap(DeviceBuffer &other) noexcept;

  CudaContextPtr context;
  cuda::DevicePtr pointer = 0;
  size_t bytes = 0;
};

/// A stream that does not synchronise with the default stream.
class CudaStream {
public:
  static Expected<CudaStream> create(CudaContextPtr context);
  ~CudaStream();
  CudaStream(CudaStream &&other) noexcept
      : context(std::move(other.context)), stream(std::exchange(other.stream, nullptr)) {}
  CudaStream &operator=(CudaStream &&) = delete;

  cuda::Stream handle() const { return stream; }
  Status synchronize() const;

private:
  CudaStream() = default;
  CudaContextPtr context;
  cuda::Stream stream = nullptr;
};

/// A pair of events around work on one stream.
class CudaTimer {
public:
  static Expected<CudaTimer> create(CudaContextPtr context);
  ~CudaTimer();
  CudaTimer(CudaTimer &&other) noexcept
      : context(std::move(other.context)), begin(std::exchange(other.begin, nullptr)),
        end(std::exchange(other.end, nullptr)) {}
  CudaTimer &operator=(CudaTimer &&) = delete;

  Status start(cuda::Stream stream = nullptr) const;
  Status stop(cuda::Stream stream = nullptr) const;
  /// Waits for stop's point and returns the time between both, in milliseconds.
  Expected<float> elapsedMs() const;

private:
  CudaTimer() = default;
  CudaContextPtr context;
  cuda::Event begin = nullptr;
  cuda::Event end = nullptr;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_CUDACONTEXT_H
