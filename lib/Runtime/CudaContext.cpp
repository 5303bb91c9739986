//===- CudaContext.cpp - A device's context, memory, streams, timers ------===//

#include "attn/Runtime/CudaContext.h"

namespace attn::rt {

//===----------------------------------------------------------------------===//
// CudaContext
//===----------------------------------------------------------------------===//

CudaContext::Scope::Scope(const CudaContext &context)
    : context(context),
      pushed(context.cuda->check(context.cuda->api().ctxPushCurrent(context.context), [&] {
        return "making CUDA device " + std::to_string(context.info.ordinal) + " current";
      })) {}

CudaContext::Scope::~Scope() {
  cuda::Context popped;
  if (pushed)
    context.cuda->api().ctxPopCurrent(&popped);
}

Expected<CudaContextPtr> CudaContext::create(CudaDriver::Ptr driver, int ordinal) {
  Expected<DeviceInfo> info = driver->deviceInfo(ordinal);
  if (!info)
    return fail(info.error());
  cuda::Device device = 0;
  if (Status status = driver->check(driver->api().deviceGet(&device, ordinal), "finding a device");
      !status)
    return fail(status.error());
  cuda::Context handle = nullptr;
  if (Status status =
          driver->check(driver->api().primaryCtxRetain(&handle, device),
                        "opening CUDA device " + std::to_string(ordinal) + " (" + info->name + ")");
      !status)
    return fail(ErrorCode::Unavailable, status.error().message);
  std::shared_ptr<CudaContext> context(new CudaContext());
  context->cuda = std::move(driver);
  context->info = std::move(*info);
  context->handle = device;
  context->context = handle;
  return CudaContextPtr(std::move(context));
}

CudaContext::~CudaContext() {
  if (context)
    cuda->api().primaryCtxRelease(handle);
}

Status CudaContext::synchronize() const {
  Scope scope(*this);
  if (!scope.status())
    return scope.status();
  return cuda->check(cuda->api().ctxSynchronize(), "waiting for the device");
}

Status CudaContext::synchronize(cuda::Stream stream) const {
  Scope scope(*this);
  if (!scope.status())
    return scope.status();
  return cuda->check(cuda->api().streamSynchronize(stream), "waiting for a stream");
}

Status CudaContext::copyToDevice(cuda::DevicePtr to, const void *from, size_t bytes) const {
  Scope scope(*this);
  if (!scope.status() || bytes == 0)
    return scope.status();
  return cuda->check(cuda->api().memcpyHtoD(to, from, bytes), "copying to the device");
}

Status CudaContext::copyToHost(void *to, cuda::DevicePtr from, size_t bytes) const {
  Scope scope(*this);
  if (!scope.status() || bytes == 0)
    return scope.status();
  return cuda->check(cuda->api().memcpyDtoH(to, from, bytes), "copying from the device");
}

Expected<bool> CudaContext::isCapturing(cuda::Stream stream) const {
  Scope scope(*this);
  if (!scope.status())
    return fail(scope.status().error());
  int status = cuda::kCaptureNone;
  if (Status asked = cuda->check(cuda->api().streamIsCapturing(stream, &status),
                                 "asking whether a stream is captured");
      !asked)
    return fail(asked.error());
  return status != cuda::kCaptureNone;
}

Status CudaContext::fill(cuda::DevicePtr to, uint8_t value, size_t bytes,
                         cuda::Stream stream) const {
  Scope scope(*this);
  if (!scope.status() || bytes == 0)
    return scope.status();
  return cuda->check(cuda->api().memsetD8Async(to, value, bytes, stream), "filling memory");
}

//===----------------------------------------------------------------------===//
// DeviceBuffer
//===----------------------------------------------------------------------===//

Expected<DeviceBuffer> DeviceBuffer::allocate(CudaContextPtr context, size_t bytes) {
  DeviceBuffer buffer;
  buffer.context = std::move(context);
  if (bytes == 0)
    return buffer;
  CudaContext::Scope scope(*buffer.context);
  if (!scope.status())
    return fail(scope.status().error());
  const CudaDriver &driver = buffer.context->driver();
  cuda::Result result = driver.api().memAlloc(&buffer.pointer, bytes);
  if (result == cuda::kOutOfMemory) {
    size_t available = 0, total = 0;
    driver.api().memGetInfo(&available, &total);
    return fail(ErrorCode::Unavailable,
                "CUDA device " + std::to_string(buffer.context->device().ordinal) +
                    " is out of memory: asked for " + std::to_string(bytes) + " bytes, " +
                    std::to_string(available) + " of " + std::to_string(total) +
                    " are free; use smaller tensors, or free memory");
  }
  if (Status status =
          driver.check(result, "allocating " + std::to_string(bytes) + " bytes on the device");
      !status)
    return fail(status.error());
  buffer.bytes = bytes;
  return buffer;
}

void DeviceBuffer::reset() {
  if (pointer) {
    CudaContext::Scope scope(*context);
    if (scope.status())
      context->driver().api().memFree(pointer);
  }
  pointer = 0;
  bytes = 0;
}

void DeviceBuffer::swap(DeviceBuffer &other) noexcept {
  std::swap(context, other.context);
  std::swap(pointer, other.pointer);
  std::swap(bytes, other.bytes);
}

//===----------------------------------------------------------------------===//
// CudaStream, CudaTimer
//===----------------------------------------------------------------------===//

Expected<CudaStream> CudaStream::create(CudaContextPtr context) {
  CudaContext::Scope scope(*context);
  if (!scope.status())
    return fail(scope.status().error());
  CudaStream result;
  const CudaDriver &driver = context->driver();
  if (Status status = driver.check(
          driver.api().streamCreate(&result.stream, cuda::kStreamNonBlocking), "making a stream");
      !status)
    return fail(status.error());
  result.context = std::move(context);
  return result;
}

CudaStream::~CudaStream() {
  if (!stream)
    return;
  CudaContext::Scope scope(*context);
  if (scope.status())
    context->driver().api().streamDestroy(stream);
}

Status CudaStream::synchronize() const { return context->synchronize(stream); }

Expected<CudaTimer> CudaTimer::create(CudaContextPtr context) {
  CudaContext::Scope scope(*context);
  if (!scope.status())
    return fail(scope.status().error());
  CudaTimer timer;
  timer.context = context;
  const CudaDriver &driver = context->driver();
  for (cuda::Event *event : {&timer.begin, &timer.end})
    if (Status status = driver.check(driver.api().eventCreate(event, 0), "making an event");
        !status)
      return fail(status.error());
  return timer;
}

CudaTimer::~CudaTimer() {
  if (!context)
    return;
  CudaContext::Scope scope(*context);
  for (cuda::Event event : {begin, end})
    if (event && scope.status())
      context->driver().api().eventDestroy(event);
}

Status CudaTimer::start(cuda::Stream stream) const {
  CudaContext::Scope scope(*context);
  if (!scope.status())
    return scope.status();
  return context->driver().check(context->driver().api().eventRecord(begin, stream),
                                 "recording an event");
}

Status CudaTimer::stop(cuda::Stream stream) const {
  CudaContext::Scope scope(*context);
  if (!scope.status())
    return scope.status();
  return context->driver().check(context->driver().api().eventRecord(end, stream),
                                 "recording an event");
}

Expected<float> CudaTimer::elapsedMs() const {
  CudaContext::Scope scope(*context);
  if (!scope.status())
    return fail(scope.status().error());
  const CudaDriver &driver = context->driver();
  if (Status status = driver.check(driver.api().eventSynchronize(end), "waiting for an event");
      !status)
    return fail(status.error());
  float milliseconds = 0;
  if (Status status =
          driver.check(driver.api().eventElapsedTime(&milliseconds, begin, end), "reading a timer");
      !status)
    return fail(status.error());
  return milliseconds;
}

} // namespace attn::rt
