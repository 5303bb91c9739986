//===- AttentionProblem.h - Problems to run and their answers ---*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_TARGET_ATTENTIONPROBLEM_H
#define ATTN_TEST_UNIT_TARGET_ATTENTIONPROBLEM_H

#include "attn/Target/HostJit.h"

#include <functional>
#include <string>
#include <vector>

namespace attn::test {

enum class Element { F32, F16, BF16 };

/// How the dims [batch, seq, heads, head_dim] lie in memory.
enum class Order { TokenMajor, HeadMajor, BatchInside, Expanded };

/// What decides the code of a kernel.
struct Problem {
  Element element = Element::F32;
  std::string algorithm = "fa2";
  int64_t headsQ = 2, headsKV = 2, dimQK = 64, dimV = 64;
  std::string mask = "#attn.none";
  bool softcap = false, alibi = false;
  int64_t qTile = 64, kvTile = 64, splitKV = 1;
  unsigned vectorWidth = hostVectorWidth();
  bool f32Output = false;

  bool hasPartials() const { return splitKV > 1; }
  /// The function @attn with arguments q, k, v, o, lse, lse_tail, partial_o, partial_lse,
  /// partial_tail, slopes, scale.
  std::string toMLIR() const;
};

/// What a kernel is run on.
struct Sizes {
  int64_t batch = 1, seqQ = 64, seqKV = 64;
};

/// (i, j, seqQ, seqKV): row i sees key j.
using Keep = std::function<bool(int64_t, int64_t, int64_t, int64_t)>;

/// A tensor in memory of its own, with sentinels around and behind its rows.
class Tensor {
public:
  Tensor(Element element, std::vector<int64_t> sizes, Order order);

  HostTensor view() { return {bytes.data(), sizes, strides}; }
  double get(llvm::ArrayRef<int64_t> at) const;
  void set(llvm::ArrayRef<int64_t> at, double value);
  /// Fills the tensor with reproducible values in [-range, range).
  void randomize(unsigned seed, double range);
  /// Writes `value` to all memory, also behind the rows.
  void flood(float value);
  /// True when memory outside of the tensor still holds the bits of `value`.
  bool isFloodedOutside(float value) const;

  bool hasSameBits(const Tensor &other) const { return bytes == other.bytes; }

  llvm::SmallVector<int64_t, 5> sizes, strides;

private:
  int64_t offsetOf(llvm::ArrayRef<int64_t> at) const;
  void setAt(int64_t offset, double value);
  template <typename Fn> void forEach(Fn fn) const;

  Element element;
  std::vector<uint8_t> bytes;
};

struct Errors {
  double relative = 0;
  double lse = 0;
};

/// Compiles a problem for the host. Aborts the test program with the error on failure.
std::unique_ptr<HostKernel> compile(const Problem &problem, double *milliseconds = nullptr);

/// One set of inputs and outputs of a problem. Memory around the rows of the inputs is NaN
/// and must never be read; around those of the outputs it holds a sentinel.
class Trial {
public:
  Trial(const Problem &problem, const Sizes &sizes, Order order);

  std::vector<HostArg> arguments();
  /// Runs the kernel; returns its error or "".
  std::string run(HostKernel &kernel, unsigned numThreads = 2);
  /// Compares with float64; `wrong` says what else is wrong, such as a NaN, a write outside
  /// of the output, or an empty row that is not (0, -inf).
  Errors compare(const Keep &keep, std::string &wrong) const;

  Tensor q, k, v, o, lse, tail, partialO, partialLse, partialTail, slopes;
  float scale;

private:
  struct Keys;
  struct Row;
  Row reference(const Keys &keys, const Keep &keep, int64_t b, int64_t h, int64_t i) const;

  const Problem &problem;
  const Sizes sizes;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_TARGET_ATTENTIONPROBLEM_H
