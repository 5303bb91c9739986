//===- Reference.cpp - Attention in float64 -------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/Reference.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

using namespace attn;

#if defined(__x86_64__)
#define ATTN_VECTOR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define ATTN_VECTOR_CLONES
#endif

//===----------------------------------------------------------------------===//
// Elements and threads
//===----------------------------------------------------------------------===//

double attn::readElement(const void *data, rt::ElementType type, int64_t index) {
  switch (type) {
  case rt::ElementType::BF16: {
    uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t *>(data)[index]) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  case rt::ElementType::F16:
    return static_cast<double>(static_cast<const _Float16 *>(data)[index]);
  default:
    return static_cast<const float *>(data)[index];
  }
}

void attn::writeElement(void *data, rt::ElementType type, int64_t index, double value) {
  float narrow = static_cast<float>(value);
  switch (type) {
  case rt::ElementType::BF16: {
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    // Half a unit in the last kept place, less one where that place is even.
    uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    static_cast<uint16_t *>(data)[index] =
        static_cast<uint16_t>((std::isnan(narrow) ? bits | 0x400000 : rounded) >> 16);
    return;
  }
  case rt::ElementType::F16:
    static_cast<_Float16 *>(data)[index] = static_cast<_Float16>(narrow);
    return;
  default:
    static_cast<float *>(data)[index] = narrow;
  }
}

