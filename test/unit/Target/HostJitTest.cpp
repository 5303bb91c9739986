//===- HostJitTest.cpp - Attention on the host against float64 ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionProblem.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

using namespace attn;
using namespace attn::test;

static bool keepAll(int64_t, int64_t, int64_t, int64_t) { return true; }
static bool causal(int64_t i, int64_t j, int64_t sq, int64_t sk) { return j <= i + sk - sq; }
static bool causalTopLeft(int64_t i, int64_t j, int64_t, int64_t) { return j <= i; }

static Keep window(int64_t left, int64_t right) {
  return [=](int64_t i, int64_t j, int64_t sq, int64_t sk) {
    int64_t diagonal = i + sk - sq;
    return (left < 0 || left >= sk || j >= diagonal - left) &&
           (right < 0 || right >= sk || j <= diagonal + right);
  };
}

static double tolerance(Element element) {
  return element == Element::F32 ? 1e-5 : element == Element::F16 ? 2e-3 : 1e-2;
}

using Prepare = std::function<void(Trial &)>;

struct Options {
  Order order = Order::TokenMajor;
  unsigned numThreads = 2;
  /// Changes the random inputs.
  Prepare prepare = [](Trial &) {};
};

static void check(const Problem &problem, llvm::ArrayRef<Sizes> allSizes, const Keep &keep,
                  const Options &options = {}) {
  std::unique_ptr<HostKernel> kernel = compile(problem);
  for (const Sizes &sizes : allSizes) {
    SCOPED_TRACE("seq_q " + std::to_string(sizes.seqQ) + " seq_kv " + std::to_string(sizes.seqKV));
    Trial run(problem, sizes, options.order);
    options.prepare(run);
    std::string wrong = run.run(*kernel, options.numThreads);
    Errors errors = run.compare(keep, wrong);
    EXPECT_EQ(wrong, "");
    EXPECT_LE(errors.relative, tolerance(problem.element));
    EXPECT_LE(errors.lse, 1e-5);
  }
}

static const Sizes edges[] = {{1, 1, 1},     {1, 63, 63},  {2, 64, 64},  {1, 65, 65},
                              {1, 129, 129}, {1, 5, 2},    {1, 2, 5},    {1, 1, 704},
                              {1, 100, 37},  {1, 37, 100}, {1, 63, 129}, {1, 129, 63}};

TEST(HostJit, LengthsOfAllElementTypes) {
  for (Element element : {Element::F32, Element::F16, Element::BF16}) {
    check({.element = element}, edges, keepAll);
    check({.element = element, .mask = "#attn.causal<bottom_right>"}, edges, causal);
  }
}

TEST(HostJit, LongerSequence) {
  check({.mask = "#attn.causal<bottom_right>"}, Sizes{1, 704, 704}, causal);
  check({.element = Element::BF16}, Sizes{1, 64, 1025}, keepAll);
}

TEST(HostJit, EmptySequences) {
  Sizes empty[] = {{1, 3, 0}, {1, 0, 3}, {0, 3, 3}, {1, 0, 0}};
  check({}, empty, keepAll);
  check({.mask = "#attn.causal<bottom_right>"}, empty, causal);
  check({.algorithm = "fa1"}, empty, keepAll);
  check({.splitKV = 3}, empty, keepAll);
}

TEST(HostJit, Masks) {
  check({.mask = "#attn.causal<top_left>"}, edges, causalTopLeft);
  check({.mask = "#attn.window<16, 0>"}, edges, window(16, 0));
  check({.mask = "#attn.window<-1, 3>"}, edges, window(-1, 3));
  check({.mask = "#attn.window<40, 40>"}, edges, window(40, 40));
  check({.mask = "#attn.all_of<#attn.causal<top_left>, #attn.window<20, 7>>"}, edges,
        [](int64_t i, int64_t j, int64_t sq, int64_t sk) {
          return causalTopLeft(i, j, sq, sk) && window(20, 7)(i, j, sq, sk);
        });
  check({.mask = "#attn.any_of<#attn.causal<top_left>, #attn.window<3, 7>>"}, edges,
        [](int64_t i, int64_t j, int64_t sq, int64_t sk) {
          return causalTopLeft(i, j, sq, sk) || window(3, 7)(i, j, sq, sk);
        });
}

