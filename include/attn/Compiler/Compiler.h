//===- Compiler.h - From problems to kernels --------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_COMPILER_H
#define ATTN_COMPILER_COMPILER_H

#include "attn/Compiler/EmulatedProgram.h"
#include "attn/Compiler/HostProgram.h"
#include "attn/Compiler/KernelSpec.h"
#include "attn/Dispatch/CandidateSpace.h"
#include "attn/Runtime/KernelCache.h"

#include <functional>
#include <variant>

namespace attn {

/// MLIR text, mostly of a problem, and what messages call it.
struct ProblemText {
  std::string text;
  std::string name;
};

/// What to compile: a canonical spec, or L0 text with one function that holds one
/// attn.forward.
using Problem = std::variant<KernelSpec, ProblemText>;

/// What `emit` can show, in the order of lowering.
enum class Emit { Problem, Tiles, Scheduled, NVVM, LLVM, PTX };

/// An explanation for people and for programs.
struct ExplanationText {
  std::string text;
  llvm::json::Value json;
  std::string error; ///< Why no schedule takes the problem; empty when one does.
};

/// What dispatch decides for a problem.
struct ChosenSchedule {
  std::string row;
  std::string file; ///< That the row stands in; empty for the target's table.
  ScheduleValues schedule;
};

/// Counts the MLIR contexts that a compiler made: a cache hit makes none.
inline constexpr std::string_view kContextsMetric = "compiler.contexts";

struct CompileOptions {
  std::string target = "cpu";
  /// f32 elements in a vector of the CPU target; 0 takes what the host has.
  unsigned vectorWidth = 0;
  /// Path of ptxas; empty looks in PATH and the usual CUDA directories.
  std::string ptxas = {};
  /// What is in no cache is an error of code NotFound.
  bool forbidCompiling = false;
  /// Told about remarks and warnings, such as a problem that no fast path takes.
  std::function<void(const std::string &)> remark = {};
  /// Counts problems that took the generic path, and contexts; outlives the compiler.
  rt::Metrics *metrics = nullptr;
  /// Rows that dispatch tries before the target's table (readScheduleFile reads them), and the
  /// name of the device; the CPU target knows its own.
  FileSchedules schedules = {};
};

/// Compiles problems for one target. Holds no state but its options, so threads may
/// share one; each call works in a context of its own.
class Compiler {
public:
  /// BadInput when there is no such target.
  static rt::Expected<Compiler> create(CompileOptions options);

  const TargetInfo &target() const { return *info; }

  /// The IR, or PTX, at one point of the pipeline.
  rt::Expected<std::string> emit(const Problem &problem, Emit what) const;

  /// The content key of the PTX of a problem; equal problems have equal keys.
  rt::Expected<std::string> key(const Problem &problem) const;

  /// A hash of all that the key of a spec depends on: this build of the compiler, its options and
  /// the fields of the spec.
  rt::Alias alias(const KernelSpec &spec) const { return alias(spec, codeKind()); }

  /// What the target's kernels are kept as: PTX, or code of the host.
  rt::PayloadKind codeKind() const {
    return info->isGpu ? rt::PayloadKind::Ptx : rt::PayloadKind::Host;
  }

  /// The same of the kernel in another form. That of a cubin does not say which ptxas made it.
  rt::Alias alias(const KernelSpec &spec, rt::PayloadKind kind) const;

  /// PTX or a cubin of a GPU target, or code of the host for the CPU, with its manifest.
  rt::Expected<rt::Artifact> compile(const Problem &problem, rt::PayloadKind kind) const;

  /// The same through a cache. A problem that was asked for before, in the same words,
  /// is found by a hash of the words: MLIR has no part in such a hit.
  rt::Expected<rt::LoadedArtifactPtr> compile(const Problem &problem, rt::PayloadKind kind,
                                              rt::KernelCache &cache) const;

  /// What the cache has of this spec, in the target's own form; null when it has no such kernel.
  /// Makes no MLIR context and never compiles.
  rt::LoadedArtifactPtr find(const KernelSpec &spec, rt::KernelCache &cache) const {
    return find(spec, codeKind(), cache);
  }
  rt::LoadedArtifactPtr find(const KernelSpec &spec, rt::PayloadKind kind,
                             rt::KernelCache &cache) const;

  /// What a call of the problem passes: arguments, and sizes that must agree. Compiles nothing.
  rt::Expected<rt::Manifest> signature(const Problem &problem) const;

  /// Machine code in this process; for the CPU target.
  rt::Expected<std::unique_ptr<HostProgram>> compileHost(const Problem &problem) const;

  /// The same through a cache, as compile does it.
  rt::Expected<std::unique_ptr<HostProgram>> compileHost(const Problem &problem,
                                                         rt::KernelCache &cache) const;

  /// The kernels of a GPU target for the emulator, in this process.
  rt::Expected<std::unique_ptr<EmulatedProgram>> compileEmulated(const Problem &problem) const;

  /// The same of L3 text, such as that of Emit::LLVM, with the launches of a manifest.
  rt::Expected<std::unique_ptr<EmulatedProgram>> emulate(const ProblemText &l3,
                                                         rt::Manifest manifest) const;

  /// Which schedule is chosen; BadInput, as `explain` words it, when there is none.
  rt::Expected<ChosenSchedule> choose(const Problem &problem) const;

  /// The schedules of some spaces that the target can run, and why it cannot run the others.
  rt::Expected<CandidateList> candidates(const Problem &problem,
                                         llvm::ArrayRef<CandidateSpace> spaces,
                                         const ProblemShape &shape, RegisterSplits splits) const;

  /// Which schedule is chosen and why.
  rt::Expected<ExplanationText> explain(const Problem &problem,
                                        const std::optional<ProblemShape> &shape) const;

private:
  Compiler(CompileOptions options, const TargetInfo &target)
      : options(std::move(options)), info(&target) {}

  rt::Status checkKind(rt::PayloadKind kind) const;
  /// In the form of codeKind().
  rt::Expected<rt::LoadedArtifactPtr> compileCode(const Problem &problem,
                                                  rt::KernelCache &cache) const;

  CompileOptions options;
  const TargetInfo *info;
};

/// The name of the processor of this machine, as schedule files call a device.
std::string hostDeviceName();

/// Says that a kernel would have to be compiled where that is forbidden, and the way out.
rt::Error notCompiled(const KernelSpec &spec, llvm::StringRef target);

/// Identifies this compiler by its sources and its LLVM version.
std::string compilerBuildId();

} // namespace attn

#endif // ATTN_COMPILER_COMPILER_H
