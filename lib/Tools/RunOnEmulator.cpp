//===- RunOnEmulator.cpp - Runs a problem's GPU kernel on the host --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunTensors.h"
#include "attn/Compiler/InputFile.h"

#include <chrono>
#include <llvm/Support/MemoryBuffer.h>

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

/// The program of a file with the problem's launches. Not kept: files are tried once each.
static rt::Expected<std::unique_ptr<EmulatedProgram>>
loadProgram(const Compiler &compiler, const std::string &file, const EmulatedProgram &compiled) {
  InputFile buffer = readInputFile(file);
  if (!buffer)
    return rt::fail(rt::ErrorCode::BadInput, "--l3 " + buffer.error().message);
  return compiler.emulate({(*buffer)->getBuffer().str(), file}, compiled.manifest());
}

/// Once: an emulated run says nothing about a GPU's time.
rt::Expected<std::vector<double>> ProblemRunner::runOnEmulator(const RunRequest &request,
                                                               ProblemTensors &tensors) {
  rt::Expected<const EmulatedProgram *> program = emulatedProgram(request.spec);
  if (!program)
    return rt::fail(program.error());
  std::unique_ptr<EmulatedProgram> loaded;
  if (!request.l3File.empty()) {
    auto given = loadProgram(compiler, request.l3File, **program);
    if (!given)
      return rt::fail(given.error());
    loaded = std::move(*given);
    *program = loaded.get();
  }
  auto arguments = tensors.arguments((*program)->manifest());
  if (!arguments)
    return rt::fail(arguments.error());
  auto begin = Clock::now();
  if (rt::Status status = (*program)->run(*arguments, options.emulation); !status)
    return rt::fail(status.error());
  return std::vector<double>{millisecondsSince(begin)};
}
