//===- TuneCommand.cpp - attnc tune ---------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "TuneReport.h"
#include "attn/Runtime/CudaDriver.h"
#include "attn/Tools/RunProblem.h"

#include <llvm/Support/FileSystem.h>

using namespace attn;

namespace {

struct TuneFlags {
  std::string device = "cpu", target, output, cacheDir;
  ScheduleFlags schedules;
  uint64_t budget = 600, timeout = 60, repeat = 0, minGain = 1;
  bool resume = false, dryRun = false, json = false;
};

} // namespace

static CommandSyntax makeSyntax(TuneFlags &flags) {
  return {
      "attnc tune SPEC... [flags]",
      "Searches for a schedule that is faster than the default on a device: checks each "
      "candidate against\nfloat64 and times it, in a process of its own, and writes a winner "
      "as a row of a schedule file.\nSchedule fields given as lists restrict the search: "
      "q_tile=64,128 kv_tile=64.",
      {textFlag("device", "cpu|cuda:N", "where to search (default: cpu)", flags.device),
       textFlag("target", "NAME",
                "what to compile for (default: the device); with --dry-run no device is needed",
                flags.target),
       textFlag("out", "FILE",
                "schedule file that gets the row; measurements go to FILE.journal.jsonl",
                flags.output),
       numberFlag("budget", "seconds of the search (default: 600)", flags.budget, 1, 1000000),
       numberFlag("timeout", "seconds of one candidate (default: 60)", flags.timeout, 1, 86400),
       numberFlag("repeat", "timed calls of one candidate (default: 10, on a GPU 50)", flags.repeat,
                  1, 100000),
       numberFlag("min-gain", "percent of the time that a winner saves at least (default: 1)",
                  flags.minGain, 0, 99),
       switchFlag("resume", "go on with the measurements in the journal of --out", flags.resume),
       switchFlag("dry-run", "list what would be tried, and what not and why", flags.dryRun),
       flags.schedules.fileFlag(), textFlag("cache-dir", "DIR", "kernel cache", flags.cacheDir),
       switchFlag("json", "print JSON", flags.json)},
      "keys of SPEC:\n" + specHelp(),
      "attnc tune dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 mask=causal batch=4 "
      "seq_q=4096 --device cuda:0 --out schedules.json"};
}

/// What a device is called and runs; without one, for --dry-run, what --target says.
static rt::Expected<TuneDevice> findDevice(const TuneFlags &flags) {
  rt::Expected<RunDevice> parsed = RunDevice::parse(flags.device);
  if (!parsed)
    return rt::fail(parsed.error());
  if (!parsed->emulated.empty())
    return rt::fail(rt::ErrorCode::BadInput, "--device " + flags.device +
                                                 ": its times say nothing of a GPU; expected cpu "
                                                 "or cuda:N, or --dry-run with --target");
  TuneDevice device{parsed->text(), "", "", flags.target};
  if (flags.dryRun && !flags.target.empty())
    return device;
  const TargetInfo *target = findTarget("cpu");
  if (parsed->isCuda) {
    rt::Expected<rt::CudaDriver::Ptr> driver = rt::CudaDriver::load();
    if (!driver)
      return rt::fail(driver.error());
    rt::Expected<rt::DeviceInfo> info = (*driver)->deviceInfo(parsed->ordinal);
    if (!info)
      return rt::fail(info.error());
    target = targetOfDevice(info->computeMajor, info->computeMinor);
    if (!target)
      return rt::fail(rt::ErrorCode::BadInput, "--device " + flags.device +
                                                   ": kernels need sm_80 or later, got " +
                                                   info->chip());
    device.name = info->name;
    device.driver = "CUDA " + rt::driverVersionText(info->driverVersion);
  } else {
    device.name = hostDeviceName();
  }
  if (device.target.empty())
    device.target = target->name;
  const TargetInfo *asked = findTarget(device.target);
  if (!asked)
    return rt::fail(rt::ErrorCode::BadInput, unknownTargetMessage(device.target));
  if (asked->isGpu != parsed->isCuda)
    return rt::fail(rt::ErrorCode::BadInput,
                    "--target " + device.target + " does not run on --device " + flags.device);
  return device;
}

static rt::Status checkFlags(const TuneFlags &flags) {
  if (flags.dryRun && !flags.output.empty())
    return rt::fail(rt::ErrorCode::BadInput,
                    "--out " + flags.output + ": has no meaning with --dry-run");
  if (flags.resume && flags.output.empty())
    return rt::fail(rt::ErrorCode::BadInput,
                    "--resume: expected --out FILE, whose journal has the measurements");
  return {};
}

