//===- RunOnEmulator.cpp - Runs a problem's GPU kernel on the host --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTensors.h"

#include <chrono>

using namespace attn;

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

rt::Expected<const EmulatedProgram *> ProblemRunner::emulatedProgram(const KernelSpec &spec) {
  std::unique_ptr<EmulatedProgram> &slot = emulatedPrograms[toText(spec)];
  compileMs = 0;
  if (!slot) {
    auto begin = Clock::now();
    auto program = compiler.compileEmulated(spec);
    if (!program)
      return rt::fail(program.error());
    slot = std::move(*program);
    compileMs = millisecondsSince(begin);
  }
  return slot.get();
}

/// Once: an emulated run says nothing about a GPU's time.
rt::Expected<std::vector<double>> ProblemRunner::runOnEmulator(const RunRequest &request,
                                                               ProblemTensors &tensors) {
  rt::Expected<const EmulatedProgram *> program = emulatedProgram(request.spec);
  if (!program)
    return rt::fail(program.error());
  auto arguments = tensors.arguments((*program)->manifest());
  if (!arguments)
    return rt::fail(arguments.error());
  auto begin = Clock::now();
  if (rt::Status status = (*program)->run(*arguments, options.emulation); !status)
    return rt::fail(status.error());
  return std::vector<double>{millisecondsSince(begin)};
}