TEST(HostJit, ScoreRegions) {
  for (Element element : {Element::F32, Element::BF16}) {
    check({.element = element, .softcap = true}, edges, keepAll);
    check({.element = element, .mask = "#attn.causal<bottom_right>", .alibi = true}, edges, causal);
    check({.element = element, .softcap = true, .alibi = true}, edges, keepAll);
  }
}

TEST(HostJit, Algorithms) {
  for (const char *algorithm : {"naive", "two_pass", "fa1", "fa2"}) {
    check({.algorithm = algorithm}, edges, keepAll);
    check({.algorithm = algorithm, .mask = "#attn.causal<bottom_right>"}, edges, causal);
    check({.algorithm = algorithm, .mask = "#attn.window<9, 2>", .softcap = true}, edges,
          window(9, 2));
    check({.element = Element::BF16, .algorithm = algorithm, .f32Output = true}, edges, keepAll);
  }
}

TEST(HostJit, GroupedHeads) {
  check({.headsQ = 6, .headsKV = 2}, Sizes{2, 65, 70}, keepAll);
  check({.headsQ = 7, .headsKV = 1}, Sizes{2, 65, 70}, keepAll);
  check({.headsQ = 5, .headsKV = 5}, Sizes{2, 65, 70}, keepAll);
}

TEST(HostJit, HeadDims) {
  for (int64_t dim : {8, 24, 40, 72, 80, 96, 104, 128, 160, 192, 256})
    check({.dimQK = dim, .dimV = dim}, Sizes{1, 65, 70}, keepAll);
  check({.dimQK = 192, .dimV = 128}, Sizes{1, 65, 70}, keepAll);
  check({.dimQK = 64, .dimV = 256}, Sizes{1, 65, 70}, keepAll);
  check({.dimQK = 128, .dimV = 512}, Sizes{1, 65, 70}, keepAll);
}

TEST(HostJit, TileSizes) {
  struct Tiles {
    int64_t q, kv;
  };
  for (Tiles tiles : {Tiles{1, 64}, Tiles{3, 5}, Tiles{8, 1}, Tiles{17, 20}, Tiles{128, 48},
                      Tiles{7, 8}, Tiles{64, 130}, Tiles{256, 256}})
    for (unsigned width : {4u, 8u, 16u})
      check({.dimV = 40,
             .mask = "#attn.causal<bottom_right>",
             .qTile = tiles.q,
             .kvTile = tiles.kv,
             .vectorWidth = width},
            {{1, 37, 100}, {1, 70, 33}}, causal);
}

TEST(HostJit, VectorWidths) {
  for (unsigned width : {4u, 8u, 16u})
    for (Element element : {Element::F32, Element::F16, Element::BF16})
      check({.element = element,
             .dimQK = 72,
             .dimV = 40,
             .mask = "#attn.window<20, 5>",
             .softcap = true,
             .alibi = true,
             .vectorWidth = width},
            {{1, 37, 100}, {2, 70, 33}}, window(20, 5));
}

TEST(HostJit, SplitKV) {
  for (int64_t parts : {2, 3, 7}) {
    check({.splitKV = parts}, edges, keepAll);
    check({.element = Element::BF16, .mask = "#attn.causal<bottom_right>", .splitKV = parts}, edges,
          causal);
  }
}

TEST(HostJit, Strides) {
  for (Order order : {Order::HeadMajor, Order::BatchInside, Order::Expanded})
    for (Element element : {Element::F32, Element::BF16})
      check({.element = element, .headsQ = 4}, {{3, 65, 70}, {2, 10, 129}}, keepAll,
            {.order = order});
}

