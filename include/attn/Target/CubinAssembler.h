//===- CubinAssembler.h - PTX to machine code through ptxas -----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_CUBINASSEMBLER_H
#define ATTN_TARGET_CUBINASSEMBLER_H

#include "attn/Runtime/Error.h"

#include <llvm/ADT/StringRef.h>
#include <string>
#include <vector>

namespace attn {

/// What ptxas says that a kernel takes.
struct KernelResources {
  std::string name;
  int registers = -1; ///< Per thread.
  int spillStoreBytes = 0, spillLoadBytes = 0, stackBytes = 0;
  int sharedBytes = 0; ///< Static.
};

struct Cubin {
  std::string bytes;
  std::string log;
  std::vector<KernelResources> kernels;
};

/// NVIDIA's assembler, run as a process of its own.
class Assembler {
public:
  /// `path` when given; else ptxas in PATH, then in the usual directories of CUDA.
  /// Unavailable, with the way out, when there is none.
  static rt::Expected<Assembler> find(llvm::StringRef path = {});

  /// Its version, for cache keys.
  const std::string &identity() const { return version; }

  /// Assembles for a chip. On failure the PTX stays in a file that the message names,
  /// together with the command to repeat.
  rt::Expected<Cubin> assemble(llvm::StringRef ptx, llvm::StringRef chip) const;

private:
  Assembler(std::string path, std::string version)
      : path(std::move(path)), version(std::move(version)) {}
  std::string path, version;
};

/// Reads the log of `ptxas -v`.
std::vector<KernelResources> parseAssemblerLog(llvm::StringRef log);

} // namespace attn

#endif // ATTN_TARGET_CUBINASSEMBLER_H
