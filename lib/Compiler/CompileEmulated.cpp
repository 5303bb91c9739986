//===- CompileEmulated.cpp - GPU kernels for the emulator -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "Session.h"

#include <mlir/Transforms/LocationSnapshot.h>

using namespace mlir;
using namespace attn;

/// The session's module, lowered, with its launches.
static rt::Expected<std::unique_ptr<EmulatedProgram>> makeProgram(Session &session,
                                                                  const TargetInfo &target,
                                                                  rt::Manifest manifest,
                                                                  rt::ErrorCode faultCode) {
  auto program = emu::Program::create(session.module(), target);
  if (!program)
    return rt::fail(program.error().code == rt::ErrorCode::BadInput
                        ? session.takeError(faultCode, program.error().message)
                        : program.error());
  return std::make_unique<EmulatedProgram>(std::move(manifest), std::move(*program), faultCode);
}

rt::Expected<std::unique_ptr<EmulatedProgram>>
Compiler::compileEmulated(const Problem &problem) const {
  if (!info->isGpu)
    return rt::fail(rt::ErrorCode::BadInput, "target " + info->name +
                                                 " has no GPU kernels to emulate: expected a "
                                                 "GPU target, such as sm_80");
  Session session(options, *info);
  rt::Status status = session.load(problem);
  if (status)
    status = session.runTo(Stage::Configure);
  if (!status)
    return rt::fail(status.error());
  rt::Expected<rt::Manifest> manifest = lowerProblem(session, *info);
  if (!manifest)
    return rt::fail(manifest.error());
  // Reports name lines of the text that `attnc compile --emit llvm` writes.
  generateLocationsFromIR(llvm::nulls(), "l3.mlir", session.module(), OpPrintingFlags());
  return makeProgram(session, *info, std::move(*manifest), rt::ErrorCode::Internal);
}

rt::Expected<std::unique_ptr<EmulatedProgram>> Compiler::emulate(const ProblemText &l3,
                                                                 rt::Manifest manifest) const {
  Session session(options, *info);
  if (rt::Status status = session.loadText(l3); !status)
    return rt::fail(status.error());
  // Nothing to translate, which the host compiler does not take.
  if (session.module().getBody()->empty() && !manifest.kernels.empty())
    return rt::fail(rt::ErrorCode::BadInput,
                    "the program has no kernel '" + manifest.kernels.front().name + "'");
  return makeProgram(session, *info, std::move(manifest), rt::ErrorCode::BadInput);
}