static void fill(Tensor &tensor, const std::function<double(llvm::ArrayRef<int64_t>)> &value) {
  for (int64_t b = 0; b < tensor.sizes[0]; ++b)
    for (int64_t i = 0; i < tensor.sizes[1]; ++i)
      for (int64_t h = 0; h < tensor.sizes[2]; ++h)
        for (int64_t d = 0; d < tensor.sizes[3]; ++d)
          tensor.set({b, i, h, d}, value({b, i, h, d}));
}

/// One element of q is not 0, so that the logit of key j is the first element of its row.
static Prepare logits(const std::function<double(int64_t key)> &value) {
  return [=](Trial &run) {
    run.scale = 1.0f;
    fill(run.q, [](llvm::ArrayRef<int64_t> at) { return at[3] == 0 ? 1.0 : 0.0; });
    fill(run.k, [&](llvm::ArrayRef<int64_t> at) { return at[3] == 0 ? value(at[1]) : 1.0; });
  };
}

TEST(HostJit, LargeLogits) {
  // Merges too: f32 does not resolve ln(l) beside 5e4, the tail of LSE does.
  for (Problem problem : {Problem{.algorithm = "naive"}, Problem{.algorithm = "two_pass"},
                          Problem{.algorithm = "fa1"}, Problem{.algorithm = "fa2"},
                          Problem{.algorithm = "fa2", .splitKV = 3},
                          Problem{.algorithm = "fa2", .kvTile = 16, .splitKV = 7}}) {
    Sizes sizes = {1, 5, 200};
    check(problem, sizes, keepAll, {.prepare = logits([](int64_t) { return -5e4; })});
    check(problem, sizes, keepAll, {.prepare = logits([](int64_t) { return -3e38; })});
    check(problem, sizes, keepAll,
          {.prepare = logits([](int64_t key) { return key == 130 ? -4.5e4 : -5e4; })});
    check(problem, sizes, keepAll,
          {.prepare = logits([](int64_t key) { return key < 70 ? -1e4 * (70 - key) : 8e4; })});
  }
  // Many parts of one weight: each merge adds little to a large LSE.
  for (double logit : {-5e4, -3e38, 3e38})
    for (Problem problem : {Problem{.algorithm = "fa1", .kvTile = 16}, Problem{.splitKV = 64}})
      check(problem, Sizes{1, 3, 4100}, keepAll,
            {.prepare = logits([=](int64_t) { return logit; })});
  auto lowParts = logits([](int64_t key) { return -120.0 - 1e3 * (key / 64); });
  check({.algorithm = "fa1"}, Sizes{1, 5, 200}, keepAll, {.prepare = lowParts});
  check({.splitKV = 3}, Sizes{1, 5, 200}, keepAll, {.prepare = lowParts});
}

TEST(HostJit, ZeroScale) {
  auto zero = [](Trial &run) { run.scale = 0.0f; };
  check({}, edges, keepAll, {.prepare = zero});
  check({.mask = "#attn.causal<bottom_right>"}, edges, causal, {.prepare = zero});
}

TEST(HostJit, ResultsDoNotDependOnThreads) {
  Problem problem = {.mask = "#attn.causal<bottom_right>"};
  std::unique_ptr<HostKernel> kernel = compile(problem);
  Trial first(problem, {2, 300, 300}, Order::TokenMajor);
  ASSERT_EQ(first.run(*kernel, 1), "");
  std::string wrong;
  EXPECT_LE(first.compare(causal, wrong).relative, 1e-5);
  for (unsigned threads : {2u, 3u, 9u}) {
    Trial other(problem, {2, 300, 300}, Order::TokenMajor);
    ASSERT_EQ(other.run(*kernel, threads), "");
    EXPECT_TRUE(first.o.hasSameBits(other.o));
    EXPECT_TRUE(first.lse.hasSameBits(other.lse));
  }
}

TEST(HostJit, EmptyPartsChangeNothing) {
  // All keys lie in the last of three parts or, with a longer sequence, in part 1 of it.
  Problem whole, parts = {.splitKV = 3};
  Trial a(whole, {1, 40, 50}, Order::TokenMajor), b(parts, {1, 40, 50}, Order::TokenMajor);
  ASSERT_EQ(a.run(*compile(whole)), "");
  ASSERT_EQ(b.run(*compile(parts)), "");
  EXPECT_TRUE(a.o.hasSameBits(b.o));
  EXPECT_TRUE(a.lse.hasSameBits(b.lse));
}

