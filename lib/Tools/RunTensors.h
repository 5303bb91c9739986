//===- RunTensors.h - The tensors of one call -------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_RUNTENSORS_H
#define ATTN_LIB_TOOLS_RUNTENSORS_H

#include "attn/Tools/RunProblem.h"

namespace attn {

/// In host memory.
struct ProblemTensors {
  TensorBuffer q, k, v, o, lse;
  std::vector<float> slopes;
  float scale;

  /// Allocates, fills the inputs and poisons the outputs.
  static rt::Expected<ProblemTensors> create(const RunRequest &request);

  /// The actual arguments in the order of a manifest.
  rt::Expected<std::vector<rt::Argument>> arguments(const rt::Manifest &manifest) const;

  /// The memory that one of those arguments lies in.
  std::span<char> memoryOf(const rt::TensorArg &argument) const;
};

/// Reads a .npy file that must have the tensor's shape; `flag` is what messages name.
rt::Expected<NpyArray> readShaped(llvm::StringRef flag, const std::string &path,
                                  const rt::TensorArg &tensor);

} // namespace attn

#endif // ATTN_LIB_TOOLS_RUNTENSORS_H
