//===- Prewarm.h - Compiles kernels before they are asked for ---*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_PREWARM_H
#define ATTN_LIB_TOOLS_PREWARM_H

#include "attn/Compiler/Compiler.h"
#include "attn/Compiler/PrewarmManifest.h"

namespace attn {

struct PrewarmOptions {
  unsigned jobs = 0; ///< Threads; 0 is one for each processor.
  bool cubins = true;
  std::string ptxas = {}; ///< As CompileOptions has it.
};

/// What became of one kernel.
struct PrewarmResult {
  PrewarmKernel kernel;
  std::string error;   ///< Empty when the kernel is there.
  bool isKept = false; ///< It was there before.
  double ms = 0;
  rt::LoadedArtifactPtr code;       ///< PTX, or code of the host.
  rt::LoadedArtifactPtr cubin;      ///< Null without ptxas.
  std::vector<std::string> remarks; ///< What the compiler said.

  /// The most that a kernel of it takes; -1 when that is not known.
  int registers() const;
  int64_t sharedBytes() const;
  uint64_t bytes() const;
};

/// Brings kernels into a cache, several at a time. `progress` hears of each, in the order in which
/// they are done, never twice at a time. BadInput when a ptxas that was asked for is missing.
rt::Expected<std::vector<PrewarmResult>>
prewarm(llvm::ArrayRef<PrewarmKernel> kernels, const PrewarmOptions &options,
        rt::KernelCache &cache,
        const std::function<void(const PrewarmResult &, size_t done)> &progress);

/// Writes the kernels as one file. None of them has failed.
rt::Status writeBundle(llvm::ArrayRef<PrewarmResult> results, const std::string &path);

/// A table for people, and the same as JSON.
std::string summaryText(llvm::ArrayRef<PrewarmResult> results, double seconds);
llvm::json::Value summaryJson(llvm::ArrayRef<PrewarmResult> results, double seconds);

} // namespace attn

#endif // ATTN_LIB_TOOLS_PREWARM_H