/// Memory that is only backed where it is touched.
class SparseTensor {
public:
  SparseTensor(const Tensor &tensor, int64_t batchStride)
      : view{nullptr, tensor.sizes, tensor.strides} {
    view.strides[0] = batchStride;
    bytes = (batchStride * (view.sizes[0] - 1) + view.sizes[1] * view.strides[1] + 64) * 4;
    view.data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~SparseTensor() { munmap(view.data, bytes); }
  float &at(llvm::ArrayRef<int64_t> at) const {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i)
      offset += at[i] * view.strides[i];
    return static_cast<float *>(view.data)[offset];
  }

  HostTensor view;

private:
  size_t bytes;
};

TEST(HostJit, OffsetsBeyond32Bits) {
  Problem problem;
  std::unique_ptr<HostKernel> kernel = compile(problem);
  Trial dense(problem, {2, 3, 70}, Order::TokenMajor);
  ASSERT_EQ(dense.run(*kernel), "");
  for (int64_t stride : {(int64_t(1) << 31) - 4096, (int64_t(1) << 31) + 64}) {
    SparseTensor q(dense.q, stride), k(dense.k, stride), v(dense.v, stride), o(dense.o, stride);
    for (SparseTensor *tensor : {&q, &k, &v, &o})
      if (tensor->view.data == MAP_FAILED)
        GTEST_SKIP() << "cannot reserve address space";
    auto copy = [](const Tensor &from, const SparseTensor &to) {
      fill(const_cast<Tensor &>(from), [&](llvm::ArrayRef<int64_t> at) {
        to.at(at) = from.get(at);
        return from.get(at);
      });
    };
    copy(dense.q, q);
    copy(dense.k, k);
    copy(dense.v, v);
    std::vector<HostArg> args = dense.arguments();
    args[0] = q.view;
    args[1] = k.view;
    args[2] = v.view;
    args[3] = o.view;
    ASSERT_EQ(llvm::toString(kernel->run(args)), "");
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(o.at({b, i, 1, 5}), dense.o.get({b, i, 1, 5}));
  }
}

TEST(HostJit, BadArguments) {
  Problem problem;
  std::unique_ptr<HostKernel> kernel = compile(problem);
  Tensor q(Element::F32, {1, 4, 2, 64}, Order::TokenMajor), lse(Element::F32, {1, 2, 4}, {}),
      po(Element::F32, {1, 1, 4, 2, 64}, {}), pl(Element::F32, {1, 1, 2, 4}, {}),
      slopes(Element::F32, {2}, {});
  const std::vector<HostArg> good = {q.view(),   q.view(),      q.view(),  q.view(),
                                     lse.view(), lse.view(),    po.view(), pl.view(),
                                     pl.view(),  slopes.view(), 1.0f};
  auto message = [&](unsigned position, HostArg arg) {
    std::vector<HostArg> args = good;
    args[position] = arg;
    return llvm::toString(kernel->run(args));
  };
  EXPECT_EQ(llvm::toString(kernel->run(good)), "");
  EXPECT_EQ(llvm::toString(kernel->run({})), "expected 11 arguments, got 0");
  EXPECT_NE(message(0, 1.0f).find("argument 0: expected memref<"), std::string::npos);
  EXPECT_NE(message(10, int64_t(1)).find("argument 10: expected f32, got another scalar"),
            std::string::npos);
  HostTensor view = q.view();
  view.sizes[3] = 32;
  EXPECT_NE(message(1, view).find("got size 32 in dim 3"), std::string::npos);
  view = q.view();
  view.strides[3] = 2;
  EXPECT_NE(message(1, view).find("got stride 2 in dim 3"), std::string::npos);
  view = q.view();
  view.data = nullptr;
  EXPECT_NE(message(1, view).find("got a null pointer"), std::string::npos);
}
