//===- MaskWork.h - How many pairs a mask keeps -----------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISPATCH_MASKWORK_H
#define ATTN_DISPATCH_MASKWORK_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Pairs (query, key) of one head of one sequence.
struct KeptPairs {
  double count = 0;
  /// False when the mask tells only a bound: run-time parameters that are not given, or
  /// a row with gaps. `count` is then an upper bound.
  bool isExact = true;
};

/// Evaluates the mask's own ranges row by row; of long sequences every n-th row stands
/// for its neighbours. `params` are the values of the mask's run-time parameters, of type
/// index.
KeptPairs countKeptPairs(MaskAttrInterface mask, int64_t seqLenQ, int64_t seqLenKV,
                         llvm::ArrayRef<int64_t> params = {});

} // namespace attn

#endif // ATTN_DISPATCH_MASKWORK_H
