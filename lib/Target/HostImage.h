//===- HostImage.h - Code of the CPU target as bytes ------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOSTIMAGE_H
#define ATTN_LIB_TARGET_HOSTIMAGE_H

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/Error.h>

#include <string>
#include <vector>

namespace attn {

/// What a kernel takes at one position, apart from the MLIR context that said so.
struct HostParameter {
  /// The type as it is written, for messages.
  std::string type;
  enum Kind { Tensor, Float, Integer } kind = Integer;
  /// Of a tensor; dynamic ones may be anything.
  llvm::SmallVector<int64_t> sizes, strides;
};

/// The kernels of a module in machine code. As bytes: a line of JSON, then the object file.
struct HostImage {
  std::vector<std::string> kernels; ///< In the order in which a call runs them.
  std::vector<HostParameter> parameters;
  std::string object; ///< Relocatable.

  std::string toBytes() const;
  static llvm::Expected<HostImage> fromBytes(llvm::StringRef bytes);
};

/// Of the processor that this process runs on, for code that LLJIT links.
llvm::Expected<llvm::orc::JITTargetMachineBuilder> makeHostMachineBuilder();

} // namespace attn

#endif // ATTN_LIB_TARGET_HOSTIMAGE_H
