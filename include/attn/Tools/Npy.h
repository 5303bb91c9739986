//===- Npy.h - Reads NumPy's array files ------------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_NPY_H
#define ATTN_TOOLS_NPY_H

#include "attn/Runtime/Error.h"

#include <cstdint>
#include <llvm/ADT/StringRef.h>
#include <vector>

namespace attn {

struct NpyArray {
  std::vector<int64_t> shape;
  std::vector<double> values; ///< Row-major.
};

/// Reads a .npy file of float16, float32 or float64, row-major and little-endian.
/// BadInput names the file and what is wrong with it.
rt::Expected<NpyArray> readNpy(llvm::StringRef path);

} // namespace attn

#endif // ATTN_TOOLS_NPY_H
