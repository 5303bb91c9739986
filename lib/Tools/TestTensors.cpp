//===- TestTensors.cpp - Inputs that can be made again --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Tools/TestTensors.h"

#include "attn/Compiler/Reference.h"

#include <cmath>
#include <cstring>
#include <numbers>
#include <sys/mman.h>

using namespace attn;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Strides of [batch, seq, heads, dim] and how many elements the memory holds. Heads of an
/// unaligned layout are `unaligned` elements apart.
static std::pair<std::array<int64_t, 4>, int64_t>
placeRows(Layout layout, llvm::ArrayRef<int64_t> sizes, int64_t unaligned) {
  int64_t batch = sizes[0], seq = sizes[1], heads = sizes[2], dim = sizes[3];
  int64_t row = heads * dim;
  constexpr int64_t kGapRows = 5, kGapElements = 8, kFar = int64_t(1) << 31;
  switch (layout) {
  case Layout::HeadMajor:
    return {{seq * row, dim, seq * dim, 1}, batch * seq * row};
  case Layout::Packed:
    return {{3 * seq * row, 3 * row, dim, 1}, 3 * batch * seq * row};
  case Layout::Padded:
  case Layout::Unaligned: {
    int64_t head = dim + (layout == Layout::Padded ? kGapElements : unaligned);
    int64_t sequence = (seq + kGapRows) * heads * head;
    return {{sequence, heads * head, head, 1}, batch * sequence};
  }
  case Layout::Broadcast:
    return {{0, row, dim, 1}, seq * row};
  case Layout::Sparse:
    return {{kFar, row, dim, 1}, std::max<int64_t>(batch - 1, 0) * kFar + seq * row};
  case Layout::Dense:
    break;
  }
  return {{seq * row, row, dim, 1}, batch * seq * row};
}

rt::Expected<TensorBuffer> TensorBuffer::create(rt::ElementType type, Layout layout,
                                                llvm::ArrayRef<int64_t> sizes, int64_t alignment) {
  TensorBuffer buffer;
  int64_t elements = 1;
  if (layout == Layout::Dense) {
    buffer.tensor = rt::TensorArg::dense(nullptr, type, std::span(sizes.data(), sizes.size()));
    for (int64_t size : sizes)
      elements *= size;
  } else {
    auto [strides, count] =
        placeRows(layout, sizes, std::max<int64_t>(alignment / rt::byteSize(type), 1));
    buffer.tensor =
        rt::TensorArg::strided(nullptr, type, std::span(sizes.data(), sizes.size()), strides);
    elements = count;
  }
  // One element at least: an empty tensor has an address like any other.
  buffer.length = std::max<int64_t>(elements, 1) * rt::byteSize(type);
  void *memory = mmap(nullptr, buffer.length, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return rt::fail(rt::ErrorCode::Unavailable, "cannot allocate " +
                                                    std::to_string(buffer.length >> 20) +
                                                    " MB of memory for a tensor");
  buffer.memory = memory;
  buffer.tensor.data = memory;
  if (layout != Layout::Dense && layout != Layout::Sparse)
    buffer.poison();
  return buffer;
}

TensorBuffer::TensorBuffer(TensorBuffer &&other) noexcept
    : memory(std::exchange(other.memory, nullptr)), length(other.length), tensor(other.tensor) {}

TensorBuffer::~TensorBuffer() {
  if (memory)
    munmap(memory, length);
}

void TensorBuffer::poison() { std::memset(memory, 0xff, length); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// SplitMix64: a well-mixed word for each counter.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A normal number for each counter (Box-Muller).
static double normal(uint64_t counter) {
  uint64_t bits = mix(counter);
  double u = (static_cast<double>(bits >> 40) + 0.5) * 0x1p-24;
  double angle = static_cast<double>(bits & 0xffffff) * (2 * std::numbers::pi * 0x1p-24);
  return std::sqrt(-2 * std::log(u)) * std::cos(angle);
}

namespace {

/// The value of an element from its random number and its position.
struct ValueRule {
  Operand operand;
  InputKind kind;
  double magnitude; ///< Of q and k for Negative.

  double operator()(double random, int64_t row) const {
    if (operand == Operand::V || kind == InputKind::Random)
      return random;
    bool isQ = operand == Operand::Q;
    switch (kind) {
    case InputKind::Peaked:
      return 8 * random;
    case InputKind::ZeroQ:
      return isQ ? 0 : random;
    case InputKind::Negative:
      // Whole multiples of one number: scores are exact in f32.
      return isQ ? magnitude : (row == 0 ? -0.875 : -1) * magnitude;
    default:
      return random;
    }
  }
};

} // namespace

/// What makes scale * dim * magnitude^2 about 5e4, with few significant bits.
static double negativeMagnitude(int64_t dim) {
  double exact = std::sqrt(5e4 / std::sqrt(static_cast<double>(dim)));
  int exponent;
  double fraction = std::frexp(exact, &exponent);
  return std::ldexp(std::round(fraction * 16) / 16, exponent);
}

void attn::fillInput(const rt::TensorArg &t, Operand operand, InputKind kind,
                     const KernelSpec &spec, uint64_t seed, unsigned threads) {
  ValueRule rule{operand, kind, negativeMagnitude(*spec.headDim)};
  uint64_t stream = mix(seed * 3 + static_cast<uint64_t>(operand));
  // Views with stride 0 are written once.
  int64_t sequences = t.strides[0] == 0 ? std::min<int64_t>(t.sizes[0], 1) : t.sizes[0];
  parallelFor(sequences * t.sizes[1], threads, [&](int64_t task) {
    int64_t b = task / t.sizes[1], row = task % t.sizes[1];
    uint64_t counter = stream + static_cast<uint64_t>(task * t.sizes[2] * t.sizes[3]);
    for (int64_t h = 0; h < t.sizes[2]; ++h)
      for (int64_t d = 0; d < t.sizes[3]; ++d)
        writeElement(t.data, t.elementType,
                     b * t.strides[0] + row * t.strides[1] + h * t.strides[2] + d,
                     rule(normal(counter++), row));
  });
}

void attn::fillFrom(const rt::TensorArg &t, const NpyArray &array) {
  size_t at = 0;
  for (int64_t b = 0; b < t.sizes[0]; ++b)
    for (int64_t i = 0; i < t.sizes[1]; ++i)
      for (int64_t h = 0; h < t.sizes[2]; ++h)
        for (int64_t d = 0; d < t.sizes[3]; ++d)
          writeElement(t.data, t.elementType,
                       b * t.strides[0] + i * t.strides[1] + h * t.strides[2] + d,
                       array.values[at++]);
}

std::vector<float> attn::alibiSlopes(int64_t heads) {
  std::vector<float> slopes;
  for (int64_t h = 0; h < heads; ++h)
    slopes.push_back(static_cast<float>(
        std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(heads))));
  return slopes;
}
