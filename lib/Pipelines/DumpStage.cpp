//===- DumpStage.cpp - Files with the IR after each stage -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DumpStage.h"

#include "attn/Target/PTXEmitter.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

using namespace mlir;
using namespace attn;

/// Writes a file of the dump; false after it has said what is wrong.
static bool writeFile(ModuleOp module, StringRef directory, const Twine &name, StringRef text) {
  SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  std::error_code error = llvm::sys::fs::create_directories(directory);
  if (!error) {
    llvm::raw_fd_ostream file(path, error);
    if (!error)
      file << text;
    file.close();
    if (!error)
      error = file.error();
    file.clear_error();
  }
  if (error)
    emitError(module.getLoc()) << "--attn-dump-stages: cannot write '" << path
                               << "': " << error.message();
  return !error;
}

namespace {

struct DumpStage : PassWrapper<DumpStage, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DumpStage)
  DumpStage(StringRef directory, Stage stage) : directory(directory.str()), stage(stage) {}
  StringRef getArgument() const override { return "attn-dump-stage"; }

  void runOnOperation() override {
    std::string text;
    llvm::raw_string_ostream(text) << getOperation() << "\n";
    markAllAnalysesPreserved();
    if (!writeFile(getOperation(), directory,
                   Twine(static_cast<int>(stage) + 1) + "-" + stageName(stage) + ".mlir", text))
      signalPassFailure();
  }

  std::string directory;
  Stage stage;
};

struct DumpPTX : PassWrapper<DumpPTX, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DumpPTX)
  DumpPTX(StringRef directory, const TargetInfo &target)
      : directory(directory.str()), target(target) {}
  StringRef getArgument() const override { return "attn-dump-ptx"; }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<std::string> ptx = emitPTX(getOperation(), {target.name, target.minPtxVersion});
    if (failed(ptx) ||
        !writeFile(getOperation(), directory, Twine(allStages().size() + 1) + "-emit.ptx", *ptx))
      signalPassFailure();
  }

  std::string directory;
  const TargetInfo &target;
};

} // namespace

std::unique_ptr<Pass> attn::createDumpStagePass(StringRef directory, Stage stage) {
  return std::make_unique<DumpStage>(directory, stage);
}

std::unique_ptr<Pass> attn::createDumpPTXPass(StringRef directory, const TargetInfo &target) {
  return std::make_unique<DumpPTX>(directory, target);
}
