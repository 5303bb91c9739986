//===- JitKernels.h - The kinds of kernels of a Jit -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_JITKERNELS_H
#define ATTN_LIB_COMPILER_JITKERNELS_H

#include "attn/Compiler/HostProgram.h"
#include "attn/Compiler/JitKernel.h"
#include "attn/Runtime/KernelCache.h"
#include "attn/Runtime/Launch.h"
#include "attn/Target/TargetInfo.h"

#include <map>
#include <mutex>
#include <thread>

namespace attn {

/// Compiled for this machine's processor.
class HostJitKernel final : public JitKernel {
public:
  HostJitKernel(KernelSpec spec, std::unique_ptr<HostProgram> program)
      : JitKernel(std::move(spec), Device::cpu()), program(std::move(program)) {}
  const rt::Manifest &manifest() const override { return program->manifest(); }
  rt::Expected<size_t> workspaceBytes(std::span<const rt::Argument> arguments) const override;
  rt::Status run(std::span<const rt::Argument> arguments,
                 const CallOptions &options) const override;

private:
  std::unique_ptr<HostProgram> program;
};

/// Compiled by nobody: the float64 reference, for the time until there is a kernel.
class ReferenceKernel final : public JitKernel {
public:
  ReferenceKernel(KernelSpec spec, rt::Manifest signature)
      : JitKernel(std::move(spec), Device::cpu()), signature(std::move(signature)) {}
  const rt::Manifest &manifest() const override { return signature; }
  rt::Expected<size_t> workspaceBytes(std::span<const rt::Argument> arguments) const override;
  rt::Status run(std::span<const rt::Argument> arguments,
                 const CallOptions &options) const override;

private:
  rt::Manifest signature;
};

/// A CUDA device with the workspaces of its streams.
class CudaDevice {
public:
  /// BadInput for a device that no kernel runs on.
  static rt::Expected<std::shared_ptr<CudaDevice>> open(rt::CudaDriver::Ptr driver, int ordinal);

  const rt::CudaContextPtr &context() const { return cuda; }
  const TargetInfo &target() const { return *kernels; }
  /// Unavailable in a child of the process that opened the device.
  rt::Status check() const;
  rt::Status launch(const rt::Module &module, std::span<const rt::Argument> arguments,
                    const CallOptions &options);

private:
  CudaDevice(rt::CudaContextPtr context, const TargetInfo &target);

  struct StreamState {
    StreamState(rt::CudaContextPtr context, std::shared_ptr<rt::TileCounters> counters)
        : workspace(std::move(context), std::move(counters)) {}
    std::mutex mutex; ///< Held from the choice of the workspace until its launches are submitted.
    rt::Workspace workspace;
  };
  StreamState &stateOf(void *stream);

  rt::CudaContextPtr cuda;
  /// Of all streams: graphs are often captured on a stream that has run nothing before.
  std::shared_ptr<rt::TileCounters> counters;
  const TargetInfo *kernels;
  unsigned generation;
  std::mutex mutex;
  std::map<std::pair<void *, std::thread::id>, std::unique_ptr<StreamState>> streams;
};

/// Loaded on a CUDA device.
class CudaJitKernel final : public JitKernel {
public:
  CudaJitKernel(KernelSpec spec, std::shared_ptr<CudaDevice> device, rt::Module::Ptr module)
      : JitKernel(std::move(spec), Device::cuda(device->context()->device().ordinal)),
        device(std::move(device)), module(std::move(module)) {}
  const rt::Manifest &manifest() const override { return module->manifest(); }
  rt::Expected<size_t> workspaceBytes(std::span<const rt::Argument> arguments) const override;
  rt::Status run(std::span<const rt::Argument> arguments,
                 const CallOptions &options) const override;

private:
  std::shared_ptr<CudaDevice> device;
  rt::Module::Ptr module;
};

} // namespace attn

#endif // ATTN_LIB_COMPILER_JITKERNELS_H
