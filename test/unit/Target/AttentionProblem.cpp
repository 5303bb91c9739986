//===- AttentionProblem.cpp - Problems to run and their answers -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionProblem.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/Support/FormatVariadic.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

using namespace attn;
using namespace attn::test;

//===----------------------------------------------------------------------===//
// Problem
//===----------------------------------------------------------------------===//

static const char *name(Element element) {
  return element == Element::F32 ? "f32" : element == Element::F16 ? "f16" : "bf16";
}

std::string Problem::toMLIR() const {
  auto tensor = [&](int64_t heads, int64_t dim, const char *type) {
    return llvm::formatv("memref<?x?x{0}x{1}x{2}, strided<[?, ?, ?, 1], offset: ?>>", heads, dim,
                         type)
        .str();
  };
  std::string q = tensor(headsQ, dimQK, name(element)), k = tensor(headsKV, dimQK, name(element)),
              v = tensor(headsKV, dimV, name(element)),
              o = tensor(headsQ, dimV, f32Output ? "f32" : name(element));
  std::string lse = llvm::formatv("memref<?x{0}x?xf32>", headsQ);
  std::string partialO = llvm::formatv("memref<{0}x?x?x{1}x{2}xf32>", splitKV, headsQ, dimV);
  std::string partialLse = llvm::formatv("memref<{0}x?x{1}x?xf32>", splitKV, headsQ);
  std::string slopes = llvm::formatv("memref<{0}xf32>", headsQ);
  std::string schedule =
      llvm::formatv("#attn.schedule<algorithm = {0}, q_tile = {1}, kv_tile = {2}, split_kv = {3}>",
                    algorithm, qTile, kvTile, splitKV);
  std::string text = llvm::formatv(
      "func.func @attn(%q: {0}, %k: {1}, %v: {2}, %o: {3}, %lse: {4}, %tail: {4}, %po: {5}, "
      "%pl: {6}, %pt: {6}, %slopes: {7}, %scale: f32) {{\n"
      "attn.forward ins(%q, %k, %v : {0}, {1}, {2})\n",
      q, k, v, o, lse, partialO, partialLse, slopes);
  text += hasPartials() ? "outs(%po, %pl : " + partialO + ", " + partialLse +
                              ") lse_tail(%pt : " + partialLse + ")"
                        : "outs(%o, %lse : " + o + ", " + lse + ")";
  if (algorithm == "fa1")
    text += " lse_tail(%tail : " + lse + ")";
  text += " scale(%scale) mask(" + mask + ") schedule(" + schedule + ")\n";
  if (softcap || alibi) {
    text += "score {\n^bb0(%s0: f32, %b: index, %h: index, %i: index, %j: index):\n";
    text += softcap ? "%s1 = attn.softcap %s0, 2.0\n"
                    : "%z = arith.constant 0.0 : f32\n%s1 = arith.addf %s0, %z : f32\n";
    text += alibi ? "%s2 = attn.alibi %s1, %slopes[%h], %i, %j : " + slopes + "\n"
                  : "%y = arith.constant 0.0 : f32\n%s2 = arith.addf %s1, %y : f32\n";
    text += "attn.yield %s2 : f32\n}\n";
  }
  if (hasPartials())
    text += "attn.merge_states ins(%po, %pl : " + partialO + ", " + partialLse +
            ") partial_tail(%pt : " + partialLse + ") outs(%o, %lse : " + o + ", " + lse +
            ") schedule(" + schedule + ")\n";
  return text + "return\n}\n";
}

std::unique_ptr<HostKernel> attn::test::compile(const Problem &problem, double *milliseconds) {
  // One context for all problems, as in a process that compiles many kernels.
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    registry.insert<AttnDialect, mlir::func::FuncDialect, mlir::memref::MemRefDialect>();
    return new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
  }();
  auto start = std::chrono::steady_clock::now();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(problem.toMLIR(), context);
  if (!module)
    std::abort();
  mlir::PassManager pm(context);
  pm.addNestedPass<mlir::func::FuncOp>(createAttnLowerToTiles());
  pm.addNestedPass<mlir::func::FuncOp>(createAttnSplitMaskRanges());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createAttnOutlineKernels());
  pm.addPass(createConvertAttnToCPU(ConvertAttnToCPUOptions{problem.vectorWidth}));
  buildCPUToLLVMPipeline(pm);
  if (mlir::failed(pm.run(*module)))
    std::abort();
  auto kernel = HostKernel::create(*module);
  if (!kernel) {
    llvm::errs() << llvm::toString(kernel.takeError()) << "\n";
    std::abort();
  }
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  if (milliseconds)
    *milliseconds = elapsed.count();
  return std::move(*kernel);
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics &semantics(Element element) {
  return element == Element::F32   ? llvm::APFloat::IEEEsingle()
         : element == Element::F16 ? llvm::APFloat::IEEEhalf()
                                   : llvm::APFloat::BFloat();
}
static int64_t byteSize(Element element) { return element == Element::F32 ? 4 : 2; }

