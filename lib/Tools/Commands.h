//===- Commands.h - The commands of attnc -----------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TOOLS_COMMANDS_H
#define ATTN_LIB_TOOLS_COMMANDS_H

#include "CommandLine.h"
#include "attn/Compiler/Compiler.h"
#include "attn/Runtime/Metrics.h"

#include <llvm/Support/JSON.h>

namespace attn {

using Words = llvm::ArrayRef<std::string>;

// Each returns an exit code.
int compileCommand(Words arguments);
int runCommand(Words arguments);
int traceCommand(Words arguments);
int explainCommand(Words arguments);
int tuneCommand(Words arguments);
int prewarmCommand(Words arguments);
int cacheCommand(Words arguments);
int benchCommand(Words arguments);

/// The file of the running program.
std::string programPath();

/// Prints "attnc: error: ..." and returns the exit code.
int reportError(const rt::Error &error);

/// Prints "attnc: remark: ..." to stderr.
void printRemark(const std::string &text);

/// Prints JSON and a newline.
void printJson(const llvm::json::Value &value);

/// Parses a command line; an exit code when that is all there is to do.
std::optional<int> parseOrExit(const CommandSyntax &syntax, Words arguments, ParsedWords &parsed);

/// The kernel cache of this process over the one on disk and bundles; without the disk when there
/// is no place for it, with one warning.
struct ToolCache {
  explicit ToolCache(const std::string &directory, std::vector<rt::Bundle::Ptr> bundles = {});
  rt::Metrics metrics;
  std::unique_ptr<rt::KernelCache> kernels;
};

/// Flags of commands that take kernels from a cache.
struct CacheFlags {
  std::string cacheDir, bundle;
  bool noCompile = false, log = false;
};
std::vector<Flag> cacheFlags(CacheFlags &flags);

/// What they ask for; BadInput when the bundle cannot be used.
rt::Expected<std::unique_ptr<ToolCache>> openCache(const CacheFlags &flags);

/// What words name: a spec, or one .mlir file.
struct NamedProblem {
  Problem problem;
  RunShape shape; ///< Of a spec, as given.
};
rt::Expected<NamedProblem> readProblem(Words words, ShapeWords shapeWords);

/// --schedules FILE, and --device-name NAME for commands that see no device.
struct ScheduleFlags {
  std::string file, device;
  Flag fileFlag();
  Flag deviceFlag();
  /// Reads the file, if one is given.
  rt::Expected<FileSchedules> read() const;
};

/// Writes to a file, or to stdout for "-" and "".
rt::Status writeOutput(const std::string &path, llvm::StringRef bytes);

} // namespace attn

#endif // ATTN_LIB_TOOLS_COMMANDS_H
