//===- Attnc.cpp - The command line of attnc ------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Tools/Attnc.h"

#include "Commands.h"
#include "attn/Compiler/InputFile.h"
#include "attn/Compiler/ScheduleFileText.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace attn;

int attn::reportError(const rt::Error &error) {
  llvm::errs() << "attnc: error: " << error.message << "\n";
  return exitCode(error.code);
}

/// Any address in the program, which getMainExecutable asks for.
static void anchor() {}

std::string attn::programPath() {
  return llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&anchor));
}

void attn::printRemark(const std::string &text) {
  llvm::errs() << "attnc: remark: " << text << "\n";
}

void attn::printJson(const llvm::json::Value &value) { llvm::outs() << value << "\n"; }

std::optional<int> attn::parseOrExit(const CommandSyntax &syntax, Words arguments,
                                     ParsedWords &parsed) {
  rt::Expected<ParsedWords> result = parseCommandLine(syntax, arguments);
  if (!result)
    return reportError(result.error());
  if (result->wantsHelp) {
    llvm::outs() << helpText(syntax);
    return 0;
  }
  parsed = std::move(*result);
  return std::nullopt;
}

ToolCache::ToolCache(const std::string &directory, std::vector<rt::Bundle::Ptr> bundles) {
  rt::DiskCacheOptions options;
  options.bundles = std::move(bundles);
  options.warn = [](const std::string &text) {
    llvm::errs() << "attnc: warning: " << text << "\n";
  };
  rt::Expected<std::string> place = rt::defaultCacheDir(directory);
  if (place)
    options.directory = *place;
  else
    options.warn("no cache on disk: " + place.error().message);
  kernels = std::make_unique<rt::KernelCache>(std::make_unique<rt::DiskCache>(std::move(options)),
                                              metrics);
}

std::vector<Flag> attn::cacheFlags(CacheFlags &flags) {
  return {
      textFlag("cache-dir", "DIR",
               "kernel cache (default: $ATTN_CACHE_DIR, $XDG_CACHE_HOME/attn, ~/.cache/attn)",
               flags.cacheDir),
      textFlag("bundle", "FILE", "kernels that attnc prewarm --bundle wrote, beside the cache",
               flags.bundle),
      switchFlag("no-compile", "fail when the kernel is in neither", flags.noCompile),
      switchFlag("log", "a line on stderr for each compile, hit on disk and fallback", flags.log)};
}

rt::Expected<std::unique_ptr<ToolCache>> attn::openCache(const CacheFlags &flags) {
  std::vector<rt::Bundle::Ptr> bundles;
  if (!flags.bundle.empty()) {
    rt::Expected<rt::Bundle::Ptr> bundle = rt::Bundle::open(flags.bundle);
    if (!bundle)
      return rt::fail(rt::ErrorCode::BadInput, "--bundle: " + bundle.error().message);
    bundles.push_back(std::move(*bundle));
  }
  auto cache = std::make_unique<ToolCache>(flags.cacheDir, std::move(bundles));
  if (flags.log)
    cache->metrics.setLog([](const std::string &line) {
      // In one piece, since threads write too.
      llvm::errs() << "attnc: log: " + line + "\n";
    });
  return cache;
}

rt::Expected<NamedProblem> attn::readProblem(Words words, ShapeWords shapeWords) {
  if (words.size() == 1 && llvm::StringRef(words[0]).ends_with(".mlir")) {
    InputFile buffer = readInputFile(words[0]);
    if (!buffer)
      return rt::fail(buffer.error());
    return NamedProblem{ProblemText{(*buffer)->getBuffer().str(), words[0]}, {}};
  }
  rt::Expected<ParsedSpec> parsed = parseSpec(words, shapeWords);
  if (!parsed)
    return rt::fail(parsed.error());
  return NamedProblem{parsed->spec, parsed->shape};
}

Flag ScheduleFlags::fileFlag() {
  return textFlag("schedules", "FILE", "schedule rows to try before the target's, as tune writes",
                  file);
}

Flag ScheduleFlags::deviceFlag() {
  return textFlag("device-name", "NAME",
                  "device that rows of --schedules may ask for, as the driver calls it", device);
}

rt::Expected<FileSchedules> ScheduleFlags::read() const {
  if (file.empty()) {
    if (!device.empty())
      return rt::fail(rt::ErrorCode::BadInput,
                      "--device-name " + device + ": has no meaning without --schedules");
    return FileSchedules{};
  }
  rt::Expected<ScheduleFile> read = readScheduleFile(file);
  if (!read)
    return rt::fail(rt::ErrorCode::BadInput, "--schedules " + read.error().message);
  return FileSchedules{std::make_shared<const ScheduleFile>(std::move(*read)), device};
}

rt::Status attn::writeOutput(const std::string &path, llvm::StringRef bytes) {
  if (path.empty() || path == "-") {
    llvm::outs() << bytes;
    return {};
  }
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << bytes;
    file.close();
    error = file.error();
    file.clear_error();
  }
  if (error)
    return rt::fail(rt::ErrorCode::BadInput, "-o " + path + ": cannot write: " + error.message());
  return {};
}

constexpr llvm::StringLiteral kHelp =
    R"(usage: attnc COMMAND [WORDS...] [flags]

Compiles attention kernels from a problem given as key=value words, a .json file or MLIR.

commands:
  compile   write the IR, PTX or machine code of a problem
  run       run a problem on the CPU or a GPU and check the result
  trace     write the timeline of one emulated CTA
  explain   show the chosen schedule, why others were not, and the roofline bound
  tune      search for a schedule that is faster on this device
  prewarm   compile the kernels of models before they are asked for
  bench     compare kernels with those of PyTorch or NumPy, or measure compile times
  cache     list, check and clean the kernel cache

`attnc COMMAND --help` shows a command's flags. Exit code 0 is success, 1 bad input, 2 a fault
that is not the user's.

example:
  attnc run dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 seq_q=1000 mask=causal --check
)";

static int runCommandOf(Words arguments) {
  struct Command {
    llvm::StringRef name;
    int (*run)(Words);
  };
  constexpr Command commands[] = {{"compile", compileCommand}, {"run", runCommand},
                                  {"trace", traceCommand},     {"explain", explainCommand},
                                  {"tune", tuneCommand},       {"prewarm", prewarmCommand},
                                  {"bench", benchCommand},     {"cache", cacheCommand}};
  if (arguments.empty()) {
    llvm::errs() << kHelp;
    return 1;
  }
  llvm::StringRef name = arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    llvm::outs() << kHelp;
    return 0;
  }
  if (name == "--version") {
    llvm::outs() << compilerBuildId() << "\n";
    return 0;
  }
  llvm::SmallVector<llvm::StringRef> names;
  for (const Command &command : commands) {
    if (command.name == name)
      return command.run(arguments.drop_front());
    names.push_back(command.name);
  }
  return reportError(
      {rt::ErrorCode::BadInput,
       ("unknown command '" + name + "': expected one of " + llvm::join(names, ", ")).str() +
           didYouMean(name, names)});
}

int attn::runAttnc(Words arguments) {
  int code = runCommandOf(arguments);
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (!out.has_error())
    return code;
  std::string reason = out.error().message();
  // Else the stream's destructor ends the process with a message of its own.
  out.clear_error();
  return std::max(code,
                  reportError({rt::ErrorCode::BadInput, "cannot write the output: " + reason}));
}
