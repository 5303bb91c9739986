//===- DumpStage.h - Files with the IR after each stage ---------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_PIPELINES_DUMPSTAGE_H
#define ATTN_LIB_PIPELINES_DUMPSTAGE_H

#include "attn/Pipelines/Pipelines.h"

namespace attn {

/// Writes the module to `<directory>/<number>-<stage>.mlir`; makes the directory.
std::unique_ptr<mlir::Pass> createDumpStagePass(llvm::StringRef directory, Stage stage);

/// Writes the PTX of the module to `<directory>/<number>-emit.ptx`.
std::unique_ptr<mlir::Pass> createDumpPTXPass(llvm::StringRef directory, const TargetInfo &target);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_DUMPSTAGE_H