/// Opens the journal beside --out and says what it has.
static rt::Expected<TuneJournal> openJournal(const TuneFlags &flags, const TuneDevice &device,
                                             const TuneProblem &problem, TuneProgress &progress) {
  if (flags.output.empty())
    return TuneJournal();
  JournalHeader header{.build = compilerBuildId(),
                       .device = device.name,
                       .driver = device.driver,
                       .target = device.target,
                       .problem = toText(problem.spec),
                       .shape = toText(problem.shape),
                       .repeat = std::to_string(flags.repeat),
                       .timeout = std::to_string(flags.timeout)};
  std::string path = flags.output + ".journal.jsonl", note;
  bool isThere = llvm::sys::fs::exists(path);
  rt::Expected<TuneJournal> journal = TuneJournal::open(path, header, flags.resume, note);
  if (journal && flags.resume && !isThere)
    progress.note("--resume: there is no journal " + path +
                  " yet, so the search starts at its beginning");
  else if (journal && flags.resume)
    progress.note(
        note.empty()
            ? llvm::formatv("{0}: going on after {1} measurements", path, journal->size()).str()
            : path + ": starting over: " + note);
  return journal;
}

static rt::Status tune(const TuneFlags &flags, const TuneProblem &problem, const Compiler &compiler,
                       const TuneDevice &device) {
  rt::Expected<TunePlan> plan = planSearch(compiler, problem);
  if (!plan)
    return rt::fail(plan.error());
  if (flags.dryRun) {
    if (flags.json)
      printJson(toJson(*plan));
    else
      llvm::outs() << toText(*plan);
    return {};
  }
  if (plan->tiles.empty() && plan->switches.empty())
    return rt::fail(
        rt::ErrorCode::BadInput,
        llvm::formatv("nothing to try: {0} schedules rejected, {1}; --dry-run lists them",
                      plan->rejected.size(),
                      plan->rejected.empty() ? "the default is the only one left"
                                             : "the first for " + plan->rejected.front().reason));
  // A file that cannot be read is found before the search rather than after it.
  if (!flags.output.empty() && llvm::sys::fs::exists(flags.output))
    if (rt::Expected<ScheduleFile> file = readScheduleFile(flags.output); !file)
      return rt::fail(rt::ErrorCode::BadInput, "--out " + file.error().message);
  TuneProgress progress;
  rt::Expected<TuneJournal> journal = openJournal(flags, device, problem, progress);
  if (!journal)
    return rt::fail(journal.error());
  TrialRunner runner({device.text, device.target, flags.cacheDir,
                      static_cast<unsigned>(flags.timeout), static_cast<unsigned>(flags.repeat)},
                     problem);
  TuneLimits limits{static_cast<double>(flags.budget), static_cast<double>(flags.minGain) / 100};
  rt::Expected<TuneOutcome> outcome =
      TuneSearch(compiler, problem, runner, *journal, progress, limits).run(*plan);
  if (!outcome)
    return rt::fail(outcome.error());
  std::optional<FileRow> row;
  if (outcome->isImproved)
    row = makeRow(*outcome, *plan, device, problem);
  if (row && !flags.output.empty())
    if (rt::Status status = writeRow(*row, flags.output); !status)
      return status;
  const FileRow *written = row ? &*row : nullptr;
  if (flags.json)
    printJson(toJson(*outcome, *plan, device, problem, written, flags.output));
  else
    llvm::outs() << toText(*outcome, *plan, written, flags.output);
  return {};
}

int attn::tuneCommand(Words arguments) {
  TuneFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords words;
  if (std::optional<int> code = parseOrExit(syntax, arguments, words))
    return *code;
  if (rt::Status status = checkFlags(flags); !status)
    return reportError(status.error());
  rt::Expected<TuneProblem> problem = parseTuneProblem(words.words);
  if (!problem)
    return reportError(problem.error());
  rt::Expected<FileSchedules> schedules = flags.schedules.read();
  if (!schedules)
    return reportError(schedules.error());
  rt::Expected<TuneDevice> device = findDevice(flags);
  if (!device)
    return reportError(device.error());
  schedules->device = device->name;
  CompileOptions options{.target = device->target, .schedules = *schedules};
  rt::Expected<Compiler> compiler = Compiler::create(std::move(options));
  if (!compiler)
    return reportError(compiler.error());
  if (flags.repeat == 0)
    flags.repeat = compiler->target().isGpu ? 50 : 10;
  if (rt::Status status = tune(flags, *problem, *compiler, *device); !status)
    return reportError(status.error());
  return 0;
}