Tensor::Tensor(Element element, std::vector<int64_t> dims, Order order)
    : sizes(dims.begin(), dims.end()), strides(dims.size()), element(element) {
  // Dims from the outermost to the innermost; rows get room for sentinels behind them.
  std::vector<size_t> outerToInner(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    outerToInner[i] = i;
  bool isPadded = dims.size() == 4;
  if (isPadded && order == Order::HeadMajor)
    outerToInner = {0, 2, 1, 3};
  if (isPadded && order == Order::BatchInside)
    outerToInner = {1, 0, 2, 3};
  int64_t next = 1;
  for (size_t dim : llvm::reverse(outerToInner)) {
    strides[dim] = next;
    next *= dims[dim];
    if (isPadded)
      next += dim == 3 ? 8 : dim == 1 ? 5 * strides[1] : 0;
  }
  if (isPadded && order == Order::Expanded)
    strides[0] = 0;
  bytes.resize((next + 64) * byteSize(element));
}

int64_t Tensor::offsetOf(llvm::ArrayRef<int64_t> at) const {
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i)
    offset += at[i] * strides[i];
  return offset;
}

double Tensor::get(llvm::ArrayRef<int64_t> at) const {
  uint32_t bits = 0;
  std::memcpy(&bits, &bytes[offsetOf(at) * byteSize(element)], byteSize(element));
  llvm::APFloat value(semantics(element), llvm::APInt(byteSize(element) * 8, bits));
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

void Tensor::setAt(int64_t offset, double number) {
  llvm::APFloat value(number);
  bool lost;
  value.convert(semantics(element), llvm::APFloat::rmNearestTiesToEven, &lost);
  uint32_t bits = value.bitcastToAPInt().getZExtValue();
  std::memcpy(&bytes[offset * byteSize(element)], &bits, byteSize(element));
}

void Tensor::set(llvm::ArrayRef<int64_t> at, double value) { setAt(offsetOf(at), value); }

template <typename Fn> void Tensor::forEach(Fn fn) const {
  if (llvm::is_contained(sizes, 0))
    return;
  std::vector<int64_t> at(sizes.size());
  while (true) {
    fn(llvm::ArrayRef<int64_t>(at));
    size_t dim = sizes.size();
    while (dim > 0 && ++at[dim - 1] == sizes[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

void Tensor::randomize(unsigned seed, double range) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> values(-range, range);
  forEach([&](llvm::ArrayRef<int64_t> at) { set(at, values(generator)); });
}

void Tensor::flood(float value) {
  for (size_t offset = 0; offset < bytes.size() / byteSize(element); ++offset)
    setAt(offset, value);
}

bool Tensor::isFloodedOutside(float value) const {
  Tensor other = *this;
  forEach([&](llvm::ArrayRef<int64_t> at) { other.set(at, value); });
  Tensor flooded = *this;
  flooded.flood(value);
  return other.bytes == flooded.bytes;
}

//===----------------------------------------------------------------------===//
// Reference
//===----------------------------------------------------------------------===//

/// The rows of K and V of one head as doubles.
struct Trial::Keys {
  std::vector<double> k, v;
};
struct Trial::Row {
  std::vector<double> o;
  double lse;
};

static constexpr float kSentinel = 12345;

Trial::Trial(const Problem &problem, const Sizes &sizes, Order order)
    : q(problem.element, {sizes.batch, sizes.seqQ, problem.headsQ, problem.dimQK}, order),
      k(problem.element, {sizes.batch, sizes.seqKV, problem.headsKV, problem.dimQK}, order),
      v(problem.element, {sizes.batch, sizes.seqKV, problem.headsKV, problem.dimV}, order),
      o(problem.f32Output ? Element::F32 : problem.element,
        {sizes.batch, sizes.seqQ, problem.headsQ, problem.dimV},
        order == Order::Expanded ? Order::TokenMajor : order),
      lse(Element::F32, {sizes.batch, problem.headsQ, sizes.seqQ}, order),
      tail(Element::F32, {sizes.batch, problem.headsQ, sizes.seqQ}, order),
      partialO(Element::F32,
               {problem.splitKV, sizes.batch, sizes.seqQ, problem.headsQ, problem.dimV}, order),
      partialLse(Element::F32, {problem.splitKV, sizes.batch, problem.headsQ, sizes.seqQ}, order),
      partialTail(Element::F32, {problem.splitKV, sizes.batch, problem.headsQ, sizes.seqQ}, order),
      slopes(Element::F32, {problem.headsQ}, order), scale(1.5 / std::sqrt(problem.dimQK)),
      problem(problem), sizes(sizes) {
  unsigned seed = 1;
  for (Tensor *tensor : {&q, &k, &v}) {
    tensor->flood(NAN);
    tensor->randomize(seed++, 2.0);
  }
  slopes.randomize(seed++, 0.25);
  for (Tensor *tensor : {&o, &lse, &tail, &partialO, &partialLse, &partialTail})
    tensor->flood(kSentinel);
}

std::vector<HostArg> Trial::arguments() {
  return {q.view(),    k.view(),        v.view(),          o.view(),           lse.view(),
          tail.view(), partialO.view(), partialLse.view(), partialTail.view(), slopes.view(),
          scale};
}

std::string Trial::run(HostKernel &kernel, unsigned numThreads) {
  return llvm::toString(kernel.run(arguments(), numThreads));
}

static void appendRow(std::vector<double> &to, const Tensor &tensor, int64_t b, int64_t i,
                      int64_t h) {
  for (int64_t d = 0; d < tensor.sizes[3]; ++d)
    to.push_back(tensor.get({b, i, h, d}));
}

Trial::Row Trial::reference(const Keys &keys, const Keep &keep, int64_t b, int64_t h,
                            int64_t i) const {
  std::vector<double> row, s(sizes.seqKV, -INFINITY);
  appendRow(row, q, b, i, h);
  double best = -INFINITY;
  for (int64_t j = 0; j < sizes.seqKV; ++j) {
    if (!keep(i, j, sizes.seqQ, sizes.seqKV))
      continue;
    double dot = 0;
    for (int64_t d = 0; d < problem.dimQK; ++d)
      dot += row[d] * keys.k[j * problem.dimQK + d];
    s[j] = dot * scale;
    if (problem.softcap)
      s[j] = 2.0 * std::tanh(s[j] / 2.0);
    if (problem.alibi)
      s[j] -= slopes.get({h}) * std::abs(i + sizes.seqKV - sizes.seqQ - j);
    best = std::max(best, s[j]);
  }
  Row result = {std::vector<double>(problem.dimV, 0.0), -INFINITY};
  if (best == -INFINITY)
    return result;
  double sum = 0;
  for (int64_t j = 0; j < sizes.seqKV; ++j) {
    double p = std::exp(s[j] - best);
    sum += p;
    if (p != 0)
      for (int64_t d = 0; d < problem.dimV; ++d)
        result.o[d] += p * keys.v[j * problem.dimV + d];
  }
  for (double &value : result.o)
    value /= sum;
  result.lse = best + std::log(sum);
  return result;
}

Errors Trial::compare(const Keep &keep, std::string &wrong) const {
  if (!o.isFloodedOutside(kSentinel) || !lse.isFloodedOutside(kSentinel))
    wrong = "wrote outside of the outputs";
  double difference = 0, norm = 0;
  Errors errors;
  for (int64_t b = 0; b < sizes.batch; ++b)
    for (int64_t h = 0; h < problem.headsQ; ++h) {
      int64_t g = h / (problem.headsQ / problem.headsKV);
      Keys keys;
      for (int64_t j = 0; j < sizes.seqKV; ++j) {
        appendRow(keys.k, k, b, j, g);
        appendRow(keys.v, v, b, j, g);
      }
      for (int64_t i = 0; i < sizes.seqQ; ++i) {
        Row row = reference(keys, keep, b, h, i);
        double gotLse = lse.get({b, h, i});
        bool isEmpty = row.lse == -INFINITY;
        if (isEmpty != (gotLse == -INFINITY) || std::isnan(gotLse))
          wrong = llvm::formatv("lse[{0}, {1}, {2}] = {3}, expected {4}", b, h, i, gotLse, row.lse);
        else if (!isEmpty)
          errors.lse =
              std::max(errors.lse, std::abs(gotLse - row.lse) / std::max(1.0, std::abs(row.lse)));
        for (int64_t d = 0; d < problem.dimV; ++d) {
          double got = o.get({b, i, h, d});
          if (!std::isfinite(got) || (isEmpty && got != 0))
            wrong = llvm::formatv("o[{0}, {1}, {2}, {3}] = {4}, expected {5}", b, i, h, d, got,
                                  row.o[d]);
          difference += (got - row.o[d]) * (got - row.o[d]);
          norm += row.o[d] * row.o[d];
        }
      }
    }
  errors.relative = norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
  return errors;
}
