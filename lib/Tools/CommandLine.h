//===- CommandLine.h - Flags and words of a command -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_COMMANDLINE_H
#define ATTN_LIB_TOOLS_COMMANDLINE_H

#include "attn/Runtime/Error.h"

#include <functional>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <string>
#include <vector>

namespace attn {

/// A flag of a command: `--name`, or `--name VALUE` and `--name=VALUE` with a value.
struct Flag {
  std::string name;
  std::string valueName; ///< Empty for a switch.
  std::string help;
  std::function<rt::Status(const std::string &)> set;
};

/// Flags that set a variable.
Flag switchFlag(std::string name, std::string help, bool &variable);
Flag textFlag(std::string name, std::string valueName, std::string help, std::string &variable);
Flag numberFlag(std::string name, std::string help, uint64_t &variable, uint64_t min, uint64_t max);
/// One of a few words; `choices[i]` sets the variable to i.
Flag choiceFlag(std::string name, std::string help, std::vector<std::string> choices,
                size_t &variable);

/// What a command takes, and what its `--help` says.
struct CommandSyntax {
  std::string usage;   ///< "attnc run SPEC... [flags]"
  std::string summary; ///< One or two sentences.
  std::vector<Flag> flags;
  std::string details; ///< Printed after the flags.
  std::string example;
};

struct ParsedWords {
  std::vector<std::string> words; ///< What is no flag.
  bool wantsHelp = false;
};

/// Sets the flags of a command line. BadInput names the flag and the nearest known one.
rt::Expected<ParsedWords> parseCommandLine(const CommandSyntax &syntax,
                                           llvm::ArrayRef<std::string> arguments);

std::string helpText(const CommandSyntax &syntax);

/// Exit code of a tool: 0 success, 1 bad input, 2 a fault that is not the user's.
int exitCode(rt::ErrorCode code);

} // namespace attn

#endif // ATTN_LIB_TOOLS_COMMANDLINE_H
