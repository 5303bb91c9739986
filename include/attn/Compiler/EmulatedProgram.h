//===- EmulatedProgram.h - A GPU kernel that runs on the host ---*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_EMULATEDPROGRAM_H
#define ATTN_COMPILER_EMULATEDPROGRAM_H

#include "attn/Emulator/Program.h"
#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/TensorArg.h"

#include <span>

namespace attn {

/// A problem's L3 program with the manifest of its launches: what a GPU would get.
class EmulatedProgram {
public:
  /// `faultCode` is the code of what is wrong with the program: BadInput for one that somebody
  /// gave, Internal for one that the compiler made.
  EmulatedProgram(rt::Manifest manifest, std::unique_ptr<emu::Program> program,
                  rt::ErrorCode faultCode)
      : spec(std::move(manifest)), program(std::move(program)), code(faultCode) {}

  const rt::Manifest &manifest() const { return spec; }
  rt::ErrorCode faultCode() const { return code; }

  /// Checks the arguments and launches the manifest's kernels in order, as rt::launch does. A
  /// report of the emulator is an error of code faultCode(), but for the limits of `options`. With
  /// `onlyCta` the first kernel that has CTAs is all that runs.
  rt::Status run(std::span<const rt::Argument> arguments, const emu::LaunchOptions &options) const;

private:
  rt::Manifest spec;
  std::unique_ptr<emu::Program> program;
  rt::ErrorCode code;
};

} // namespace attn

#endif // ATTN_COMPILER_EMULATEDPROGRAM_H
