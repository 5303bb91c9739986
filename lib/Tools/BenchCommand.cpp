//===- BenchCommand.cpp - attnc bench -------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include <cstring>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/Regex.h>
#include <unistd.h>

using namespace attn;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

struct BenchFlags {
  std::string target, python = "python3";
  bool compile = false;
};

/// One of the benchmarks, and what its Python must have.
struct Benchmark {
  StringRef script;
  StringRef module; ///< Empty for Python alone.
  StringRef way;    ///< To the module.
};

} // namespace

constexpr Benchmark kForward = {"bench_forward.py", "torch",
                                "pip install torch 2.5 or later into it"};
constexpr Benchmark kCPU = {"bench_cpu.py", "numpy", "pip install numpy into it"};
constexpr Benchmark kCompile = {"bench_compile.py", "", ""};

static CommandSyntax makeSyntax(BenchFlags &flags) {
  return {
      "attnc bench [flags] [flags of the benchmark]",
      "Compares forward kernels with those of FlashAttention-2 and cuDNN on a GPU, through "
      "PyTorch; with\n--target cpu with NumPy's on the CPU; with --compile measures the compiler. "
      "Each is a program in\nPython that is installed beside attnc; what is no flag of this "
      "command is passed on to it, and\n`attnc bench -- --help` shows what it takes. The exit "
      "code is the benchmark's.",
      {textFlag("target", "NAME", "cpu, or targets for the benchmark on a GPU", flags.target),
       switchFlag("compile", "measure compile times and memory", flags.compile),
       textFlag("python", "PROGRAM", "Python to run it with (default: python3)", flags.python)},
      "",
      "attnc bench --seq 4096 --mask causal --out forward.json"};
}

static tl::unexpected<rt::Error> bad(const llvm::Twine &message) {
  return rt::fail(rt::ErrorCode::BadInput, message.str());
}

/// Splits the words of the command itself from those that are passed on.
static std::pair<std::vector<std::string>, std::vector<std::string>> splitWords(Words words) {
  std::vector<std::string> own, passed;
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (word == "--") {
      passed.insert(passed.end(), words.begin() + i + 1, words.end());
      break;
    }
    bool hasNext = i + 1 < words.size();
    bool isCPU = word == "--target=cpu" || (word == "--target" && hasNext && words[i + 1] == "cpu");
    if (word == "--python" || (isCPU && word == "--target")) {
      own.push_back(words[i]);
      if (hasNext)
        own.push_back(words[++i]);
    } else if (isCPU || word.starts_with("--python=") || word == "--compile" || word == "--help" ||
               word == "-h") {
      own.push_back(words[i]);
    } else {
      passed.push_back(words[i]);
    }
  }
  return {own, passed};
}

/// The script as it lies in an install tree, or above the program: in the sources that it was built
/// from, or in a packed build.
static rt::Expected<std::string> findScript(StringRef program, StringRef script) {
  StringRef bin = path::parent_path(program);
  llvm::SmallString<256> installed(path::parent_path(bin));
  path::append(installed, "share", "attn", "benchmarks");
  std::vector<std::string> folders = {installed.str().str()};
  for (StringRef above = path::parent_path(bin); !above.empty(); above = path::parent_path(above)) {
    llvm::SmallString<256> folder(above);
    path::append(folder, "benchmarks");
    folders.push_back(folder.str().str());
  }
  for (const std::string &folder : folders) {
    llvm::SmallString<256> file(folder);
    path::append(file, script);
    if (fs::exists(file))
      return file.str().str();
  }
  return bad(script + ": not found in " + folders.front() +
             ", nor in a folder 'benchmarks' above " + program +
             "; install attn with its benchmarks (cmake --install), or run attnc of a "
             "source tree");
}

static rt::Status checkModule(const std::string &python, const Benchmark &benchmark) {
  if (benchmark.module.empty())
    return {};
  // Found, not imported: that takes seconds.
  std::string code = ("import importlib.util, sys\nsys.exit(importlib.util.find_spec('" +
                      benchmark.module + "') is None)")
                         .str();
  if (llvm::sys::ExecuteAndWait(python, {python, "-c", code}) == 0)
    return {};
  return bad(benchmark.script + " needs " + benchmark.module + ", which " + python +
             " does not have; " + benchmark.way + ", or name another with --python");
}

/// The flags that a script declares, each at the start of its parser's add_argument("--name".
static std::vector<std::string> flagsOf(StringRef text) {
  std::vector<std::string> flags = {"--help", "-h"};
  llvm::Regex declaration("add_argument\\([[:space:]]*\"(--[a-z0-9-]+)\"");
  llvm::SmallVector<StringRef> match;
  while (declaration.match(text, &match)) {
    flags.push_back(match[1].str());
    text = text.drop_front(match[0].end() - text.begin());
  }
  return flags;
}

/// What the benchmark does not take, before its Python is asked for what it needs: values stand
/// after flags alone.
static rt::Status checkPassed(Words passed, const std::string &script) {
  if (!passed.empty() && !StringRef(passed.front()).starts_with("-"))
    return bad(
        "unexpected argument '" + passed.front() +
        "': benchmarks take flags alone, which `attnc bench --help` and `attnc bench -- --help` "
        "show");
  auto buffer = llvm::MemoryBuffer::getFile(script);
  if (!buffer)
    return bad(script + ": cannot read: " + buffer.getError().message());
  std::vector<std::string> flags = flagsOf((*buffer)->getBuffer());
  for (StringRef word : passed) {
    StringRef flag = word.split('=').first;
    // "-1" is a value.
    if (!word.starts_with("-") || word.size() < 2 || llvm::isDigit(word[1]) ||
        llvm::is_contained(flags, flag))
      continue;
    return bad(flag + ": unknown flag; " + path::filename(script) + " takes " +
               llvm::join(flags, ", "));
  }
  return {};
}

/// Becomes the benchmark, so that a signal to this process is one to it; returns when it cannot.
static rt::Status run(const BenchFlags &flags, Words passed) {
  const Benchmark &benchmark = flags.compile ? kCompile : flags.target == "cpu" ? kCPU : kForward;
  std::string self = programPath();
  rt::Expected<std::string> script = findScript(self, benchmark.script);
  if (!script)
    return rt::fail(script.error());
  if (rt::Status status = checkPassed(passed, *script); !status)
    return rt::fail(status.error());
  llvm::ErrorOr<std::string> python = llvm::sys::findProgramByName(flags.python);
  // A path is taken as it is.
  if (!python || !fs::can_execute(*python))
    return bad(
        "no Python '" + flags.python +
        "' to run the benchmark with; install Python 3.9 or later, or name one with --python");
  if (rt::Status status = checkModule(*python, benchmark); !status)
    return rt::fail(status.error());

  std::vector<std::string> arguments = {*python, *script, "--attnc", self};
  // bench_compile.py has targets of its own, the CPU among them.
  if (flags.compile && !flags.target.empty())
    arguments.insert(arguments.end(), {"--target", flags.target});
  arguments.insert(arguments.end(), passed.begin(), passed.end());
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(python->c_str(), pointers.data());
  return bad("cannot start " + *python + ": " + std::strerror(errno));
}

int attn::benchCommand(Words arguments) {
  auto [own, passed] = splitWords(arguments);
  BenchFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords parsed;
  if (std::optional<int> code = parseOrExit(syntax, own, parsed))
    return *code;
  return reportError(run(flags, passed).error());
}
