//===- PrewarmManifest.h - Which kernels to have ready ----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A manifest is JSON, or YAML of the same content:
//
//   {"targets": ["sm_80", "sm_90a"],
//    "features": {"dtype": ["bf16", "f16"], "tensor_parallel": [1, 2]},
//    "models": ["llama-3-8b", {"model": "gemma-2-9b", "phase": "prefill"}],
//    "specs": [{"head_dim": 64, "heads_q": 16, "mask": ["none", "causal"]},
//              "dtype=f16 head_dim=64 heads_q=16 lse=false"]}
//
// An object of specs is a layer: a list holds alternatives, and what dispatch derives from the
// tensors of a call (phase, lse, alignment) is all of what it may be unless the layer says. Words
// are one problem. Where the target has schedules for short sequences, a problem that does not say
// max_seq_len is a kernel for each. Features are values that models take instead of their own, and
// defaults of the manifest's own layers. A recording (.jsonl) has one {"spec":..,"target":..} a
// line.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_PREWARMMANIFEST_H
#define ATTN_COMPILER_PREWARMMANIFEST_H

#include "attn/Compiler/KernelSpec.h"

#include <functional>
#include <llvm/ADT/StringSet.h>
#include <map>
#include <vector>

namespace attn {

/// One kernel to have ready.
struct PrewarmKernel {
  KernelSpec spec; ///< Canonical.
  std::string target;
  bool operator==(const PrewarmKernel &) const = default;
};

/// Alternatives of each key, as they stand in words.
using SpecAxes = std::map<std::string, std::vector<std::string>>;

/// What a command line says beside a manifest.
struct PrewarmOverrides {
  std::vector<std::string> targets; ///< In place of the manifest's; empty leaves those.
  SpecAxes features;                ///< Before those of the manifest.
};

/// Kernels to have ready, each once, in the order in which they were added.
class PrewarmList {
public:
  /// BadInput for a target that there is not, and for more kernels than any deployment has.
  rt::Status add(const KernelSpec &spec, const std::string &target);
  const std::vector<PrewarmKernel> &kernels() const { return list; }

private:
  std::vector<PrewarmKernel> list;
  llvm::StringSet<> seen;
};

/// Adds the kernels of a manifest. `name` is what messages call it; that of text tells its format:
/// YAML if it ends in .yaml or .yml, else JSON. BadInput names the key, value and place of what is
/// wrong.
rt::Status addManifest(llvm::StringRef text, llvm::StringRef name,
                       const PrewarmOverrides &overrides, PrewarmList &list);
rt::Status addManifest(const llvm::json::Object &manifest, llvm::StringRef name,
                       const PrewarmOverrides &overrides, PrewarmList &list);

/// Adds the kernels of a recording. A line that a writer did not finish is skipped, and `warn` is
/// told.
rt::Status addRecording(llvm::StringRef text, llvm::StringRef name,
                        const PrewarmOverrides &overrides,
                        const std::function<void(const std::string &)> &warn, PrewarmList &list);

/// Names of the models that this compiler knows, sorted.
std::vector<std::string> modelNames();

/// The manifest of a model. BadInput with the nearest name when there is none.
rt::Expected<llvm::StringRef> findModel(llvm::StringRef name);

} // namespace attn

#endif // ATTN_COMPILER_PREWARMMANIFEST_H
