//===- HostProgram.h - A problem compiled for this machine ------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_HOSTPROGRAM_H
#define ATTN_COMPILER_HOSTPROGRAM_H

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/TensorArg.h"
#include "attn/Target/HostJit.h"

#include <span>

namespace attn {

/// Usable from any thread, by several at a time.
class HostProgram {
public:
  HostProgram(rt::Manifest manifest, std::unique_ptr<HostKernel> kernel)
      : spec(std::move(manifest)), kernel(std::move(kernel)) {}

  /// Arguments, sizes that must agree, and workspaces; there are no kernels.
  const rt::Manifest &manifest() const { return spec; }

  /// Checks the arguments and runs on `threads` threads (0: one for each processor).
  rt::Status run(std::span<const rt::Argument> arguments, unsigned threads = 0) const;

private:
  rt::Manifest spec;
  std::unique_ptr<HostKernel> kernel;
};

} // namespace attn

#endif // ATTN_COMPILER_HOSTPROGRAM_H
