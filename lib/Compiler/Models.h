//===- Models.h - The manifests of models/ ----------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_MODELS_H
#define ATTN_LIB_COMPILER_MODELS_H

#include <llvm/ADT/StringRef.h>
#include <vector>

namespace attn {

struct Model {
  llvm::StringRef name; ///< Of the file, without its ending.
  llvm::StringRef text;
};

/// Sorted by name; made from the files by Models.cmake.
const std::vector<Model> &models();

} // namespace attn

#endif // ATTN_LIB_COMPILER_MODELS_H
