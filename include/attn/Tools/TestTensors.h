//===- TestTensors.h - Inputs that can be made again ------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_TESTTENSORS_H
#define ATTN_TOOLS_TESTTENSORS_H

#include "attn/Compiler/KernelSpec.h"
#include "attn/Tools/Npy.h"

namespace attn {

/// What the values are like.
enum class InputKind {
  Random,   ///< Normal, variance 1.
  Peaked,   ///< Large norms: one key takes nearly all of the weight.
  Negative, ///< All logits near -5e4, the first key's 5000 above the rest.
  ZeroQ,    ///< q = 0: the output is the mean of the visible rows of v.
};

/// How q, k, v and o lie in memory. All but the dense ones leave gaps, filled with NaN.
enum class Layout {
  Dense,     ///< [batch, seq, heads, dim]
  HeadMajor, ///< [batch, heads, seq, dim]
  Packed,    ///< Rows as wide as those of three tensors.
  Padded,    ///< Room for five more rows a sequence and eight more elements a head.
  Broadcast, ///< k and v have batch stride 0; q and o as in Dense.
  Unaligned, ///< As Padded, with gaps of as many bytes as the problem promises alignment.
  Sparse,    ///< Sequences 2^31 elements apart, on memory that is not there until used.
};

/// A tensor with the memory that it lies in.
class TensorBuffer {
public:
  /// Uninitialized but for the gaps, which are NaN. `sizes` is [batch, seq, heads, dim],
  /// or any shape for Dense; `alignment` (bytes) is for Unaligned. Unavailable when there is no
  /// such memory.
  static rt::Expected<TensorBuffer> create(rt::ElementType type, Layout layout,
                                           llvm::ArrayRef<int64_t> sizes, int64_t alignment = 16);
  ~TensorBuffer();
  TensorBuffer(TensorBuffer &&other) noexcept;
  TensorBuffer &operator=(TensorBuffer &&) = delete;

  const rt::TensorArg &view() const { return tensor; }
  void *data() const { return memory; }
  size_t bytes() const { return length; }

  /// Fills all of the memory with bytes that are NaN in every element type.
  void poison();

private:
  TensorBuffer() = default;
  void *memory = nullptr;
  size_t length = 0;
  rt::TensorArg tensor;
};

/// Which input of a problem.
enum class Operand { Q, K, V };

/// Writes reproducible values: element (b, i, h, d) depends on its position, the operand
/// and the seed, not on layout or threads.
void fillInput(const rt::TensorArg &tensor, Operand operand, InputKind kind, const KernelSpec &spec,
               uint64_t seed, unsigned threads);

/// Rounds an array of the tensor's shape into it.
void fillFrom(const rt::TensorArg &tensor, const NpyArray &array);

/// The slopes of ALiBi for a number of heads: 2^(-8 (h + 1) / heads).
std::vector<float> alibiSlopes(int64_t heads);

} // namespace attn

#endif // ATTN_TOOLS_TESTTENSORS_H
