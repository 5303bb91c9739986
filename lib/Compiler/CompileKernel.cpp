//===- CompileKernel.cpp - PTX and cubins with their manifests ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "Session.h"
#include "attn/Compiler/LengthClass.h"
#include "attn/Runtime/Hash.h"
#include "attn/Target/CubinAssembler.h"
#include "attn/Target/HostJit.h"
#include "attn/Target/PTXEmitter.h"

#include <llvm/Config/llvm-config.h>

using namespace mlir;
using namespace attn;

/// A session that has been brought to stage `configure`: the canonical problem with its
/// schedule, which is what keys hash.
static rt::Status configure(Session &session, const Problem &problem) {
  rt::Status status = session.load(problem);
  return status ? session.runTo(Stage::Configure) : status;
}

static std::string keyOf(Session &session, const TargetInfo &target) {
  return rt::KeyBuilder()
      .add("schema", rt::kArtifactSchema)
      .add("compiler", compilerBuildId())
      .add("problem", session.text())
      .add("pipeline", session.pipelineText())
      .add("chip", target.name)
      .add("ptx", target.minPtxVersion)
      .add("processor", target.isGpu ? std::string() : hostProcessor())
      .finish();
}

/// Adds the fields that are set, as numbers.
struct FieldPacker {
  rt::KeyBuilder &builder;
  template <class T> void operator()(const SpecKey &key, const std::optional<T> &value) {
    if (value)
      (*this)(key, *value);
  }
  template <class T> void operator()(const SpecKey &key, T value) {
    builder.add(key.name, static_cast<int64_t>(value));
  }
  void operator()(const SpecKey &key, double value) {
    builder.add(key.name, llvm::bit_cast<int64_t>(value));
  }
};

/// Lowers a configured session to PTX, or to machine code of this host.
static rt::Expected<rt::Artifact> lower(Session &session, const TargetInfo &target) {
  rt::Expected<rt::Manifest> manifest = lowerProblem(session, target);
  if (!manifest)
    return rt::fail(manifest.error());
  if (!target.isGpu) {
    llvm::Expected<std::string> image = HostKernel::compile(session.module());
    if (!image)
      return rt::fail(rt::ErrorCode::Internal, llvm::toString(image.takeError()));
    return rt::Artifact{std::move(*manifest), std::move(*image)};
  }
  FailureOr<std::string> ptx =
      emitPTX(session.module(), PTXOptions{target.name, target.minPtxVersion});
  if (failed(ptx))
    return rt::fail(session.takeError(rt::ErrorCode::Internal, "the NVPTX backend failed"));
  return rt::Artifact{std::move(*manifest), std::move(*ptx)};
}

/// Assembles an artifact's PTX.
static rt::Expected<rt::Artifact> assemble(const rt::Artifact &ptx, const Assembler &assembler) {
  rt::Expected<Cubin> cubin = assembler.assemble(ptx.payload, ptx.manifest.chip);
  if (!cubin)
    return rt::fail(cubin.error());
  rt::Artifact artifact{ptx.manifest, std::move(cubin->bytes)};
  artifact.manifest.payloadKind = rt::PayloadKind::Cubin;
  for (rt::KernelEntry &kernel : artifact.manifest.kernels)
    for (const KernelResources &resources : cubin->kernels)
      if (resources.name == kernel.name) {
        kernel.registers = resources.registers;
        kernel.staticSharedBytes = resources.sharedBytes;
      }
  return artifact;
}

rt::Expected<std::string> Compiler::key(const Problem &problem) const {
  Session session(options, *info);
  if (rt::Status status = configure(session, problem); !status)
    return rt::fail(status.error());
  return keyOf(session, *info);
}

