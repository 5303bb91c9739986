//===- Jit.h - Kernels compiled when they are needed ------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_JIT_H
#define ATTN_COMPILER_JIT_H

#include "attn/Compiler/Compiler.h"
#include "attn/Compiler/JitKernel.h"
#include "attn/Runtime/CudaDriver.h"

namespace attn {

/// What happens when a kernel is neither in memory nor in the disk cache.
enum class JitMode {
  Synchronous, ///< It is compiled, and whoever asked waits.
  Background,  ///< It is compiled on a thread; meanwhile a slower path answers, if one is ready.
  Forbid,      ///< An error says how to compile it beforehand.
};

struct JitOptions {
  JitMode mode = JitMode::Synchronous;
  /// Where kernels are kept between processes; nothing keeps them in memory alone.
  std::optional<rt::DiskCacheOptions> disk = std::nullopt;
  /// What Compiler is told; `target` is chosen for each device, and `metrics` are the Jit's own.
  CompileOptions compile = {};
  /// Loads the CUDA driver when the first device is asked for.
  std::function<rt::Expected<rt::CudaDriver::Ptr>()> driver = [] { return rt::CudaDriver::load(); };
};

/// Kernels by spec and device: compiled once, kept as long as the object. Usable from any thread;
/// threads that ask for the same kernel share one compile. A forked child keeps the kernels of the
/// CPU and compiles on; it cannot use CUDA if its parent has. Compiling for a target by its name
/// needs neither a driver nor a device.
class Jit {
public:
  explicit Jit(JitOptions options = {});
  /// Waits for compiles in the background.
  ~Jit();
  Jit(const Jit &) = delete;
  Jit &operator=(const Jit &) = delete;

  JitMode mode() const;
  void setMode(JitMode mode);

  /// The kernel of a spec, canonical or not, on a device. NotFound when `mode` is Forbid and it
  /// would have to be compiled, Busy when it would have to be loaded while `stream` is captured
  /// into a CUDA graph; both name the spec. With Background it may be a slower kernel of the same
  /// results: ask again for the other.
  rt::Expected<JitKernelPtr> get(const KernelSpec &spec, Device device, JitMode mode,
                                 void *stream = nullptr);
  rt::Expected<JitKernelPtr> get(const KernelSpec &spec, Device device) {
    return get(spec, device, mode());
  }

  /// The kernel if `get` has returned it before; takes no lock.
  const JitKernel *find(const KernelSpec &spec, Device device) const;

  /// Compiles a spec for a target into the cache, whatever the mode.
  rt::Expected<rt::LoadedArtifactPtr> compile(const KernelSpec &spec, const std::string &target);

  /// The target whose kernels a device gets: "cpu", or that of its generation.
  rt::Expected<std::string> targetOf(Device device);

  /// Reads kernels from a file that `attnc prewarm --bundle` wrote, after the cache directory.
  /// BadInput says what is wrong with it.
  rt::Status addBundle(const std::string &path);

  /// From now on appends what is asked for to a file that `attnc prewarm` takes. Unavailable when
  /// it cannot be written.
  rt::Status record(const std::string &path);

  /// Waits for the compiles that are in the background now.
  void wait();

  rt::Metrics &metrics();

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace attn

#endif // ATTN_COMPILER_JIT_H
