//===- MaskWorkTest.cpp - Counts of kept pairs ----------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dispatch/MaskWork.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;

namespace {

class MaskWork : public ::testing::Test {
protected:
  MaskWork() { context.loadDialect<AttnDialect>(); }

  MaskAttrInterface causal(Alignment alignment = Alignment::BottomRight) {
    return CausalMaskAttr::get(&context, alignment);
  }
  MaskAttrInterface window(int64_t left, int64_t right) {
    return WindowMaskAttr::get(&context, left, right, Alignment::BottomRight);
  }

  MLIRContext context;
};

} // namespace

TEST_F(MaskWork, Full) {
  KeptPairs pairs = countKeptPairs(NoneMaskAttr::get(&context), 1000, 1337);
  EXPECT_EQ(pairs.count, 1000.0 * 1337);
  EXPECT_TRUE(pairs.isExact);
}

TEST_F(MaskWork, Causal) {
  KeptPairs pairs = countKeptPairs(causal(), 5, 2);
  // Rows 0 to 2 see nothing.
  EXPECT_EQ(pairs.count, 1 + 2);
  EXPECT_TRUE(pairs.isExact);
  EXPECT_EQ(countKeptPairs(causal(), 2, 5).count, 4 + 5);
  EXPECT_EQ(countKeptPairs(causal(Alignment::TopLeft), 2, 5).count, 1 + 2);
  EXPECT_EQ(countKeptPairs(causal(), 100, 100).count, 5050);
}

TEST_F(MaskWork, LongSequencesAreSampled) {
  int64_t n = 100003;
  double exact = 0.5 * static_cast<double>(n) * static_cast<double>(n + 1);
  EXPECT_NEAR(countKeptPairs(causal(), n, n).count / exact, 1.0, 1e-3);
}

TEST_F(MaskWork, Window) {
  EXPECT_EQ(countKeptPairs(window(1, 0), 4, 4).count, 1 + 2 + 2 + 2);
  auto both = AllOfMaskAttr::get(&context, {causal(), window(1, 7)});
  EXPECT_EQ(countKeptPairs(both, 4, 4).count, 1 + 2 + 2 + 2);
}

TEST_F(MaskWork, RunTimeBounds) {
  auto mask = window(ShapedType::kDynamic, 0);
  KeptPairs unknown = countKeptPairs(mask, 4, 4);
  EXPECT_EQ(unknown.count, 16);
  EXPECT_FALSE(unknown.isExact);
  KeptPairs known = countKeptPairs(mask, 4, 4, {1});
  EXPECT_EQ(known.count, 1 + 2 + 2 + 2);
  EXPECT_TRUE(known.isExact);
}

TEST_F(MaskWork, GapsGiveABound) {
  auto mask = AnyOfMaskAttr::get(&context,
                                 {CausalMaskAttr::get(&context, Alignment::TopLeft), window(0, 0)});
  KeptPairs pairs = countKeptPairs(mask, 2, 8);
  EXPECT_FALSE(pairs.isExact);
  EXPECT_GE(pairs.count, 1 + 2 + 2);
}

TEST_F(MaskWork, NothingToDo) {
  EXPECT_EQ(countKeptPairs(causal(), 0, 5).count, 0);
  EXPECT_EQ(countKeptPairs(causal(), 5, 0).count, 0);
}
