//===- Compare.cpp - A result against what is right -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "attn/Runtime/Hash.h"

#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include <cmath>

using namespace attn;

double attn::toleranceOf(rt::ElementType type) {
  switch (type) {
  case rt::ElementType::BF16:
    return 1e-2;
  case rt::ElementType::F16:
    return 2e-3;
  default:
    return 1e-5;
  }
}

/// What no inputs excuse.
constexpr double kMaxTolerance = 1e-2;

/// The distance of 1 to the next number.
static double epsilonOf(rt::ElementType type) {
  switch (type) {
  case rt::ElementType::BF16:
    return 0x1p-7;
  case rt::ElementType::F16:
    return 0x1p-10;
  default:
    return 0x1p-23;
  }
}

std::vector<int64_t> attn::chooseRows(const KernelSpec &spec, const RunShape &shape) {
  constexpr double kMaxFlops = 4e11;
  double flops = 2 * countPairs(spec, shape) * static_cast<double>(*spec.headDim + *spec.headDimV);
  int64_t step = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(flops / kMaxFlops)));
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < *shape.seqQ; row += step)
    rows.push_back(row);
  if (*shape.seqQ > 0 && rows.back() != *shape.seqQ - 1)
    rows.push_back(*shape.seqQ - 1);
  return rows;
}

namespace {

/// Sums differences; NaN anywhere makes every sum NaN, which passes no comparison.
struct Accumulator {
  double sumSquares = 0, sumWantSquares = 0, sumAbs = 0, maxAbs = 0;
  int64_t count = 0;

  void add(double got, double want) {
    double difference = std::abs(got - want);
    sumSquares += difference * difference;
    sumWantSquares += want * want;
    sumAbs += difference;
    maxAbs = difference <= maxAbs ? maxAbs : difference;
    ++count;
  }

  double relative() const {
    // A result that should be all zero has no other scale than itself.
    return std::sqrt(sumSquares / (sumWantSquares > 0 ? sumWantSquares : 1));
  }

  void finish(ErrorReport &report) const {
    report.maxAbs = maxAbs;
    report.meanAbs = count ? sumAbs / static_cast<double>(count) : 0;
    report.relative = relative();
    report.passed = report.relative <= report.tolerance && !std::isnan(maxAbs);
    if (!report.passed)
      report.failure =
          llvm::formatv("relative error {0:e3} exceeds {1:e0}", report.relative, report.tolerance);
  }
};

} // namespace

static double readO(const rt::TensorArg &o, int64_t b, int64_t row, int64_t h, int64_t d) {
  return readElement(o.data, o.elementType,
                     b * o.strides[0] + row * o.strides[1] + h * o.strides[2] + d);
}

/// |got - want| relative to want where it is large; 0 for equal infinities.
static double lseError(double got, double want) {
  if (got == want)
    return 0;
  return std::abs(got - want) / std::max(1.0, std::abs(want));
}

/// What rounding the largest logit to f32 changes a weight by, relative to it: S is f32 in every
/// code, and how far it is off is luck. Logits beyond 2^10 pass for chosen, not random, ones, of
/// which f32 tells the largest apart.
static double logitUnit(const ReferenceRows &reference) {
  double largest = 0;
  for (double logit : reference.largestLogit)
    largest = std::max(largest, logit);
  return std::min(largest, 0x1p10) * 0x1p-23;
}

