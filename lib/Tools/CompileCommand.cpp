//===- CompileCommand.cpp - attnc compile ---------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include <chrono>

using namespace attn;

namespace {

struct CompileFlags {
  std::string target = "cpu", output, ptxas;
  CacheFlags cache;
  size_t emit = 0;
  bool artifact = false, timings = false;
  ScheduleFlags schedules;
};

} // namespace

/// The choices of --emit; the last is no stage of Emit.
static const std::vector<std::string> kEmitNames = {"problem", "tiles", "scheduled", "nvvm",
                                                    "llvm",    "ptx",   "cubin"};

static CommandSyntax makeSyntax(CompileFlags &flags) {
  CommandSyntax syntax{
      "attnc compile SPEC...|FILE.mlir [flags]",
      "Compiles a problem and writes what --emit names. SPEC is key=value words or a .json "
      "file;\nFILE.mlir holds one function with one attn.forward.",
      {textFlag("target", "NAME", "cpu, sm_80, ... (default: cpu)", flags.target),
       choiceFlag("emit", "what to write (default: problem)", kEmitNames, flags.emit),
       textFlag("output", "FILE", "or -o FILE; - is stdout, the default", flags.output),
       switchFlag("artifact",
                  "with ptx or cubin: write the file that the runtime loads, with the manifest",
                  flags.artifact),
       switchFlag("timings",
                  "with ptx or cubin: time five compiles, and cache hits from disk and from "
                  "memory, in this process, as JSON on stdout",
                  flags.timings),
       textFlag("ptxas", "PATH", "assembler for cubin (default: from PATH or CUDA's folders)",
                flags.ptxas),
       flags.schedules.fileFlag(), flags.schedules.deviceFlag()},
      "keys of SPEC:\n" + specHelp(),
      "attnc compile dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 mask=causal --target sm_80 "
      "--emit ptx -o kernel.ptx"};
  llvm::append_range(syntax.flags, cacheFlags(flags.cache));
  return syntax;
}

static rt::PayloadKind payloadKind(const CompileFlags &flags) {
  return kEmitNames[flags.emit] == "cubin" ? rt::PayloadKind::Cubin : rt::PayloadKind::Ptx;
}

/// Runs `work` and returns its milliseconds, or its error.
template <class Work> static rt::Expected<double> timed(Work work) {
  auto begin = std::chrono::steady_clock::now();
  if (auto result = work(); !result)
    return rt::fail(result.error());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// {"compile_ms": [...], "hit_ms": [...], "memory_hit_ms": [...]}; a hit is everything from
/// the problem to the artifact: from disk through a cache that has nothing in memory, then
/// from its memory.
static rt::Expected<std::string> measure(const Compiler &compiler, const Problem &problem,
                                         const CompileFlags &flags) {
  constexpr int kRounds = 5;
  rt::PayloadKind kind = payloadKind(flags);
  llvm::json::Array compiles, hits, memoryHits;
  for (int i = 0; i < kRounds; ++i) {
    rt::Expected<double> time = timed([&] { return compiler.compile(problem, kind); });
    if (!time)
      return rt::fail(time.error());
    compiles.push_back(*time);
  }
  ToolCache writer(flags.cache.cacheDir);
  if (auto stored = compiler.compile(problem, kind, *writer.kernels); !stored)
    return rt::fail(stored.error());
  for (int i = 0; i < kRounds; ++i) {
    ToolCache reader(flags.cache.cacheDir);
    for (llvm::json::Array *times : {&hits, &memoryHits}) {
      rt::Expected<double> hit =
          timed([&] { return compiler.compile(problem, kind, *reader.kernels); });
      if (!hit)
        return rt::fail(hit.error());
      times->push_back(*hit);
    }
  }
  return llvm::formatv("{0}\n", llvm::json::Value(
                                    llvm::json::Object{{"compile_ms", std::move(compiles)},
                                                       {"hit_ms", std::move(hits)},
                                                       {"memory_hit_ms", std::move(memoryHits)}}))
      .str();
}

static rt::Expected<std::string> compileKernel(const Compiler &compiler, const Problem &problem,
                                               const CompileFlags &flags) {
  rt::Expected<std::unique_ptr<ToolCache>> cache = openCache(flags.cache);
  if (!cache)
    return rt::fail(cache.error());
  rt::Expected<rt::LoadedArtifactPtr> artifact =
      compiler.compile(problem, payloadKind(flags), *(*cache)->kernels);
  if (!artifact)
    return rt::fail(artifact.error());
  if (!flags.artifact)
    return (*artifact)->artifact().payload;
  return rt::serialize((*artifact)->artifact(), (*artifact)->key());
}

int attn::compileCommand(Words arguments) {
  CompileFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords parsed;
  if (std::optional<int> code = parseOrExit(syntax, arguments, parsed))
    return *code;
  rt::Expected<NamedProblem> named = readProblem(parsed.words, ShapeWords::Refused);
  if (!named)
    return reportError(named.error());
  rt::Expected<FileSchedules> schedules = flags.schedules.read();
  if (!schedules)
    return reportError(schedules.error());
  rt::Expected<Compiler> compiler = Compiler::create({.target = flags.target,
                                                      .ptxas = flags.ptxas,
                                                      .forbidCompiling = flags.cache.noCompile,
                                                      .remark = printRemark,
                                                      .schedules = *schedules});
  if (!compiler)
    return reportError(compiler.error());
  bool isKernel = flags.emit >= static_cast<size_t>(Emit::PTX);
  if (flags.artifact && !isKernel)
    return reportError({rt::ErrorCode::BadInput,
                        "--artifact: expected --emit ptx or cubin, got " + kEmitNames[flags.emit]});
  if (!flags.ptxas.empty() && kEmitNames[flags.emit] != "cubin")
    return reportError(
        {rt::ErrorCode::BadInput, "--ptxas: expected --emit cubin, got " + kEmitNames[flags.emit]});
  rt::Expected<std::string> bytes =
      flags.timings ? measure(*compiler, named->problem, flags)
      : isKernel    ? compileKernel(*compiler, named->problem, flags)
                    : compiler->emit(named->problem, static_cast<Emit>(flags.emit));
  if (!bytes)
    return reportError(bytes.error());
  if (rt::Status status = writeOutput(flags.output, *bytes); !status)
    return reportError(status.error());
  return 0;
}
