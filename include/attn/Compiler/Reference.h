//===- Reference.h - Attention in float64 -----------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every kernel is compared with: the formula of attn.forward, written down for one
// row at a time, on the inputs that the kernel sees.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_REFERENCE_H
#define ATTN_COMPILER_REFERENCE_H

#include "attn/Compiler/KernelSpec.h"

#include <vector>

namespace attn {

/// The tensors of one call, in host memory: q, k, v [batch, seq, heads, head_dim].
struct ReferenceInputs {
  rt::TensorArg q, k, v;
  const float *slopes = nullptr; ///< One for each query head, when the spec has alibi.
};

/// Rows of the exact result, dense.
struct ReferenceRows {
  std::vector<int64_t> rows; ///< Which queries of each sequence.
  std::vector<double> o;     ///< [batch, rows, heads_q, head_dim_v]
  std::vector<double> lse;   ///< [batch, heads_q, rows]
  /// The largest |scale q k|, [batch, heads_q, rows].
  std::vector<double> largestLogit;
};

/// The keys [begin, end) that a query sees; empty when end <= begin.
struct KeySpan {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end > begin ? end - begin : 0; }
};
KeySpan visibleKeys(const KernelSpec &spec, const RunShape &shape, int64_t query);

/// Pairs (query, key) that the mask keeps, over all heads and sequences.
double countPairs(const KernelSpec &spec, const RunShape &shape);

/// How the rows are computed: exactly, or as the plainest code in the precision of the
/// kernels would, with f32 sums, P rounded to the type of v and o to its own.
enum class Precision { Float64, Naive };

/// Computes the given rows of a canonical problem on `threads` threads.
ReferenceRows computeReference(const KernelSpec &spec, const RunShape &shape,
                               const ReferenceInputs &inputs, std::vector<int64_t> rows,
                               unsigned threads, Precision precision = Precision::Float64);

/// Element `index` of a buffer as a number, and a number rounded to nearest even as an
/// element.
double readElement(const void *data, rt::ElementType type, int64_t index);
void writeElement(void *data, rt::ElementType type, int64_t index, double value);

/// Calls work(i) for i in [0, count) on `threads` threads (0: one for each processor).
void parallelFor(int64_t count, unsigned threads, llvm::function_ref<void(int64_t)> work);

} // namespace attn

#endif // ATTN_COMPILER_REFERENCE_H