/// Enough digits to tell two f32 apart.
static std::string f32Text(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

/// What naive code gets wrong.
struct NaiveError {
  double relative = 0, maxAbs = 0;

  NaiveError(const ReferenceRows &reference, const ReferenceRows &naive) {
    Accumulator total;
    for (auto [got, want] : llvm::zip_equal(naive.o, reference.o))
      total.add(got, want);
    relative = total.relative();
    maxAbs = total.maxAbs;
  }
};

ErrorReport attn::compareWithReference(const KernelSpec &spec, const rt::TensorArg &o,
                                       const float *lse, const ReferenceRows &reference,
                                       const ReferenceRows &naive) {
  ErrorReport report;
  NaiveError ofNaive(reference, naive);
  double unit = logitUnit(reference);
  // Where naive code misses the tolerance, f32 logits do not allow for it.
  report.tolerance =
      std::max({toleranceOf(spec.dtype), unit, std::min(2 * ofNaive.relative, kMaxTolerance)});
  report.naiveMaxAbs = ofNaive.maxAbs;
  report.totalRows = o.sizes[1];
  report.checkedRows = static_cast<int64_t>(reference.rows.size());
  Accumulator total;
  int64_t batch = o.sizes[0], heads = o.sizes[2], dim = o.sizes[3];
  std::string exactFailure;
  const double *want = reference.o.data();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t r = 0; r < report.checkedRows; ++r)
      for (int64_t h = 0; h < heads; ++h) {
        int64_t row = reference.rows[r];
        double wantLse = reference.lse[(b * heads + h) * report.checkedRows + r];
        bool isEmpty = std::isinf(wantLse);
        for (int64_t d = 0; d < dim; ++d) {
          double got = readO(o, b, row, h, d);
          total.add(got, *want++);
          if (isEmpty && got != 0)
            exactFailure =
                llvm::formatv("row {0} of head {1} sees no key: expected 0, got {2}", row, h, got);
        }
        if (!lse)
          continue;
        double gotLse = lse[(b * heads + h) * o.sizes[1] + row];
        double error = lseError(gotLse, wantLse);
        report.lseMaxAbs = error <= report.lseMaxAbs ? report.lseMaxAbs : error;
        if (!(error <= toleranceOf(spec.dtype)))
          exactFailure = llvm::formatv("lse of row {0} of head {1}: expected {2}, got {3}", row, h,
                                       f32Text(wantLse), f32Text(gotLse));
      }
  total.finish(report);
  double largest = 0;
  for (double value : reference.o)
    largest = std::max(largest, std::abs(value));
  // One unit in the last place of the largest element, or logit, is nobody's fault.
  double limit = 2 * report.naiveMaxAbs + largest * (epsilonOf(o.elementType) + unit);
  if (report.passed && !(report.maxAbs <= limit))
    exactFailure = llvm::formatv("largest error {0:e3} exceeds {1:e3}, twice that of naive code",
                                 report.maxAbs, limit);
  if (report.passed && !exactFailure.empty()) {
    report.passed = false;
    report.failure = exactFailure;
  }
  return report;
}

ErrorReport attn::compareWithArray(const KernelSpec &spec, const rt::TensorArg &o,
                                   const NpyArray &expected) {
  ErrorReport report;
  report.tolerance = toleranceOf(spec.dtype);
  report.totalRows = report.checkedRows = o.sizes[1];
  Accumulator total;
  const double *want = expected.values.data();
  for (int64_t b = 0; b < o.sizes[0]; ++b)
    for (int64_t row = 0; row < o.sizes[1]; ++row)
      for (int64_t h = 0; h < o.sizes[2]; ++h)
        for (int64_t d = 0; d < o.sizes[3]; ++d)
          total.add(readO(o, b, row, h, d), *want++);
  total.finish(report);
  return report;
}

std::string attn::digestOf(const rt::TensorArg &o) {
  size_t rowBytes = o.sizes[3] * rt::byteSize(o.elementType);
  std::string elements;
  elements.reserve(o.sizes[0] * o.sizes[1] * o.sizes[2] * rowBytes);
  for (int64_t b = 0; b < o.sizes[0]; ++b)
    for (int64_t row = 0; row < o.sizes[1]; ++row)
      for (int64_t h = 0; h < o.sizes[2]; ++h)
        elements.append(static_cast<const char *>(o.data) +
                            (b * o.strides[0] + row * o.strides[1] + h * o.strides[2]) *
                                rt::byteSize(o.elementType),
                        rowBytes);
  return rt::toHex(rt::sha256({elements}));
}

bool attn::gapsAreUntouched(const TensorBuffer &buffer) {
  const rt::TensorArg &o = buffer.view();
  int64_t elementBytes = rt::byteSize(o.elementType);
  std::vector<bool> isElement(buffer.bytes() / elementBytes);
  for (int64_t b = 0; b < o.sizes[0]; ++b)
    for (int64_t row = 0; row < o.sizes[1]; ++row)
      for (int64_t h = 0; h < o.sizes[2]; ++h)
        for (int64_t d = 0; d < o.sizes[3]; ++d)
          isElement[b * o.strides[0] + row * o.strides[1] + h * o.strides[2] + d] = true;
  const auto *bytes = static_cast<const unsigned char *>(buffer.data());
  for (size_t i = 0; i < buffer.bytes(); ++i)
    if (!isElement[i / elementBytes] && bytes[i] != 0xff)
      return false;
  return true;
}
