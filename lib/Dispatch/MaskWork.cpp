//===- MaskWork.cpp - How many pairs a mask keeps -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dispatch/MaskWork.h"

#include <mlir/IR/Matchers.h>

using namespace mlir;
using namespace attn;

namespace {

/// More rows than this are sampled.
constexpr int64_t kMaxRows = 4096;

/// Evaluates a mask on constants: what it emits folds to constants.
class MaskEvaluator {
public:
  MaskEvaluator(MaskAttrInterface mask, int64_t seqLenQ, int64_t seqLenKV, ArrayRef<int64_t> params)
      : mask(mask), seqLenQ(seqLenQ), seqLenKV(seqLenKV), params(params), b(mask.getContext()) {
    b.getContext()->loadDialect<arith::ArithDialect>();
  }

  /// Keys that a row keeps, at most; clears `isExact` when it may keep fewer.
  int64_t keysOfRow(int64_t row, bool &isExact);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, b.getUnknownLoc(), value);
  }
  /// The size of a range within [0, seqLenKV), or nothing when it did not fold.
  std::optional<int64_t> size(KeyRange range) const;

  MaskAttrInterface mask;
  int64_t seqLenQ, seqLenKV;
  ArrayRef<int64_t> params;
  OpBuilder b;
};

} // namespace

std::optional<int64_t> MaskEvaluator::size(KeyRange range) const {
  APInt begin, end;
  if (!matchPattern(range.begin, m_ConstantInt(&begin)) ||
      !matchPattern(range.end, m_ConstantInt(&end)))
    return std::nullopt;
  int64_t first = std::max<int64_t>(begin.getSExtValue(), 0);
  int64_t last = std::min(end.getSExtValue(), seqLenKV);
  return std::max<int64_t>(last - first, 0);
}

int64_t MaskEvaluator::keysOfRow(int64_t row, bool &isExact) {
  // The operations of one row live and die in a block of their own.
  Block block;
  b.setInsertionPointToStart(&block);
  SmallVector<Value> values = llvm::map_to_vector(params, [&](int64_t p) { return constant(p); });
  MaskContext ctx(b, b.getUnknownLoc(), constant(seqLenQ), constant(seqLenKV), values);
  Value begin = constant(row), end = constant(row + 1);
  std::optional<int64_t> kept = size(mask.keptRange(ctx, begin, end));
  std::optional<int64_t> full = size(mask.fullRange(ctx, begin, end));
  isExact &= kept && full && *kept == *full;
  b.clearInsertionPoint();
  return kept.value_or(seqLenKV);
}

KeptPairs attn::countKeptPairs(MaskAttrInterface mask, int64_t seqLenQ, int64_t seqLenKV,
                               ArrayRef<int64_t> params) {
  KeptPairs pairs;
  if (mask.keepsAll() || mask.getNumParams() != params.size()) {
    pairs.count = static_cast<double>(seqLenQ) * static_cast<double>(seqLenKV);
    pairs.isExact = mask.keepsAll();
    return pairs;
  }
  MaskEvaluator evaluator(mask, seqLenQ, seqLenKV, params);
  int64_t step = std::max<int64_t>(llvm::divideCeil(seqLenQ, kMaxRows), 1);
  for (int64_t row = 0; row < seqLenQ; row += step) {
    int64_t rows = std::min(step, seqLenQ - row);
    int64_t middle = row + rows / 2;
    pairs.count +=
        static_cast<double>(rows) * static_cast<double>(evaluator.keysOfRow(middle, pairs.isExact));
  }
  return pairs;
}