void attn::parallelFor(int64_t count, unsigned threads, llvm::function_ref<void(int64_t)> work) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<int64_t> next = 0;
  auto loop = [&] {
    for (int64_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> helpers;
  for (int64_t i = 1; i < std::min<int64_t>(threads, count); ++i)
    helpers.emplace_back(loop);
  loop();
  for (std::thread &helper : helpers)
    helper.join();
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

KeySpan attn::visibleKeys(const KernelSpec &spec, const RunShape &shape, int64_t query) {
  bool isTopLeft = spec.mask == MaskKind::CausalTopLeft || spec.mask == MaskKind::WindowTopLeft;
  int64_t diagonal = query + (isTopLeft ? 0 : *shape.seqKV - *shape.seqQ);
  KeySpan span{0, *shape.seqKV};
  if (spec.mask == MaskKind::Causal || spec.mask == MaskKind::CausalTopLeft)
    span.end = std::min(span.end, diagonal + 1);
  // A bound that reaches the length is unlimited, on whichever side.
  auto isLimited = [&](std::optional<int64_t> bound) {
    return bound && *bound >= 0 && *bound < *shape.seqKV;
  };
  if (isLimited(spec.windowLeft))
    span.begin = std::max(span.begin, diagonal - *spec.windowLeft);
  if (isLimited(spec.windowRight))
    span.end = std::min(span.end, diagonal + *spec.windowRight + 1);
  return span;
}

double attn::countPairs(const KernelSpec &spec, const RunShape &shape) {
  double pairs = 0;
  for (int64_t query = 0; query < *shape.seqQ; ++query)
    pairs += static_cast<double>(visibleKeys(spec, shape, query).size());
  return pairs * static_cast<double>(*shape.batch) * static_cast<double>(*spec.headsQ);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// s[j] = sum_d q[d] kT[d, j] for j in span; keys in blocks that stay in the cache.
template <class Real>
[[gnu::always_inline]] static inline void dotRowsOf(const Real *q, const Real *kT, int64_t dim,
                                                    int64_t pitch, KeySpan span, Real *s) {
  constexpr int64_t kBlock = 1024;
  for (int64_t begin = span.begin; begin < span.end; begin += kBlock) {
    int64_t end = std::min(begin + kBlock, span.end);
    std::fill(s + begin, s + end, Real(0));
    for (int64_t d = 0; d < dim; ++d) {
      const Real *k = kT + d * pitch;
      for (int64_t j = begin; j < end; ++j)
        s[j] += q[d] * k[j];
    }
  }
}

/// o[:] = sum_j p[j] v[j, :]
template <class Real>
[[gnu::always_inline]] static inline void weightRowsOf(const Real *p, const Real *v, int64_t dim,
                                                       KeySpan span, Real *o) {
  std::fill(o, o + dim, Real(0));
  for (int64_t j = span.begin; j < span.end; ++j)
    for (int64_t d = 0; d < dim; ++d)
      o[d] += p[j] * v[j * dim + d];
}

ATTN_VECTOR_CLONES
static void dotRows(const double *q, const double *kT, int64_t dim, int64_t pitch, KeySpan span,
                    double *s) {
  dotRowsOf(q, kT, dim, pitch, span, s);
}
ATTN_VECTOR_CLONES
static void dotRows(const float *q, const float *kT, int64_t dim, int64_t pitch, KeySpan span,
                    float *s) {
  dotRowsOf(q, kT, dim, pitch, span, s);
}
ATTN_VECTOR_CLONES
static void weightRows(const double *p, const double *v, int64_t dim, KeySpan span, double *o) {
  weightRowsOf(p, v, dim, span, o);
}
ATTN_VECTOR_CLONES
static void weightRows(const float *p, const float *v, int64_t dim, KeySpan span, float *o) {
  weightRowsOf(p, v, dim, span, o);
}

static double roundTo(rt::ElementType type, double value) {
  char element[8];
  writeElement(element, type, 0, value);
  return readElement(element, type, 0);
}

namespace {

/// One KV head of one sequence: K transposed, V as it is.
template <class Real> struct KeysAndValues {
  std::vector<Real> kT, v;
};

/// What one row needs beside them.
template <class Real> struct Scratch {
  std::vector<Real> q, s, o;
};

/// Real is double for the exact result, float for the naive one.
template <class Real> class Reference {
public:
  Reference(const KernelSpec &spec, const RunShape &shape, const ReferenceInputs &inputs,
            ReferenceRows &result)
      : spec(spec), shape(shape), inputs(inputs), result(result) {}

  /// Rows [begin, end) of `result` for the query heads of one KV head.
  void computeChunk(int64_t batch, int64_t headKV, int64_t begin, int64_t end);

private:
  static constexpr bool kIsExact = std::is_same_v<Real, double>;

  KeysAndValues<Real> load(int64_t batch, int64_t headKV);
  void computeRow(const KeysAndValues<Real> &kv, int64_t batch, int64_t head, int64_t row,
                  Scratch<Real> &scratch);

  const KernelSpec &spec;
  const RunShape &shape;
  const ReferenceInputs &inputs;
  ReferenceRows &result;
};

} // namespace

static double element(const rt::TensorArg &t, int64_t b, int64_t row, int64_t head, int64_t d) {
  return readElement(t.data, t.elementType,
                     b * t.strides[0] + row * t.strides[1] + head * t.strides[2] +
                         d * t.strides[3]);
}

template <class Real> KeysAndValues<Real> Reference<Real>::load(int64_t batch, int64_t headKV) {
  int64_t keys = *shape.seqKV, dimQK = *spec.headDim, dimV = *spec.headDimV;
  KeysAndValues<Real> kv{std::vector<Real>(dimQK * keys), std::vector<Real>(keys * dimV)};
  for (int64_t j = 0; j < keys; ++j) {
    for (int64_t d = 0; d < dimQK; ++d)
      kv.kT[d * keys + j] = static_cast<Real>(element(inputs.k, batch, j, headKV, d));
    for (int64_t d = 0; d < dimV; ++d)
      kv.v[j * dimV + d] = static_cast<Real>(element(inputs.v, batch, j, headKV, d));
  }
  return kv;
}

template <class Real>
void Reference<Real>::computeRow(const KeysAndValues<Real> &kv, int64_t batch, int64_t head,
                                 int64_t row, Scratch<Real> &scratch) {
  int64_t query = result.rows[row], dimQK = *spec.headDim, dimV = *spec.headDimV;
  int64_t numRows = static_cast<int64_t>(result.rows.size()), heads = *spec.headsQ;
  double *o = &result.o[((batch * numRows + row) * heads + head) * dimV];
  double &lse = result.lse[(batch * heads + head) * numRows + row];
  double &largestLogit = result.largestLogit[(batch * heads + head) * numRows + row];
  KeySpan span = visibleKeys(spec, shape, query);
  lse = -std::numeric_limits<double>::infinity();
  std::fill(o, o + dimV, 0.0);
  if (span.size() == 0)
    return;

  Real *q = scratch.q.data(), *s = scratch.s.data();
  for (int64_t d = 0; d < dimQK; ++d)
    q[d] = static_cast<Real>(element(inputs.q, batch, query, head, d));
  dotRows(q, kv.kT.data(), dimQK, *shape.seqKV, span, s);

  // The kernel gets scale and cap as f32.
  Real scale = static_cast<float>(*shape.scale);
  Real cap = static_cast<float>(spec.softcap.value_or(0));
  Real maximum = -std::numeric_limits<Real>::infinity();
  for (int64_t j = span.begin; j < span.end; ++j) {
    s[j] *= scale;
    largestLogit = std::max(largestLogit, std::abs(static_cast<double>(s[j])));
    if (spec.softcap)
      s[j] = cap * std::tanh(s[j] / cap);
    if (spec.alibi)
      s[j] -= static_cast<Real>(inputs.slopes[head]) *
              std::abs(static_cast<Real>(query + *shape.seqKV - *shape.seqQ - j));
    maximum = std::max(maximum, s[j]);
  }
  Real sum = 0;
  for (int64_t j = span.begin; j < span.end; ++j) {
    sum += s[j] = std::exp(s[j] - maximum);
    if (!kIsExact && spec.dtype != rt::ElementType::F32)
      s[j] = static_cast<Real>(roundTo(spec.dtype, s[j]));
  }
  lse = maximum + std::log(sum);
  weightRows(s, kv.v.data(), dimV, span, scratch.o.data());
  for (int64_t d = 0; d < dimV; ++d) {
    o[d] = scratch.o[d] / sum;
    if (!kIsExact)
      o[d] = roundTo(*spec.out, o[d]);
  }
}

template <class Real>
void Reference<Real>::computeChunk(int64_t batch, int64_t headKV, int64_t begin, int64_t end) {
  KeysAndValues<Real> kv = load(batch, headKV);
  Scratch<Real> scratch{std::vector<Real>(*spec.headDim), std::vector<Real>(*shape.seqKV),
                        std::vector<Real>(*spec.headDimV)};
  int64_t group = *spec.headsQ / *spec.headsKV;
  for (int64_t head = headKV * group; head < (headKV + 1) * group; ++head)
    for (int64_t row = begin; row < end; ++row)
      computeRow(kv, batch, head, row, scratch);
}

template <class Real>
static void computeRows(const KernelSpec &spec, const RunShape &shape,
                        const ReferenceInputs &inputs, ReferenceRows &result, unsigned threads) {
  Reference<Real> reference(spec, shape, inputs, result);
  // Chunks of rows, each with its own copy of K and V.
  constexpr int64_t kChunk = 256;
  int64_t numRows = static_cast<int64_t>(result.rows.size());
  int64_t chunks = llvm::divideCeil(numRows, kChunk);
  parallelFor(*shape.batch * *spec.headsKV * chunks, threads, [&](int64_t task) {
    int64_t begin = task % chunks * kChunk;
    reference.computeChunk(task / chunks / *spec.headsKV, task / chunks % *spec.headsKV, begin,
                           std::min(begin + kChunk, numRows));
  });
}

ReferenceRows attn::computeReference(const KernelSpec &spec, const RunShape &shape,
                                     const ReferenceInputs &inputs, std::vector<int64_t> rows,
                                     unsigned threads, Precision precision) {
  int64_t batch = *shape.batch, numRows = static_cast<int64_t>(rows.size());
  ReferenceRows result;
  result.rows = std::move(rows);
  result.o.resize(batch * numRows * *spec.headsQ * *spec.headDimV);
  result.lse.resize(batch * *spec.headsQ * numRows);
  result.largestLogit.resize(result.lse.size());
  if (precision == Precision::Float64)
    computeRows<double>(spec, shape, inputs, result, threads);
  else
    computeRows<float>(spec, shape, inputs, result, threads);
  return result;
}
