//===- Session.h - One problem on its way through the stages ----*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_SESSION_H
#define ATTN_LIB_COMPILER_SESSION_H

#include "attn/Compiler/Compiler.h"
#include "attn/Pipelines/Pipelines.h"

#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/OwningOpRef.h>

namespace attn {

/// A context, a module in it, and what the stages said.
class Session {
public:
  Session(const CompileOptions &options, const TargetInfo &target);

  /// Text is refused where it has been lowered already.
  rt::Status load(const Problem &problem);
  /// Of any stage.
  rt::Status loadText(const ProblemText &text);

  /// Runs the stages that are left up to and with `last`.
  rt::Status runTo(Stage last);

  mlir::ModuleOp module() { return *root; }
  /// Frees the module; the context stays.
  void dropModule() { root = nullptr; }
  /// The module without locations.
  std::string text();
  /// The one attn.forward of the module, before it is lowered.
  rt::Expected<ForwardOp> forward();
  /// The passes of all stages with their options.
  std::string pipelineText();
  /// What the stages remarked so far.
  const std::vector<std::string> &remarksSoFar() const { return remarks; }
  /// An error with everything that was diagnosed, or `fallback` when nothing was.
  rt::Error takeError(rt::ErrorCode code, llvm::StringRef fallback);

private:
  void diagnose(mlir::Diagnostic &diagnostic);

  CompileOptions options;
  const TargetInfo &target;
  mlir::MLIRContext context;
  std::string errors;
  std::vector<std::string> remarks;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> root;
  size_t numStagesDone = 0;
};

} // namespace attn

#endif // ATTN_LIB_COMPILER_SESSION_H
