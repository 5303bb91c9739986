//===- InputFile.h - Reads a file that a user named ----------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_INPUTFILE_H
#define ATTN_COMPILER_INPUTFILE_H

#include "attn/Runtime/Error.h"

#include <memory>

#include <llvm/Support/MemoryBuffer.h>

namespace attn {

using InputFile = rt::Expected<std::unique_ptr<llvm::MemoryBuffer>>;

/// The contents of a regular file; a device may have no end. BadInput, naming `path`, when there
/// is none or it cannot be read.
InputFile readInputFile(const std::string &path);

} // namespace attn

#endif // ATTN_COMPILER_INPUTFILE_H
