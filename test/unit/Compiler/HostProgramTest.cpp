//===- HostProgramTest.cpp - Running problems that are text ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/Compiler.h"

#include <cmath>
#include <gtest/gtest.h>
#include <llvm/Support/FormatVariadic.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace attn;

namespace {

/// Floats that end where a page begins that nobody may touch.
class GuardedFloats {
public:
  explicit GuardedFloats(size_t count) {
    size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    bytes = (count * sizeof(float) + page - 1) / page * page + page;
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    char *guard = static_cast<char *>(memory) + bytes - page;
    EXPECT_EQ(::mprotect(guard, page, PROT_NONE), 0);
    values = reinterpret_cast<float *>(guard) - count;
  }
  ~GuardedFloats() { ::munmap(memory, bytes); }
  GuardedFloats(const GuardedFloats &) = delete;

  float *values;

private:
  void *memory;
  size_t bytes;
};

constexpr int64_t kDim = 16;

/// One head of attention over a bias, with the bias added in the score region.
std::string biasProblem(const std::string &algorithm) {
  return llvm::formatv(R"(
    func.func @f(%q: memref<?x?x1x{0}xf32>, %k: memref<?x?x1x{0}xf32>, %v: memref<?x?x1x{0}xf32>,
                 %o: memref<?x?x1x{0}xf32>, %l: memref<?x1x?xf32>, %s: f32,
                 %bias: memref<?x?xf32, strided<[?, 1]>>, %row_bias: memref<?xf32>) {{
      attn.forward ins(%q, %k, %v : memref<?x?x1x{0}xf32>, memref<?x?x1x{0}xf32>,
                                    memref<?x?x1x{0}xf32>)
                   outs(%o, %l : memref<?x?x1x{0}xf32>, memref<?x1x?xf32>) scale(%s)
                   {{attn.pins = {{algorithm = "{1}", q_tile = 32 : i64, kv_tile = 32 : i64}}
        score {{
      ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
        %e = memref.load %bias[%i, %j] : memref<?x?xf32, strided<[?, 1]>>
        %r = memref.load %row_bias[%i] : memref<?xf32>
        %y = arith.addf %x, %e : f32
        %z = arith.addf %y, %r : f32
        attn.yield %z : f32
      }
      return
    })",
                       kDim, algorithm);
}

TEST(HostProgram, ABiasIsReadInBounds) {
  for (const char *algorithm : {"naive", "two_pass", "fa1", "fa2"}) {
    auto compiler = Compiler::create({.target = "cpu"});
    auto program = compiler->compileHost(ProblemText{biasProblem(algorithm), "bias.mlir"});
    ASSERT_TRUE(program) << program.error().message;
    for (auto [seqQ, seqKV] : {std::pair<int64_t, int64_t>{1, 1}, {5, 70}, {33, 31}}) {
      std::mt19937 generator(7);
      std::uniform_real_distribution<float> uniform(-2, 2);
      auto random = [&](size_t count) {
        auto floats = std::make_unique<GuardedFloats>(count);
        std::generate_n(floats->values, count, [&] { return uniform(generator); });
        return floats;
      };
      auto q = random(seqQ * kDim), k = random(seqKV * kDim), v = random(seqKV * kDim);
      auto bias = random(seqQ * seqKV), rowBias = random(seqQ);
      GuardedFloats o(seqQ * kDim), lse(seqQ);
      auto tensor = [](GuardedFloats &floats, std::initializer_list<int64_t> sizes) {
        return rt::TensorArg::dense(floats.values, rt::ElementType::F32, sizes);
      };
      constexpr float kScale = 0.5f;
      rt::Argument arguments[] = {tensor(*q, {1, seqQ, 1, kDim}),  tensor(*k, {1, seqKV, 1, kDim}),
                                  tensor(*v, {1, seqKV, 1, kDim}), tensor(o, {1, seqQ, 1, kDim}),
                                  tensor(lse, {1, 1, seqQ}),       rt::ScalarArg(kScale),
                                  tensor(*bias, {seqQ, seqKV}),    tensor(*rowBias, {seqQ})};
      rt::Status status = (*program)->run(arguments);
      ASSERT_TRUE(status) << status.error().message;

      for (int64_t i = 0; i < seqQ; ++i) {
        double sum = 0, expected[kDim] = {};
        for (int64_t j = 0; j < seqKV; ++j) {
          double dot = 0;
          for (int64_t d = 0; d < kDim; ++d)
            dot += double(q->values[i * kDim + d]) * k->values[j * kDim + d];
          double p = std::exp(kScale * dot + bias->values[i * seqKV + j] + rowBias->values[i]);
          sum += p;
          for (int64_t d = 0; d < kDim; ++d)
            expected[d] += p * v->values[j * kDim + d];
        }
        EXPECT_NEAR(lse.values[i], std::log(sum), 1e-4) << algorithm;
        for (int64_t d = 0; d < kDim; ++d)
          EXPECT_NEAR(o.values[i * kDim + d], expected[d] / sum, 1e-4) << algorithm;
      }
    }
  }
}

} // namespace
