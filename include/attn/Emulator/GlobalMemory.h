//===- GlobalMemory.h - The tensors of a launch -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_GLOBALMEMORY_H
#define ATTN_EMULATOR_GLOBALMEMORY_H

#include "attn/Runtime/TensorArg.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

namespace attn::emu {

/// Memory that a kernel may access: strided tensors, or plain bytes.
class GlobalMemory {
public:
  /// A tensor's elements, and nothing between them.
  void addTensor(std::string name, const rt::TensorArg &tensor);
  /// Bytes without structure.
  void addBytes(std::string name, const void *data, size_t bytes);
  /// Bytes that a kernel may read alone: constants, parameters passed by value.
  void addReadOnly(std::string name, const void *data, size_t bytes);

  /// Whether all of the bytes are elements of one tensor, and may be written if they will be.
  bool contains(const void *address, size_t bytes, bool isWrite = false);
  /// Says where an address lies: "8 bytes past the end of 'k' [2, 64, 4, 128] ...".
  std::string describe(const void *address, size_t bytes) const;

private:
  struct Region {
    std::string name;
    const std::byte *begin, *end; ///< Lowest and one past the highest byte.
    const std::byte *origin;      ///< Of element (0, ..., 0).
    int64_t elementBytes;
    llvm::SmallVector<int64_t, 5> sizes;   ///< Empty for plain bytes.
    llvm::SmallVector<int64_t, 5> strides; ///< In bytes, >= 0.
    llvm::SmallVector<unsigned, 5> order;  ///< Dimensions of size > 1, longest stride first.
    std::string shape;
    bool isReadOnly = false;
  };
  /// The index of the element that holds a byte; false where the byte is in no element.
  static bool indexOf(const Region &region, const std::byte *address,
                      llvm::SmallVectorImpl<int64_t> &index, int64_t &byteInElement);
  static bool holds(const Region &region, const std::byte *address, size_t bytes);

  std::vector<Region> regions;
  size_t last = 0; ///< The region that held the last access.
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_GLOBALMEMORY_H
