//===- Session.cpp - One problem on its way through the stages ------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "attn/Compiler/BuildProblem.h"
#include "attn/Pipelines/Registration.h"

using namespace mlir;
using namespace attn;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

Session::Session(const CompileOptions &options, const TargetInfo &target)
    : options(options), target(target), context(makeRegistry(), MLIRContext::Threading::DISABLED),
      handler(&context, [this](Diagnostic &diagnostic) { diagnose(diagnostic); }) {
  // A whole module in every message would hide what it says.
  context.printOpOnDiagnostic(false);
  if (options.metrics)
    options.metrics->counter(kContextsMetric).add();
}

/// "file:line:column: " where the location has them.
static void printPlace(llvm::raw_ostream &os, Location loc) {
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn()
       << ": ";
}

void Session::diagnose(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printPlace(os, diagnostic.getLocation());
  os << diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes()) {
    os << "\n";
    printPlace(os, note.getLocation());
    os << "note: " << note.str();
  }
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
    errors += (errors.empty() ? "" : "\n") + text;
  else if (options.remark)
    options.remark(text);
  // The passes remark on nothing but the generic path.
  if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
    return;
  if (options.metrics)
    options.metrics->fallback(diagnostic.str());
  remarks.push_back(std::move(text));
}

rt::Error Session::takeError(rt::ErrorCode code, StringRef fallback) {
  std::string text = errors.empty() ? fallback.str() : std::move(errors);
  errors.clear();
  return {code, text};
}

rt::Status Session::load(const Problem &problem) {
  if (auto *spec = std::get_if<KernelSpec>(&problem)) {
    loadProblemDialects(context);
    root = buildProblem(*spec, context);
    return {};
  }
  rt::Status status = loadText(std::get<ProblemText>(problem));
  if (status && failed(checkStage(*root, Stage::Normalize, target)))
    return rt::fail(takeError(rt::ErrorCode::BadInput, "no problem"));
  return status;
}

rt::Status Session::loadText(const ProblemText &text) {
  root = parseSourceString<ModuleOp>(text.text, ParserConfig(&context), text.name);
  if (!root)
    return rt::fail(takeError(rt::ErrorCode::BadInput, text.name + ": not an MLIR module"));
  return {};
}

rt::Status Session::runTo(Stage last) {
  PipelineOptions pipeline{options.target, options.vectorWidth, options.schedules};
  for (; numStagesDone <= static_cast<size_t>(last); ++numStagesDone) {
    Stage stage = allStages()[numStagesDone];
    PassManager pm(&context, ModuleOp::getOperationName());
    // Once for each stage that keeps programs small. Unrolled code would be verified for longer
    // than it is converted; attn-opt checks it after each pass, and LLVM what comes out.
    pm.enableVerifier(false);
    buildStage(pm, stage, pipeline, target);
    bool isUnrolled = stage >= Stage::Convert;
    if (succeeded(pm.run(*root)) && (isUnrolled || succeeded(mlir::verify(*root))))
      continue;
    // What gets through the checks of the first stages is ours to lower.
    bool isChecked = stage > Stage::Tile;
    return rt::fail(takeError(isChecked ? rt::ErrorCode::Internal : rt::ErrorCode::BadInput,
                              ("stage " + stageName(stage) + " failed").str()));
  }
  return {};
}

std::string Session::text() {
  std::string text;
  llvm::raw_string_ostream(text) << *root << "\n";
  return text;
}

rt::Expected<ForwardOp> Session::forward() {
  SmallVector<ForwardOp> ops;
  root->walk([&](ForwardOp op) { ops.push_back(op); });
  if (ops.size() != 1 || !isa<func::FuncOp>(ops.front()->getParentOp()))
    return rt::fail(rt::ErrorCode::BadInput,
                    "expected one attn.forward directly in a function, got " +
                        std::to_string(ops.size()) + "; attn-opt takes any module");
  return ops.front();
}

std::string Session::pipelineText() {
  PassManager pm(&context, ModuleOp::getOperationName());
  buildStages(pm, Stage::Normalize, Stage::Lower, {options.target, options.vectorWidth}, target);
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  return text;
}
