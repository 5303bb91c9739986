//===- ExplainCommand.cpp - attnc explain ---------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "attn/Compiler/DispatchMatrix.h"

using namespace attn;

namespace {

struct ExplainFlags {
  std::string target;
  ScheduleFlags schedules;
  bool matrix = false, json = false;
};

} // namespace

static CommandSyntax makeSyntax(ExplainFlags &flags) {
  return {"attnc explain SPEC...|FILE.mlir|--matrix [flags]",
          "Shows the schedule that the target's table gives a problem, each row that was not taken "
          "and why,\nthe resources of the kernel and, when seq_q is given, the roofline bound; or, "
          "for all problems, which\nrow takes them.",
          {textFlag("target", "NAME", "cpu, sm_80, ... (default: sm_80; all with --matrix)",
                    flags.target),
           switchFlag("matrix", "the row for each problem, as Markdown tables", flags.matrix),
           flags.schedules.fileFlag(), flags.schedules.deviceFlag(),
           switchFlag("json", "print JSON", flags.json)},
          "keys of SPEC:\n" + specHelp(),
          "attnc explain dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 mask=causal batch=4 "
          "seq_q=4096 --target sm_80"};
}

static rt::Expected<ExplanationText> explain(const NamedProblem &named, const ExplainFlags &flags) {
  rt::Expected<FileSchedules> schedules = flags.schedules.read();
  if (!schedules)
    return rt::fail(schedules.error());
  rt::Expected<Compiler> compiler =
      Compiler::create({.target = flags.target.empty() ? "sm_80" : flags.target,
                        .remark = printRemark,
                        .schedules = *schedules});
  if (!compiler)
    return rt::fail(compiler.error());
  std::optional<ProblemShape> shape;
  auto *spec = std::get_if<KernelSpec>(&named.problem);
  if (spec && named.shape != RunShape{}) {
    rt::Expected<RunShape> full = canonicalize(named.shape, *spec);
    if (!full)
      return rt::fail(full.error());
    shape = ProblemShape{*full->batch, *full->seqQ, *full->seqKV, {}};
  }
  return compiler->explain(named.problem, shape);
}

/// Prints the rows of the target, or of all.
static int printMatrix(Words words, const ExplainFlags &flags) {
  auto bad = [](const std::string &message) {
    return reportError({rt::ErrorCode::BadInput, message});
  };
  if (!words.empty())
    return bad("--matrix: contradicts '" + words[0] + "', since it shows all problems; give one");
  if (!flags.schedules.file.empty())
    return bad("--schedules " + flags.schedules.file +
               ": has no meaning with --matrix, which shows the targets' own tables");
  if (rt::Expected<FileSchedules> schedules = flags.schedules.read(); !schedules)
    return reportError(schedules.error());
  llvm::ArrayRef<TargetInfo> targets = allTargets();
  if (!flags.target.empty()) {
    const TargetInfo *target = findTarget(flags.target);
    if (!target)
      return bad(unknownTargetMessage(flags.target));
    targets = *target;
  }
  std::vector<SharedMatrix> matrices = makeDispatchMatrices(targets);
  if (flags.json)
    printJson(toJson(matrices));
  else
    llvm::outs() << toText(matrices);
  return 0;
}

int attn::explainCommand(Words arguments) {
  ExplainFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords parsed;
  if (std::optional<int> code = parseOrExit(syntax, arguments, parsed))
    return *code;
  if (flags.matrix)
    return printMatrix(parsed.words, flags);
  rt::Expected<NamedProblem> named = readProblem(parsed.words, ShapeWords::Allowed);
  if (!named)
    return reportError(named.error());
  rt::Expected<ExplanationText> explanation = explain(*named, flags);
  if (!explanation)
    return reportError(explanation.error());
  if (flags.json)
    printJson(explanation->json);
  else
    llvm::outs() << explanation->text;
  if (!explanation->error.empty())
    return reportError({rt::ErrorCode::BadInput, explanation->error});
  return 0;
}