rt::Alias Compiler::alias(const KernelSpec &spec, rt::PayloadKind kind) const {
  rt::KeyBuilder builder;
  builder.add("schema", rt::kArtifactSchema)
      .add("compiler", compilerBuildId())
      .add("chip", info->name)
      .add("ptx", info->minPtxVersion)
      .add("vector width", options.vectorWidth)
      .add("processor", info->isGpu ? std::string() : hostProcessor())
      .add("payload", rt::toString(kind));
  // The content key holds the schedule itself; here the rows stand for what they choose.
  if (options.schedules.file)
    builder.add("schedules", options.schedules.file->digest)
        .add("device", options.schedules.device);
  // Calls of other lengths that come to the same kernel share its alias.
  KernelSpec dispatched = withLengthClass(spec, *info);
  visitSpec(dispatched, FieldPacker{builder});
  return {builder.finish()};
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

rt::Status Compiler::checkKind(rt::PayloadKind kind) const {
  if (info->isGpu != (kind == rt::PayloadKind::Host))
    return {};
  return rt::fail(rt::ErrorCode::BadInput,
                  info->isGpu ? "target " + info->name + " has no code of the host: expected cpu"
                              : "target " + info->name +
                                    " has no PTX: expected a GPU target, such as sm_80, or "
                                    "--emit llvm");
}

rt::Expected<rt::Artifact> Compiler::compile(const Problem &problem, rt::PayloadKind kind) const {
  if (rt::Status status = checkKind(kind); !status)
    return rt::fail(status.error());
  Session session(options, *info);
  if (rt::Status status = configure(session, problem); !status)
    return rt::fail(status.error());
  rt::Expected<rt::Artifact> code = lower(session, *info);
  if (!code || kind != rt::PayloadKind::Cubin)
    return code;
  rt::Expected<Assembler> assembler = Assembler::find(options.ptxas);
  if (!assembler)
    return rt::fail(assembler.error());
  return assemble(*code, *assembler);
}

/// Whether an artifact that an alias led to can be what was asked for.
static bool isPlausible(const rt::Manifest &manifest, const TargetInfo &target,
                        rt::PayloadKind kind) {
  return manifest.compiler == compilerBuildId() && manifest.chip == target.name &&
         manifest.payloadKind == kind;
}

rt::LoadedArtifactPtr Compiler::find(const KernelSpec &spec, rt::PayloadKind kind,
                                     rt::KernelCache &cache) const {
  std::optional<rt::KernelCache::Aliased> found = cache.findAliased(alias(spec, kind));
  if (!found || !isPlausible(found->artifact->artifact().manifest, *info, kind))
    return nullptr;
  if (found->remarks.empty() && options.metrics && kind == codeKind())
    options.metrics->counter(rt::metric::kFastPath).add();
  for (const std::string &remark : found->remarks) {
    if (options.remark)
      options.remark(remark);
    if (options.metrics)
      options.metrics->fallback(remark);
  }
  return found->artifact;
}

rt::Expected<rt::LoadedArtifactPtr> Compiler::compileCode(const Problem &problem,
                                                          rt::KernelCache &cache) const {
  auto *spec = std::get_if<KernelSpec>(&problem);
  if (spec) {
    if (rt::LoadedArtifactPtr found = find(*spec, cache))
      return found;
    if (options.forbidCompiling)
      return rt::fail(notCompiled(*spec, info->name));
  }
  Session session(options, *info);
  if (rt::Status status = configure(session, problem); !status)
    return rt::fail(status.error());
  std::vector<std::string> remarks = session.remarksSoFar();
  rt::Expected<rt::LoadedArtifactPtr> code =
      cache.get(keyOf(session, *info), [&]() -> rt::Expected<rt::Artifact> {
        if (options.forbidCompiling)
          return rt::fail(rt::ErrorCode::NotFound,
                          "there is no compiled kernel of this problem for " + info->name +
                              ", and compiling is forbidden");
        return lower(session, *info);
      });
  if (code && remarks.empty() && options.metrics)
    options.metrics->counter(rt::metric::kFastPath).add();
  if (code && spec)
    cache.link(alias(*spec), **code, std::move(remarks));
  return code;
}

rt::Expected<rt::LoadedArtifactPtr> Compiler::compile(const Problem &problem, rt::PayloadKind kind,
                                                      rt::KernelCache &cache) const {
  if (rt::Status status = checkKind(kind); !status)
    return rt::fail(status.error());
  rt::Expected<rt::LoadedArtifactPtr> code = compileCode(problem, cache);
  if (!code || kind != rt::PayloadKind::Cubin)
    return code;
  auto *spec = std::get_if<KernelSpec>(&problem);
  rt::Expected<Assembler> assembler = Assembler::find(options.ptxas);
  if (!assembler) {
    // A cubin that was made elsewhere needs no assembler.
    if (spec && options.ptxas.empty())
      if (rt::LoadedArtifactPtr found = find(*spec, kind, cache))
        return found;
    return rt::fail(assembler.error());
  }
  std::string key = rt::KeyBuilder()
                        .add("schema", rt::kArtifactSchema)
                        .add("ptx", (*code)->artifact().payload)
                        .add("manifest", rt::toJson((*code)->artifact().manifest))
                        .add("assembler", assembler->identity())
                        .add("arch", info->name)
                        .finish();
  rt::Expected<rt::LoadedArtifactPtr> cubin =
      cache.get(key, [&] { return assemble((*code)->artifact(), *assembler); });
  if (cubin && spec)
    cache.link(alias(*spec, kind), **cubin, {});
  return cubin;
}

rt::Error attn::notCompiled(const KernelSpec &spec, llvm::StringRef target) {
  return {rt::ErrorCode::NotFound,
          ("there is no compiled kernel '" + toText(spec) + "' for " + target +
           ", and compiling is forbidden; put it into the cache with: attnc prewarm " +
           toText(spec) + " --target " + target)
              .str()};
}
