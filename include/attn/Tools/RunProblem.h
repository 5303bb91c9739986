//===- RunProblem.h - Runs a problem and checks its result ------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUNPROBLEM_H
#define ATTN_TOOLS_RUNPROBLEM_H

#include "attn/Compiler/Compiler.h"
#include "attn/Runtime/Launch.h"
#include "attn/Runtime/SpecRecorder.h"
#include "attn/Tools/TestTensors.h"

#include <llvm/Support/JSON.h>
#include <map>

namespace attn {

struct ProblemTensors;

struct RunRequest {
  KernelSpec spec;
  RunShape shape;
  InputKind inputs = InputKind::Random;
  Layout layout = Layout::Dense;
  uint64_t seed = 0;
  unsigned repeat = 5;
  bool check = false;
  /// .npy files; empty makes values instead.
  std::string qFile, kFile, vFile, expectFile;
  /// What the emulator runs in place of the compiled program; empty runs that.
  std::string l3File;
};

/// Difference of a result from what is right.
struct ErrorReport {
  double maxAbs = 0, meanAbs = 0, relative = 0; ///< Relative in the Frobenius norm.
  double naiveMaxAbs = 0; ///< What the naive code of the same precision is off by.
  double lseMaxAbs = 0;
  int64_t checkedRows = 0, totalRows = 0; ///< Of each sequence and head.
  double tolerance = 0;
  bool passed = false;
  std::string failure; ///< What is wrong when not passed.
};

struct RunReport {
  std::string problem, shape, device;
  std::string digest;                  ///< SHA-256 of o's elements in order, whatever its layout.
  std::optional<ErrorReport> error;    ///< Against float64.
  std::optional<ErrorReport> expected; ///< Against the file.
  double medianMs = 0, p95Ms = 0, tflops = 0, compileMs = 0;
  bool passed() const { return (!error || error->passed) && (!expected || expected->passed); }

  std::string toText() const;
  llvm::json::Value toJson() const;
};

/// Where a problem runs.
struct RunDevice {
  bool isCuda = false;
  int ordinal = 0;
  std::string emulated; ///< The target whose kernels the emulator runs; empty otherwise.
  /// "cpu", "cuda:0", "emulate:sm_80".
  static rt::Expected<RunDevice> parse(llvm::StringRef text);
  std::string text() const;
};

struct RunOptions {
  RunDevice device;
  unsigned threads = 0; ///< Of the CPU; 0 is one for each processor.
  rt::PayloadKind payload = rt::PayloadKind::Ptx;
  CompileOptions compile; ///< An empty target is chosen by the device.
  std::string record;     ///< File to which specs are appended; empty for none.
  emu::LaunchOptions emulation;
};

/// Runs problems on one device and keeps what it compiled, so that problems which
/// differ in their shape alone compile once.
class ProblemRunner {
public:
  static rt::Expected<std::unique_ptr<ProblemRunner>> create(RunOptions options,
                                                             rt::KernelCache &cache);
  rt::Expected<RunReport> run(const RunRequest &request);

private:
  ProblemRunner(RunOptions options, rt::KernelCache &cache, Compiler compiler)
      : options(std::move(options)), cache(cache), compiler(std::move(compiler)) {}

  rt::Expected<const HostProgram *> hostProgram(const KernelSpec &spec);
  rt::Expected<const EmulatedProgram *> emulatedProgram(const KernelSpec &spec);
  rt::Expected<std::vector<double>> runOnHost(const RunRequest &request, ProblemTensors &tensors);
  rt::Expected<std::vector<double>> runOnEmulator(const RunRequest &request,
                                                  ProblemTensors &tensors);
  rt::Expected<std::vector<double>> runOnCuda(const RunRequest &request, ProblemTensors &tensors);

  RunOptions options;
  rt::KernelCache &cache;
  Compiler compiler;
  std::map<std::string, std::unique_ptr<HostProgram>> programs;
  std::map<std::string, std::unique_ptr<EmulatedProgram>> emulatedPrograms;
  rt::CudaContextPtr context;
  std::shared_ptr<rt::SpecRecorder> recorder;
  double compileMs = 0;
};

} // namespace attn

#endif // ATTN_TOOLS_RUNPROBLEM_H
