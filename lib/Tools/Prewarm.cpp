//===- Prewarm.cpp - Compiles kernels before they are asked for -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prewarm.h"

#include "attn/Compiler/Reference.h"
#include "attn/Target/CubinAssembler.h"

#include <chrono>
#include <llvm/ADT/StringMap.h>
#include <mutex>

using namespace attn;
using llvm::formatv;

int PrewarmResult::registers() const {
  int most = -1;
  if (const rt::LoadedArtifactPtr &best = cubin ? cubin : code)
    for (const rt::KernelEntry &kernel : best->artifact().manifest.kernels)
      most = std::max(most, kernel.registers);
  return most;
}

int64_t PrewarmResult::sharedBytes() const {
  int64_t most = -1;
  if (const rt::LoadedArtifactPtr &best = cubin ? cubin : code)
    for (const rt::KernelEntry &kernel : best->artifact().manifest.kernels)
      most = std::max(most, kernel.staticSharedBytes + kernel.dynamicSharedBytes);
  return most;
}

uint64_t PrewarmResult::bytes() const {
  uint64_t sum = 0;
  for (const rt::LoadedArtifactPtr &artifact : {code, cubin})
    if (artifact)
      sum += artifact->artifact().payload.size();
  return sum;
}

/// One compiler for each target. Remarks are of one kernel, so each kernel copies its compiler's
/// options.
static rt::Expected<Compiler> compilerFor(const std::string &target, const PrewarmOptions &options,
                                          std::vector<std::string> &remarks) {
  CompileOptions compile;
  compile.target = target;
  compile.ptxas = options.ptxas;
  compile.remark = [&remarks](const std::string &text) { remarks.push_back(text); };
  return Compiler::create(std::move(compile));
}

static rt::Status compileOne(PrewarmResult &result, const PrewarmOptions &options, bool hasPtxas,
                             rt::KernelCache &cache) {
  const KernelSpec &spec = result.kernel.spec;
  rt::Expected<Compiler> compiler = compilerFor(result.kernel.target, options, result.remarks);
  if (!compiler)
    return rt::fail(compiler.error());
  bool wantsCubin = hasPtxas && compiler->target().isGpu;
  result.code = compiler->find(spec, cache);
  if (wantsCubin)
    result.cubin = compiler->find(spec, rt::PayloadKind::Cubin, cache);
  result.isKept = result.code && (result.cubin || !wantsCubin);
  if (!result.code) {
    result.remarks.clear();
    rt::Expected<rt::LoadedArtifactPtr> code = compiler->compile(spec, compiler->codeKind(), cache);
    if (!code)
      return rt::fail(code.error());
    result.code = *code;
  }
  if (wantsCubin && !result.cubin) {
    std::vector<std::string> again;
    rt::Expected<Compiler> assembler = compilerFor(result.kernel.target, options, again);
    rt::Expected<rt::LoadedArtifactPtr> cubin =
        assembler->compile(spec, rt::PayloadKind::Cubin, cache);
    if (!cubin)
      return rt::fail(cubin.error());
    result.cubin = *cubin;
  }
  return {};
}

rt::Expected<std::vector<PrewarmResult>>
attn::prewarm(llvm::ArrayRef<PrewarmKernel> kernels, const PrewarmOptions &options,
              rt::KernelCache &cache,
              const std::function<void(const PrewarmResult &, size_t)> &progress) {
  bool hasPtxas = false;
  if (options.cubins) {
    rt::Expected<Assembler> assembler = Assembler::find(options.ptxas);
    hasPtxas = assembler.has_value();
    if (!hasPtxas && !options.ptxas.empty())
      return rt::fail(assembler.error());
  }
  std::vector<PrewarmResult> results(kernels.size());
  std::mutex mutex;
  size_t done = 0;
  parallelFor(static_cast<int64_t>(kernels.size()), options.jobs, [&](int64_t i) {
    auto begin = std::chrono::steady_clock::now();
    PrewarmResult &result = results[static_cast<size_t>(i)];
    result.kernel = kernels[static_cast<size_t>(i)];
    if (rt::Status status = compileOne(result, options, hasPtxas, cache); !status)
      result.error = status.error().message;
    result.ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    std::lock_guard<std::mutex> guard(mutex);
    progress(result, ++done);
  });
  return results;
}

rt::Status attn::writeBundle(llvm::ArrayRef<PrewarmResult> results, const std::string &path) {
  rt::BundleWriter writer(compilerBuildId());
  for (const PrewarmResult &result : results) {
    rt::Expected<Compiler> compiler = Compiler::create({.target = result.kernel.target});
    if (!compiler)
      return rt::fail(compiler.error());
    for (const rt::LoadedArtifactPtr &artifact : {result.code, result.cubin}) {
      if (!artifact)
        continue;
      rt::PayloadKind kind = artifact->artifact().manifest.payloadKind;
      rt::BundleKernel kernel{toText(result.kernel.spec),
                              result.kernel.target,
                              kind,
                              compiler->alias(result.kernel.spec, kind).text,
                              artifact->key(),
                              result.remarks};
      if (rt::Status status = writer.add(std::move(kernel), artifact->artifact()); !status)
        return status;
    }
  }
  return writer.publish(path);
}

//===----------------------------------------------------------------------===//
// Summary
//===----------------------------------------------------------------------===//

static std::string orDash(int64_t number) { return number < 0 ? "-" : std::to_string(number); }

std::string attn::summaryText(llvm::ArrayRef<PrewarmResult> results, double seconds) {
  std::string text =
      formatv("{0,10} {1,9} {2,8} {3,9}  {4}\n", "ms", "registers", "shared", "bytes", "kernel");
  size_t kept = 0, failed = 0;
  uint64_t bytes = 0;
  for (const PrewarmResult &result : results) {
    kept += result.isKept;
    failed += !result.error.empty();
    bytes += result.bytes();
    std::string how = !result.error.empty() ? "failed"
                      : result.isKept       ? "kept"
                                            : formatv("{0:F0}", result.ms).str();
    text += formatv("{0,10} {1,9} {2,8} {3,9}  {4} {5}\n", how, orDash(result.registers()),
                    orDash(result.sharedBytes()), result.bytes(), result.kernel.target,
                    toText(result.kernel.spec));
  }
  return text + formatv("{0} compiled, {1} kept, {2} failed, {3} bytes, {4:F1} s\n",
                        results.size() - kept - failed, kept, failed, bytes, seconds)
                    .str();
}

llvm::json::Value attn::summaryJson(llvm::ArrayRef<PrewarmResult> results, double seconds) {
  llvm::json::Array kernels;
  for (const PrewarmResult &result : results) {
    llvm::json::Object row{{"spec", toText(result.kernel.spec)},
                           {"target", result.kernel.target},
                           {"kept", result.isKept},
                           {"ms", result.ms},
                           {"bytes", static_cast<int64_t>(result.bytes())}};
    if (result.registers() >= 0)
      row["registers"] = result.registers();
    if (result.sharedBytes() >= 0)
      row["shared_bytes"] = result.sharedBytes();
    if (!result.error.empty())
      row["error"] = result.error;
    kernels.push_back(std::move(row));
  }
  return llvm::json::Object{{"kernels", std::move(kernels)}, {"seconds", seconds}};
}
