//===- Report.h - What is wrong with a program -*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_REPORT_H
#define ATTN_EMULATOR_REPORT_H

#include <llvm/ADT/StringRef.h>

#include <string>

namespace attn::emu {

enum class ReportKind {
  Deadlock,            ///< Nobody can run and nothing is on its way.
  TooManySteps,        ///< The bound on executed instructions was reached.
  Race,                ///< Two accesses to shared memory that nothing orders.
  InFlight,            ///< Access to bytes that an asynchronous operation still uses.
  MissingProxyFence,   ///< The async proxy meets generic accesses that no fence made visible.
  MissingWgmmaFence,   ///< wgmma on registers that no wgmma.fence ordered.
  AccumulatorInFlight, ///< An accumulator used before its wgmma was waited for.
  SharedOutOfBounds,   ///< Outside the CTA's shared memory.
  GlobalOutOfBounds,   ///< Outside every tensor of the launch.
  Misaligned,          ///< An address that the instruction does not take.
  Uninitialized,       ///< Read of shared memory that nobody wrote.
  BadDescriptor,       ///< A matrix or tensor descriptor that says something impossible.
  BarrierMisuse,       ///< Wrong counts, no barrier there, used before its init, ...
  DivergentCollective, ///< Members of a collective instruction elsewhere, or gone.
  BadOperand,          ///< A value that the instruction does not take.
  AfterEnd,            ///< Use of the shared memory of a CTA that has ended, or may have.
  NoMemory,            ///< The host's memory does not suffice for the emulation.
};

/// "deadlock", "race" and so on.
llvm::StringRef toString(ReportKind kind);

/// The reason why a launch was stopped. `message` is complete: it says where, who and what,
/// and ends without a newline.
struct Report {
  ReportKind kind;
  std::string message;
};

} // namespace attn::emu

#endif // ATTN_EMULATOR_REPORT_H
