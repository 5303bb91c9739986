//===- JitKernel.h - A kernel that is ready to be called --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_JITKERNEL_H
#define ATTN_COMPILER_JITKERNEL_H

#include "attn/Compiler/KernelSpec.h"
#include "attn/Runtime/Artifact.h"

#include <memory>
#include <span>

namespace attn {

/// Where a kernel runs: the CPU, or a CUDA device by its number.
struct Device {
  static constexpr int kCpu = -1;
  int ordinal = kCpu;

  static Device cpu() { return {}; }
  static Device cuda(int ordinal) { return {ordinal}; }
  bool isCuda() const { return ordinal != kCpu; }
  /// "cpu" or "cuda:0".
  std::string text() const;
  bool operator==(const Device &) const = default;
};

/// What a call passes besides its arguments.
struct CallOptions {
  void *stream = nullptr; ///< CUstream of the device; null is its default stream.
  unsigned threads = 0;   ///< Of the CPU; 0 is one for each processor.
  /// Ask the CUDA driver whether the tensors lie on the device; for callers that do not know.
  bool checkPointers = true;
  /// Device memory of at least workspaceBytes(), aligned to rt::kWorkspaceAlignment. Without it
  /// the kernel keeps some for each stream.
  void *scratch = nullptr;
  size_t scratchBytes = 0;
};

/// A problem compiled for one device. Usable from any thread, by several at a time.
class JitKernel {
public:
  JitKernel(KernelSpec spec, Device device) : problem(std::move(spec)), place(device) {}
  virtual ~JitKernel() = default;

  /// Canonical.
  const KernelSpec &spec() const { return problem; }
  Device device() const { return place; }
  /// The arguments of a call, in order, and which of their sizes must agree.
  virtual const rt::Manifest &manifest() const = 0;

  /// Bytes of scratch memory that a call takes on its device; 0 on the CPU.
  virtual rt::Expected<size_t> workspaceBytes(std::span<const rt::Argument> arguments) const = 0;

  /// Checks the arguments and runs. On the CPU the result is there on return; on a device the work
  /// is submitted to the stream, without waiting or allocating if the same call has been made there
  /// before, so that a CUDA graph can capture it. Such a graph must not run twice at the same time,
  /// nor after the Jit is gone; a stream must not be destroyed before its work is done.
  virtual rt::Status run(std::span<const rt::Argument> arguments,
                         const CallOptions &options = {}) const = 0;

private:
  KernelSpec problem;
  Device place;
};

using JitKernelPtr = std::shared_ptr<const JitKernel>;

} // namespace attn

#endif // ATTN_COMPILER_JITKERNEL_H
