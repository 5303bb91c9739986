//===- MatrixDescriptor.h - Operands of wgmma in shared memory --*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_MATRIXDESCRIPTOR_H
#define ATTN_LIB_EMULATOR_SEMANTICS_MATRIXDESCRIPTOR_H

#include "attn/Emulator/TensorMap.h"

#include <cstddef>
#include <cstdint>

namespace attn::emu {

/// A matrix descriptor of wgmma: where an operand's 16-byte chunks lie. Bits 0-13 hold the start
/// address, 16-29 the leading and 32-45 the stride byte offset, each in units of 16 bytes; 49-51
/// the base offset and 62-63 the swizzle.
class MatrixDescriptor {
public:
  /// `numRows` is the extent along M or N. K-major rows are 32 bytes of K; MN-major operands
  /// have 16-bit elements, and 16 of K.
  MatrixDescriptor(uint64_t bits, unsigned numRows, bool mnMajor);

  bool hasBaseOffset() const { return bits >> 49 & 7; }

  /// Chunks of the operand: for K-major chunk 2 r + h is half h of row r, for MN-major chunk
  /// 16 b + k holds rows 8 b to 8 b + 7 of K index k.
  unsigned numChunks() const { return 2 * numRows; }
  /// The address of a chunk, 18 bits within the CTA's window.
  uint32_t address(unsigned chunk) const;

private:
  uint32_t field(unsigned shift) const { return (bits >> shift & 0x3FFF) << 4; }

  uint64_t bits;
  unsigned numRows;
  bool mnMajor;
  Swizzle swizzle;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_MATRIXDESCRIPTOR_H
