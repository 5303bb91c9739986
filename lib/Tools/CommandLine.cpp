//===- CommandLine.cpp - Flags and words of a command ---------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "attn/Compiler/KernelSpec.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FormatVariadic.h>

using namespace attn;
using llvm::StringRef;

static tl::unexpected<rt::Error> bad(const llvm::Twine &message) {
  return rt::fail(rt::ErrorCode::BadInput, message.str());
}

Flag attn::switchFlag(std::string name, std::string help, bool &variable) {
  return {std::move(name), "", std::move(help), [&variable](const std::string &) -> rt::Status {
            variable = true;
            return {};
          }};
}

Flag attn::textFlag(std::string name, std::string valueName, std::string help,
                    std::string &variable) {
  return {name, std::move(valueName), std::move(help),
          [name, &variable](const std::string &value) -> rt::Status {
            if (value.empty())
              return bad("--" + name + ": expected a value, got an empty one");
            variable = value;
            return {};
          }};
}

Flag attn::numberFlag(std::string name, std::string help, uint64_t &variable, uint64_t min,
                      uint64_t max) {
  return {name, "N", std::move(help),
          [name, &variable, min, max](const std::string &value) -> rt::Status {
            uint64_t number;
            if (StringRef(value).getAsInteger(10, number) || number < min || number > max)
              return bad(llvm::formatv("--{0} {1}: expected an integer in [{2}, {3}]", name, value,
                                       min, max));
            variable = number;
            return {};
          }};
}

Flag attn::choiceFlag(std::string name, std::string help, std::vector<std::string> choices,
                      size_t &variable) {
  std::string valueName = llvm::join(choices, "|");
  return {name, valueName, std::move(help),
          [name, choices, &variable](const std::string &value) -> rt::Status {
            auto found = llvm::find(choices, value);
            if (found == choices.end()) {
              llvm::SmallVector<StringRef> names(choices.begin(), choices.end());
              return bad("--" + name + " " + value + ": expected one of " +
                         llvm::join(choices, ", ") + didYouMean(value, names));
            }
            variable = static_cast<size_t>(found - choices.begin());
            return {};
          }};
}

static rt::Expected<const Flag *> findFlag(const CommandSyntax &syntax, StringRef name) {
  llvm::SmallVector<StringRef> names{"help"};
  for (const Flag &flag : syntax.flags) {
    if (flag.name == name)
      return &flag;
    names.push_back(flag.name);
  }
  std::string hint = didYouMean(name, names);
  return bad("--" + name + ": unknown flag" +
             (hint.empty()
                  ? "; " + syntax.usage.substr(0, syntax.usage.find(' ', 6)) + " --help lists them"
                  : hint));
}

rt::Expected<ParsedWords> attn::parseCommandLine(const CommandSyntax &syntax,
                                                 llvm::ArrayRef<std::string> arguments) {
  ParsedWords parsed;
  llvm::SmallVector<std::string> seen;
  while (!arguments.empty()) {
    StringRef argument = arguments.front();
    arguments = arguments.drop_front();
    if (argument == "--help" || argument == "-h") {
      parsed.wantsHelp = true;
      return parsed;
    }
    if (argument == "-o")
      argument = "--output";
    if (!argument.starts_with("-") || argument == "-") {
      parsed.words.push_back(argument.str());
      continue;
    }
    if (!argument.consume_front("--") || argument.empty())
      return bad("'" + argument + "': expected a flag of the form --name");
    auto [name, value] = argument.split('=');
    rt::Expected<const Flag *> flag = findFlag(syntax, name);
    if (!flag)
      return rt::fail(flag.error());
    if (llvm::is_contained(seen, name))
      return bad("--" + name + ": given twice; keep one");
    seen.push_back(name.str());
    bool hasValue = argument.contains('=');
    if ((*flag)->valueName.empty()) {
      if (hasValue)
        return bad("--" + name + ": takes no value, got '" + value + "'");
    } else if (!hasValue) {
      if (arguments.empty())
        return bad("--" + name + ": expected a value, " + (*flag)->valueName);
      value = arguments.front();
      arguments = arguments.drop_front();
    }
    if (rt::Status status = (*flag)->set(value.str()); !status)
      return rt::fail(status.error());
  }
  return parsed;
}

std::string attn::helpText(const CommandSyntax &syntax) {
  std::string text = "usage: " + syntax.usage + "\n\n" + syntax.summary + "\n";
  if (!syntax.flags.empty())
    text += "\nflags:\n";
  for (const Flag &flag : syntax.flags) {
    std::string left = "--" + flag.name + (flag.valueName.empty() ? "" : " " + flag.valueName);
    text += llvm::formatv("  {0,-24} {1}\n", left, flag.help);
  }
  if (!syntax.details.empty())
    text += "\n" + syntax.details;
  return text + "\nexample:\n  " + syntax.example + "\n";
}

int attn::exitCode(rt::ErrorCode code) {
  return code == rt::ErrorCode::Internal || code == rt::ErrorCode::Corrupt ? 2 : 1;
}
