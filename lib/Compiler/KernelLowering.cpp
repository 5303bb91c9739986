//===- KernelLowering.cpp - From problems to thread programs ---------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"

#include "ManifestBuilder.h"

using namespace mlir;
using namespace attn;

/// CUDA's first driver for a PTX ISA version: 7.n came with 11.n, 8.n with 12.n.
static int32_t driverOfPtx(unsigned ptxVersion) {
  unsigned major = ptxVersion / 10, minor = ptxVersion % 10;
  return static_cast<int32_t>((major + 4) * 1000 + minor * 10);
}

rt::Expected<rt::Manifest> attn::lowerProblem(Session &session, const TargetInfo &target) {
  rt::Manifest manifest;
  manifest.chip = target.name;
  manifest.payloadKind = target.isGpu ? rt::PayloadKind::Ptx : rt::PayloadKind::Host;
  manifest.compiler = compilerBuildId();
  if (target.isGpu)
    manifest.minDriverVersion = driverOfPtx(target.minPtxVersion);
  rt::Expected<ForwardOp> op = session.forward();
  if (!op)
    return rt::fail(op.error());
  llvm::raw_string_ostream(manifest.problem) << **op;

  rt::Status status = readSignature(*op, manifest);
  if (status)
    status = session.runTo(Stage::Split);
  if (status)
    status = readWorkspaces(session.module(), manifest);
  if (status && target.isGpu) {
    status = session.runTo(Stage::Place);
    if (status)
      status = readKernels(session.module(), manifest);
  }
  if (status)
    status = session.runTo(Stage::Lower);
  if (!status)
    return rt::fail(status.error());
  return manifest;
}
