//===- InputFile.cpp - Reads a file that a user named ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/InputFile.h"

#include <llvm/Support/FileSystem.h>

using namespace attn;

InputFile attn::readInputFile(const std::string &path) {
  auto bad = [&](const std::string &message) {
    return rt::fail(rt::ErrorCode::BadInput, path + ": " + message);
  };
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return bad("cannot read: " + error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    return bad("cannot read: expected a regular file");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return bad("cannot read: " + buffer.getError().message());
  return std::move(*buffer);
}
