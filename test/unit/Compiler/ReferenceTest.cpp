//===- ReferenceTest.cpp - Float64 against values worked out by hand ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/Reference.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

KernelSpec makeSpec(std::vector<std::string> words) {
  words.insert(words.end(), {"dtype=f32", "head_dim=8", "heads_q=1"});
  auto parsed = parseSpec(words, ShapeWords::Refused);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed->spec;
}

/// q = k = 0 but for the first column; v's rows are their own number.
struct Call {
  std::vector<float> q, k, v;
  RunShape shape;

  Call(int64_t seqQ, int64_t seqKV) : q(seqQ * 8), k(seqKV * 8), v(seqKV * 8) {
    shape = {1, seqQ, seqKV, 1.0};
    for (int64_t j = 0; j < seqKV * 8; ++j)
      v[j] = static_cast<float>(j / 8);
  }

  ReferenceRows run(const KernelSpec &spec, const float *slopes = nullptr) {
    auto tensor = [](std::vector<float> &data) {
      int64_t rows = static_cast<int64_t>(data.size()) / 8;
      return rt::TensorArg::dense(data.data(), rt::ElementType::F32, {1, rows, 1, 8});
    };
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < *shape.seqQ; ++i)
      rows.push_back(i);
    return computeReference(spec, shape, {tensor(q), tensor(k), tensor(v), slopes}, rows, 2);
  }
};

TEST(Reference, ZeroQueriesGiveTheMeanOfVisibleValues) {
  ReferenceRows result = Call(2, 5).run(makeSpec({"mask=causal"}));
  EXPECT_DOUBLE_EQ(result.o[0], 1.5); // keys 0 to 3
  EXPECT_DOUBLE_EQ(result.o[8], 2.0); // keys 0 to 4
  EXPECT_DOUBLE_EQ(result.lse[1], std::log(5.0));
}

TEST(Reference, RowsWithoutKeysAreZero) {
  ReferenceRows result = Call(5, 2).run(makeSpec({"mask=causal"}));
  for (int row = 0; row < 3; ++row) {
    EXPECT_EQ(result.o[row * 8], 0);
    EXPECT_EQ(result.lse[row], -kInfinity);
  }
  EXPECT_EQ(result.o[3 * 8], 0);
  EXPECT_EQ(result.o[4 * 8], 0.5);
}

TEST(Reference, SoftcapComesBeforeAlibi) {
  Call call(1, 2);
  call.q[0] = 10;
  call.k[0] = 1; // Scores 10 and 0.
  float slope = 0.25;
  ReferenceRows result = call.run(makeSpec({"softcap=2", "alibi=true"}), &slope);
  double first = std::exp(2 * std::tanh(5.0) - 0.25), second = 1;
  EXPECT_NEAR(result.o[0], second / (first + second), 1e-12);
}

TEST(Reference, Windows) {
  auto span = [](std::vector<std::string> words, int64_t seqQ, int64_t seqKV, int64_t query) {
    RunShape shape{1, seqQ, seqKV, 1.0};
    KeySpan keys = visibleKeys(makeSpec(std::move(words)), shape, query);
    return std::pair(keys.begin, keys.end);
  };
  // A window of 4096 at length 5000 is keys 904 to 4999.
  EXPECT_EQ(span({"mask=causal", "window=4096"}, 1, 5000, 0), std::pair(904l, 5000l));
  EXPECT_EQ(span({"mask=window", "window=1,2"}, 10, 10, 5), std::pair(4l, 8l));
  EXPECT_EQ(span({"mask=window_top_left", "window=1,2"}, 5, 10, 4), std::pair(3l, 7l));
  // A bound that reaches the length is unlimited, also left of key 0.
  EXPECT_EQ(span({"mask=window", "window=10,10"}, 100, 10, 0), std::pair(0l, 10l));
}

TEST(Reference, ElementsRoundToNearestEven) {
  uint16_t bits[1];
  for (auto [value, want] : {std::pair(1.00390625, 1.0), {1.01171875, 1.015625}, {-3.0, -3.0}}) {
    writeElement(bits, rt::ElementType::BF16, 0, value);
    EXPECT_EQ(readElement(bits, rt::ElementType::BF16, 0), want);
  }
  writeElement(bits, rt::ElementType::F16, 0, 1.00048828125);
  EXPECT_EQ(readElement(bits, rt::ElementType::F16, 0), 1.0);
  writeElement(bits, rt::ElementType::BF16, 0, std::nan(""));
  EXPECT_TRUE(std::isnan(readElement(bits, rt::ElementType::BF16, 0)));
  writeElement(bits, rt::ElementType::BF16, 0, kInfinity);
  EXPECT_EQ(readElement(bits, rt::ElementType::BF16, 0), kInfinity);
}

} // namespace
