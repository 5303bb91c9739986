//===- HostBench.cpp - Times one kernel on the host -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionProblem.h"

#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <cstdlib>

using namespace attn;
using namespace attn::test;

/// attn-host-bench [Q_TILE [KV_TILE [SEQ [DIM [MASK]]]]]
int main(int argc, char **argv) {
  auto number = [&](int i, int64_t other) { return argc > i ? std::atoll(argv[i]) : other; };
  Problem problem;
  problem.headsQ = problem.headsKV = 8;
  problem.qTile = number(1, 64);
  problem.kvTile = number(2, 64);
  int64_t seq = number(3, 2048), dim = number(4, 64);
  problem.dimQK = problem.dimV = dim;
  if (argc > 5)
    problem.mask = argv[5];
  double first, compileTime;
  compile(problem, &first);
  std::unique_ptr<HostKernel> kernel = compile(problem, &compileTime);

  Tensor q(Element::F32, {1, seq, 8, dim}, {}), k = q, v = q, o = q;
  Tensor lse(Element::F32, {1, 8, seq}, {}), po(Element::F32, {1, 1, 0, 8, dim}, {}),
      pl(Element::F32, {1, 1, 8, 0}, {}), slopes(Element::F32, {8}, {});
  unsigned seed = 1;
  for (Tensor *tensor : {&q, &k, &v})
    tensor->randomize(seed++, 1.0);
  std::vector<HostArg> args = {q.view(),  k.view(),  v.view(),      o.view(), lse.view(),
                               po.view(), pl.view(), slopes.view(), 0.125f};
  for (unsigned threads : {1u, 2u}) {
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
      auto start = std::chrono::steady_clock::now();
      if (llvm::Error error = kernel->run(args, threads)) {
        llvm::errs() << llvm::toString(std::move(error)) << "\n";
        return 1;
      }
      std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
      best = std::min(best, elapsed.count());
    }
    double flops = 4.0 * 8 * seq * seq * dim;
    llvm::outs() << llvm::format("%u threads: %.2f ms, %.1f GFLOP/s\n", threads, best,
                                 flops / best * 1e-6);
  }
  llvm::outs() << llvm::format("compile: first %.0f ms, warm %.0f ms\n", first, compileTime);
  return 0;
}
