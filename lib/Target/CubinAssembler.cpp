//===- CubinAssembler.cpp - PTX to machine code through ptxas -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/CubinAssembler.h"

#include "attn/Runtime/Fork.h"

#include <array>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Program.h>

#include <map>
#include <mutex>

using namespace attn;
using llvm::StringRef;

/// Where CUDA's installers and distributions put its tools.
static constexpr std::array<llvm::StringLiteral, 3> kCudaFolders = {
    "/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/lib/nvidia-cuda-toolkit/bin"};

namespace {

/// A temporary file that is removed with the object unless kept.
struct TemporaryFile {
  llvm::SmallString<128> path;
  llvm::FileRemover remover;

  static rt::Expected<std::unique_ptr<TemporaryFile>> create(StringRef suffix,
                                                             StringRef contents = {}) {
    auto file = std::make_unique<TemporaryFile>();
    int fd;
    std::error_code error = llvm::sys::fs::createTemporaryFile("attn", suffix, fd, file->path);
    if (!error) {
      file->remover.setFile(file->path);
      llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
      os << contents;
      os.close();
      error = os.error();
      os.clear_error();
    }
    if (error)
      return rt::fail(rt::ErrorCode::Unavailable,
                      "cannot write a temporary file: " + error.message());
    return file;
  }

  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
};

struct ProcessResult {
  int code;
  std::string output;
};

} // namespace

/// Runs a program with both of its outputs in one text. A program that hangs is ended.
static rt::Expected<ProcessResult> runProgram(const std::string &program,
                                              llvm::ArrayRef<StringRef> arguments) {
  constexpr unsigned kSecondsToWait = 300;
  auto output = TemporaryFile::create("log");
  if (!output)
    return rt::fail(output.error());
  llvm::SmallVector<StringRef> words{program};
  words.append(arguments.begin(), arguments.end());
  std::string message;
  StringRef path = (*output)->path;
  int code = llvm::sys::ExecuteAndWait(program, words, /*Env=*/std::nullopt,
                                       {StringRef(""), path, path}, kSecondsToWait,
                                       /*MemoryLimit=*/0, &message);
  std::string text = (*output)->read();
  if (code < 0)
    text += message;
  return ProcessResult{code, text};
}

/// What an assembler says of itself. Asked once for each file as it is, since kernels are many;
/// threads that come first together may each ask.
static rt::Expected<std::string> versionOf(const std::string &path) {
  using FileAsItIs = std::tuple<std::string, uint64_t, int64_t>;
  static std::mutex mutex;
  static std::map<FileAsItIs, std::string> versions;
  llvm::sys::fs::file_status status;
  (void)llvm::sys::fs::status(path, status);
  FileAsItIs key{path, status.getSize(),
                 status.getLastModificationTime().time_since_epoch().count()};
  {
    rt::NoForkScope scope;
    std::lock_guard lock(mutex);
    if (auto found = versions.find(key); found != versions.end())
      return found->second;
  }
  rt::Expected<ProcessResult> result = runProgram(path, {"--version"});
  if (!result)
    return rt::fail(result.error());
  if (result->code != 0 || !StringRef(result->output).contains("ptxas"))
    return rt::fail(rt::ErrorCode::BadInput,
                    "--ptxas " + path + ": does not answer --version as ptxas does");
  rt::NoForkScope scope;
  std::lock_guard lock(mutex);
  return versions.insert_or_assign(key, std::move(result->output)).first->second;
}

rt::Expected<Assembler> Assembler::find(StringRef given) {
  llvm::ErrorOr<std::string> path =
      given.empty() ? llvm::sys::findProgramByName("ptxas") : given.str();
  for (StringRef folder : kCudaFolders)
    if (!path)
      path = llvm::sys::findProgramByName("ptxas", {folder});
  if (!path)
    return rt::fail(rt::ErrorCode::Unavailable,
                    "found no ptxas in PATH or " +
                        llvm::join(std::begin(kCudaFolders), std::end(kCudaFolders), ", ") +
                        "; install the CUDA toolkit, name one with --ptxas, or emit ptx, which the "
                        "driver assembles");
  if (!llvm::sys::fs::can_execute(*path))
    return rt::fail(rt::ErrorCode::BadInput, "--ptxas " + *path + ": not an executable file");
  rt::Expected<std::string> version = versionOf(*path);
  if (!version)
    return rt::fail(version.error());
  return Assembler(*path, std::move(*version));
}

/// The number that stands before `unit` in a line, or 0.
static int numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  int number = 0;
  StringRef before = line.take_front(at).rtrim();
  before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1))
      .getAsInteger(10, number);
  return number;
}

std::vector<KernelResources> attn::parseAssemblerLog(StringRef log) {
  std::vector<KernelResources> kernels;
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function")) {
      KernelResources kernel;
      kernel.name = line.split('\'').second.split('\'').first.str();
      kernels.push_back(std::move(kernel));
    } else if (kernels.empty()) {
      continue;
    } else if (line.contains("bytes stack frame")) {
      kernels.back().stackBytes = numberBefore(line, "bytes stack frame");
      kernels.back().spillStoreBytes = numberBefore(line, "bytes spill stores");
      kernels.back().spillLoadBytes = numberBefore(line, "bytes spill loads");
    } else if (line.contains("registers")) {
      kernels.back().registers = numberBefore(line, "registers");
      kernels.back().sharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return kernels;
}

rt::Expected<Cubin> Assembler::assemble(StringRef ptx, StringRef chip) const {
  auto source = TemporaryFile::create("ptx", ptx);
  if (!source)
    return rt::fail(source.error());
  auto object = TemporaryFile::create("cubin");
  if (!object)
    return rt::fail(object.error());
  std::string arch = ("-arch=" + chip).str();
  llvm::SmallVector<StringRef> arguments{"-v", arch, (*source)->path, "-o", (*object)->path};
  rt::Expected<ProcessResult> result = runProgram(path, arguments);
  if (!result)
    return rt::fail(result.error());
  Cubin cubin{(*object)->read(), result->output, parseAssemblerLog(result->output)};
  if (result->code == 0 && !cubin.bytes.empty())
    return cubin;
  (*source)->remover.releaseFile();
  arguments.back() = "/dev/null";
  return rt::fail(rt::ErrorCode::Internal, "ptxas failed:\n" + result->output + "repeat with:\n  " +
                                               path + " " + llvm::join(arguments, " "));
}
