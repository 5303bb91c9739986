//===- JitKernels.cpp - The kinds of kernels of a Jit ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JitKernels.h"

#include "attn/Compiler/Reference.h"
#include "attn/Runtime/Arguments.h"
#include "attn/Runtime/Fork.h"

#include <numeric>

using namespace attn;

std::string Device::text() const {
  return isCuda() ? "cuda:" + std::to_string(ordinal) : std::string("cpu");
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

rt::Expected<size_t> HostJitKernel::workspaceBytes(std::span<const rt::Argument>) const {
  return 0;
}

rt::Status HostJitKernel::run(std::span<const rt::Argument> arguments,
                              const CallOptions &options) const {
  return program->run(arguments, options.threads);
}

rt::Expected<size_t> ReferenceKernel::workspaceBytes(std::span<const rt::Argument>) const {
  return 0;
}

/// Calls visit(b, i, h) for each row of [batch, seq, heads, dim].
template <class Visitor> static void forEachRow(const rt::TensorArg &tensor, Visitor &&visit) {
  for (int64_t b = 0; b < tensor.sizes[0]; ++b)
    for (int64_t i = 0; i < tensor.sizes[1]; ++i)
      for (int64_t h = 0; h < tensor.sizes[2]; ++h)
        visit(b, i, h);
}

rt::Status ReferenceKernel::run(std::span<const rt::Argument> arguments,
                                const CallOptions &options) const {
  if (rt::Status status = rt::checkArguments(signature, arguments); !status)
    return status;
  // In the order of buildProblem.
  auto tensor = [&](size_t i) -> const rt::TensorArg & {
    return std::get<rt::TensorArg>(arguments[i]);
  };
  size_t next = 4;
  const rt::TensorArg *lse = spec().lse ? &tensor(next++) : nullptr;
  ReferenceInputs inputs{tensor(0), tensor(1), tensor(2)};
  if (spec().alibi)
    inputs.slopes = static_cast<const float *>(tensor(next).data);
  const rt::TensorArg &o = tensor(3);
  double scale = std::get<float>(std::get<rt::ScalarArg>(arguments.back()));
  RunShape shape{o.sizes[0], o.sizes[1], inputs.k.sizes[1], scale};
  std::vector<int64_t> rows(static_cast<size_t>(o.sizes[1]));
  std::iota(rows.begin(), rows.end(), 0);
  ReferenceRows exact = computeReference(spec(), shape, inputs, rows, options.threads);

  const double *value = exact.o.data();
  forEachRow(o, [&](int64_t b, int64_t i, int64_t h) {
    int64_t row = b * o.strides[0] + i * o.strides[1] + h * o.strides[2];
    for (int64_t d = 0; d < o.sizes[3]; ++d)
      writeElement(o.data, o.elementType, row + d, *value++);
    if (lse)
      writeElement(lse->data, lse->elementType,
                   b * lse->strides[0] + h * lse->strides[1] + i * lse->strides[2],
                   exact.lse[static_cast<size_t>((b * o.sizes[2] + h) * o.sizes[1] + i)]);
  });
  return {};
}

//===----------------------------------------------------------------------===//
// CUDA
//===----------------------------------------------------------------------===//

CudaDevice::CudaDevice(rt::CudaContextPtr context, const TargetInfo &target)
    : cuda(std::move(context)), counters(std::make_shared<rt::TileCounters>(cuda)),
      kernels(&target), generation(rt::forkGeneration()) {}

rt::Expected<std::shared_ptr<CudaDevice>> CudaDevice::open(rt::CudaDriver::Ptr driver,
                                                           int ordinal) {
  rt::Expected<rt::CudaContextPtr> context = rt::CudaContext::create(std::move(driver), ordinal);
  if (!context)
    return rt::fail(context.error());
  const rt::DeviceInfo &info = (*context)->device();
  const TargetInfo *target = targetOfDevice(info.computeMajor, info.computeMinor);
  if (!target)
    return rt::fail(rt::ErrorCode::BadInput,
                    "cuda:" + std::to_string(ordinal) + " is an " + info.chip() + " (" + info.name +
                        "): kernels need sm_80 or later; run on another device, or on the CPU");
  return std::shared_ptr<CudaDevice>(new CudaDevice(std::move(*context), *target));
}

rt::Status CudaDevice::check() const {
  if (generation == rt::forkGeneration())
    return {};
  return rt::fail(rt::ErrorCode::Unavailable,
                  "cuda:" + std::to_string(cuda->device().ordinal) +
                      " was opened before this process was forked, and CUDA does not work in such "
                      "a child; start the process with spawn, or use CUDA in the child alone");
}

/// CU_STREAM_PER_THREAD.
static void *const kStreamPerThread = reinterpret_cast<void *>(2);

CudaDevice::StreamState &CudaDevice::stateOf(void *stream) {
  std::lock_guard<std::mutex> guard(mutex);
  // One handle stands for the default streams of all threads, which do not wait for each other.
  auto thread = stream == kStreamPerThread ? std::this_thread::get_id() : std::thread::id();
  std::unique_ptr<StreamState> &state = streams[{stream, thread}];
  if (!state)
    state = std::make_unique<StreamState>(cuda, counters);
  return *state;
}

rt::Status CudaDevice::launch(const rt::Module &module, std::span<const rt::Argument> arguments,
                              const CallOptions &options) {
  if (rt::Status status = check(); !status)
    return status;
  StreamState &state = stateOf(options.stream);
  std::lock_guard<std::mutex> guard(state.mutex);
  rt::LaunchOptions launchOptions;
  launchOptions.stream = static_cast<rt::cuda::Stream>(options.stream);
  launchOptions.checkPointers = options.checkPointers;
  launchOptions.scratch = options.scratch;
  launchOptions.scratchBytes = options.scratchBytes;
  return rt::launch(module, arguments, state.workspace, launchOptions);
}

rt::Expected<size_t> CudaJitKernel::workspaceBytes(std::span<const rt::Argument> arguments) const {
  if (manifest().workspaces.empty())
    return 0;
  if (rt::Status status = rt::checkArguments(manifest(), arguments); !status)
    return rt::fail(status.error());
  rt::Expected<rt::WorkspaceLayout> layout = rt::layoutWorkspaces(manifest(), arguments);
  if (!layout)
    return rt::fail(layout.error());
  return static_cast<size_t>(layout->bytes);
}

rt::Status CudaJitKernel::run(std::span<const rt::Argument> arguments,
                              const CallOptions &options) const {
  return device->launch(*module, arguments, options);
}
