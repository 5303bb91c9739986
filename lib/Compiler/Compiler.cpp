//===- Compiler.cpp - From problems to kernels ----------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/Compiler.h"

#include "ManifestBuilder.h"
#include "Session.h"

#include <llvm/TargetParser/Host.h>

using namespace mlir;
using namespace attn;

std::string attn::hostDeviceName() { return llvm::sys::getHostCPUName().str(); }

rt::Expected<Compiler> Compiler::create(CompileOptions options) {
  const TargetInfo *target = findTarget(options.target);
  if (!target)
    return rt::fail(rt::ErrorCode::BadInput, unknownTargetMessage(options.target));
  if (!llvm::is_contained({0u, 4u, 8u, 16u}, options.vectorWidth))
    return rt::fail(rt::ErrorCode::BadInput, "vector width " + std::to_string(options.vectorWidth) +
                                                 ": expected 4, 8 or 16");
  if (!target->isGpu && options.schedules.device.empty())
    options.schedules.device = hostDeviceName();
  return Compiler(std::move(options), *target);
}

//===----------------------------------------------------------------------===//
// Text of a stage
//===----------------------------------------------------------------------===//

/// The last stage before what is shown.
static Stage lastStage(Emit what) {
  switch (what) {
  case Emit::Problem:
    return Stage::Normalize;
  case Emit::Tiles:
    return Stage::Tile;
  case Emit::Scheduled:
    return Stage::Place;
  case Emit::NVVM:
    return Stage::Convert;
  case Emit::LLVM:
  case Emit::PTX:
    return Stage::Lower;
  }
  llvm_unreachable("all stages are handled");
}

rt::Expected<std::string> Compiler::emit(const Problem &problem, Emit what) const {
  bool isOfGpu = what == Emit::Scheduled || what == Emit::NVVM || what == Emit::PTX;
  if (isOfGpu && !info->isGpu)
    return rt::fail(rt::ErrorCode::BadInput,
                    "target " + info->name + " has no such stage: expected problem, tiles or llvm");
  if (what == Emit::PTX) {
    rt::Expected<rt::Artifact> artifact = compile(problem, rt::PayloadKind::Ptx);
    if (!artifact)
      return rt::fail(artifact.error());
    return std::move(artifact->payload);
  }
  Session session(options, *info);
  rt::Status status = session.load(problem);
  if (status)
    status = session.runTo(lastStage(what));
  if (!status)
    return rt::fail(status.error());
  return session.text();
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

/// Normalizes the session's problem and reads its arguments.
static rt::Expected<rt::Manifest> loadSignature(Session &session, const Problem &problem) {
  rt::Status status = session.load(problem);
  if (status)
    status = session.runTo(Stage::Normalize);
  if (!status)
    return rt::fail(status.error());
  rt::Expected<ForwardOp> op = session.forward();
  if (!op)
    return rt::fail(op.error());
  rt::Manifest manifest;
  if (status = readSignature(*op, manifest); !status)
    return rt::fail(status.error());
  return manifest;
}

rt::Expected<rt::Manifest> Compiler::signature(const Problem &problem) const {
  Session session(options, *info);
  return loadSignature(session, problem);
}

/// Links the code of an artifact into this process.
static rt::Expected<std::unique_ptr<HostProgram>> load(const rt::Artifact &artifact) {
  auto kernel = HostKernel::load(artifact.payload);
  if (!kernel)
    return rt::fail(rt::ErrorCode::Internal, llvm::toString(kernel.takeError()));
  return std::make_unique<HostProgram>(artifact.manifest, std::move(*kernel));
}

rt::Expected<std::unique_ptr<HostProgram>> Compiler::compileHost(const Problem &problem) const {
  rt::Expected<rt::Artifact> artifact = compile(problem, rt::PayloadKind::Host);
  if (!artifact)
    return rt::fail(artifact.error());
  return load(*artifact);
}

rt::Expected<std::unique_ptr<HostProgram>> Compiler::compileHost(const Problem &problem,
                                                                 rt::KernelCache &cache) const {
  rt::Expected<rt::LoadedArtifactPtr> artifact = compile(problem, rt::PayloadKind::Host, cache);
  if (!artifact)
    return rt::fail(artifact.error());
  return load((*artifact)->artifact());
}

//===----------------------------------------------------------------------===//
// Explanation
//===----------------------------------------------------------------------===//

/// A session with the normal form of a problem, and its op.
static rt::Expected<ForwardOp> normalize(Session &session, const Problem &problem) {
  rt::Status status = session.load(problem);
  if (status)
    status = session.runTo(Stage::Normalize);
  if (!status)
    return rt::fail(status.error());
  return session.forward();
}

rt::Expected<ChosenSchedule> Compiler::choose(const Problem &problem) const {
  Session session(options, *info);
  rt::Expected<ForwardOp> op = normalize(session, problem);
  if (!op)
    return rt::fail(op.error());
  Selection selection = chooseSchedule(*op, *info, options.schedules);
  if (!selection)
    return rt::fail(rt::ErrorCode::BadInput, selection.error);
  return ChosenSchedule{selection.row, selection.file, toValues(selection.schedule)};
}

rt::Expected<CandidateList> Compiler::candidates(const Problem &problem,
                                                 ArrayRef<CandidateSpace> spaces,
                                                 const ProblemShape &shape,
                                                 RegisterSplits splits) const {
  Session session(options, *info);
  rt::Expected<ForwardOp> op = normalize(session, problem);
  if (!op)
    return rt::fail(op.error());
  return listCandidates(*op, *info, spaces, shape, splits);
}

rt::Expected<ExplanationText> Compiler::explain(const Problem &problem,
                                                const std::optional<ProblemShape> &shape) const {
  Session session(options, *info);
  rt::Expected<ForwardOp> op = normalize(session, problem);
  if (!op)
    return rt::fail(op.error());
  Explanation explanation = explainForward(*op, *info, shape, options.schedules);
  return ExplanationText{explanation.toText(), explanation.toJson(), explanation.selection.error};
}
