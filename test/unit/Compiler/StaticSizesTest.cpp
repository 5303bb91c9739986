//===- StaticSizesTest.cpp - Problems of few tiles and known sizes --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of one iteration fold away where sizes are known: a grid of one tile, keys of one tile.
//
//===----------------------------------------------------------------------===//

#include "CompilerTestUtils.h"
#include "attn/Compiler/EmulatedProgram.h"
#include "attn/Compiler/HostProgram.h"
#include "attn/Compiler/Reference.h"

#include <cmath>
#include <llvm/Support/FormatVariadic.h>
#include <random>

using namespace attn;

namespace {

constexpr int64_t kDim = 64;

struct Sizes {
  int64_t batch, seqQ, seqKV, headsQ, headsKV;
};

std::string problemOf(const Sizes &sizes, const char *mask) {
  return llvm::formatv(R"(
    !q = memref<{0}x{1}x{3}x{5}xf16>
    !k = memref<{0}x{2}x{4}x{5}xf16>
    !l = memref<{0}x{3}x{1}xf32>
    func.func @f(%q: !q, %k: !k, %v: !k, %o: !q, %l: !l, %s: f32) {{
      attn.forward ins(%q, %k, %v : !q, !k, !k) outs(%o, %l : !q, !l) scale(%s)
                   mask(#attn.{6}) alignment(16)
      return
    })",
                       sizes.batch, sizes.seqQ, sizes.seqKV, sizes.headsQ, sizes.headsKV, kDim,
                       mask);
}

rt::Status runOn(const std::string &target, const std::string &text,
                 std::span<const rt::Argument> arguments) {
  Compiler compiler = test::compilerFor(target);
  ProblemText problem{text, "static.mlir"};
  if (target == "cpu") {
    auto program = compiler.compileHost(problem);
    return program ? (*program)->run(arguments) : rt::fail(program.error());
  }
  auto program = compiler.compileEmulated(problem);
  return program ? (*program)->run(arguments, {}) : rt::fail(program.error());
}

class StaticSizes : public testing::TestWithParam<const char *> {
protected:
  void matchesFloat64(const Sizes &sizes, const std::string &mask) {
    SCOPED_TRACE(problemOf(sizes, "..."));
    auto [batch, seqQ, seqKV, headsQ, headsKV] = sizes;
    std::vector<uint16_t> q(batch * seqQ * headsQ * kDim), k(batch * seqKV * headsKV * kDim);
    std::vector<uint16_t> v(k.size()), o(q.size(), 0xffff); // NaN
    std::vector<float> lse(batch * headsQ * seqQ, NAN);
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> uniform(-2, 2);
    for (std::vector<uint16_t> *tensor : {&q, &k, &v})
      for (size_t i = 0; i < tensor->size(); ++i)
        writeElement(tensor->data(), rt::ElementType::F16, i, uniform(generator));
    auto tensor = [&](std::vector<uint16_t> &data, int64_t seq, int64_t heads) {
      return rt::TensorArg::dense(data.data(), rt::ElementType::F16, {batch, seq, heads, kDim});
    };
    rt::TensorArg tq = tensor(q, seqQ, headsQ), tk = tensor(k, seqKV, headsKV),
                  tv = tensor(v, seqKV, headsKV);
    constexpr float kScale = 0.125f;
    rt::Argument arguments[] = {
        tq,
        tk,
        tv,
        tensor(o, seqQ, headsQ),
        rt::TensorArg::dense(lse.data(), rt::ElementType::F32, {batch, headsQ, seqQ}),
        rt::ScalarArg(kScale)};
    const char *attribute = mask == "causal" ? "causal<bottom_right>" : "none";
    rt::Status status = runOn(GetParam(), problemOf(sizes, attribute), arguments);
    ASSERT_TRUE(status) << status.error().message;

    KernelSpec spec = test::spec({"dtype=f16", "head_dim=64", "heads_q=" + std::to_string(headsQ),
                                  "heads_kv=" + std::to_string(headsKV), "mask=" + mask});
    std::vector<int64_t> rows(seqQ);
    std::iota(rows.begin(), rows.end(), 0);
    ReferenceRows expected =
        computeReference(spec, {batch, seqQ, seqKV, kScale}, {tq, tk, tv}, rows, 1);
    for (size_t i = 0; i < o.size(); ++i)
      ASSERT_NEAR(readElement(o.data(), rt::ElementType::F16, i), expected.o[i], 4e-3) << i;
    for (size_t i = 0; i < lse.size(); ++i)
      if (std::isinf(expected.lse[i]))
        ASSERT_EQ(lse[i], expected.lse[i]) << i;
      else
        ASSERT_NEAR(lse[i], expected.lse[i], 4e-3) << i;
  }
};

TEST_P(StaticSizes, OneTile) {
  matchesFloat64({1, 64, 64, 1, 1}, "none");
  matchesFloat64({1, 64, 64, 1, 1}, "causal");
  matchesFloat64({1, 5, 3, 1, 1}, "causal");
}

TEST_P(StaticSizes, OneTileOfQueries) {
  matchesFloat64({1, 64, 500, 1, 1}, "none");
  matchesFloat64({1, 64, 500, 1, 1}, "causal");
}

TEST_P(StaticSizes, OneTileOfKeys) { matchesFloat64({2, 300, 40, 2, 1}, "none"); }

TEST_P(StaticSizes, OneQuery) {
  matchesFloat64({1, 1, 40, 1, 1}, "none");
  matchesFloat64({1, 1, 300, 4, 1}, "none");
}

TEST_P(StaticSizes, NoKeysNoQueriesNoSequences) {
  matchesFloat64({1, 64, 0, 1, 1}, "none");
  matchesFloat64({1, 0, 64, 1, 1}, "none");
  matchesFloat64({0, 64, 64, 1, 1}, "none");
}

INSTANTIATE_TEST_SUITE_P(Targets, StaticSizes, testing::Values("cpu", "sm_80", "sm_90a"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
