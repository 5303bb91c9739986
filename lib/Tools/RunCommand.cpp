//===- RunCommand.cpp - attnc run -----------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "attn/Compiler/InputFile.h"
#include "attn/Tools/RunProblem.h"

#include <csignal>
#include <llvm/Support/LineIterator.h>
#include <llvm/Support/MemoryBuffer.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace attn;

namespace {

/// Flags of one run: the command line's, or one line's of a batch.
struct RunFlags {
  size_t inputs = 0, layout = 0, payload = 0;
  uint64_t seed = 0, repeat = 5, threads = 0, parent = 0;
  bool check = false, json = false;
  std::string device = "cpu", target, ptxas, batch, async, record;
  CacheFlags cache;
  uint64_t interleave = 0, maxSteps = 0;
  std::string q, k, v, expect, l3;
  ScheduleFlags schedules;
};

} // namespace

// In the order of InputKind and Layout.
static const std::vector<std::string> kInputs = {"random", "peaked", "negative", "zero_q"};
static const std::vector<std::string> kLayouts = {"dense",     "head_major", "packed", "padded",
                                                  "broadcast", "unaligned",  "sparse"};

/// What differs from line to line of a batch.
static std::vector<Flag> requestFlags(RunFlags &flags) {
  return {
      choiceFlag("inputs", "values made from --seed (default: random)", kInputs, flags.inputs),
      choiceFlag("layout", "strides of q, k, v and o (default: dense)", kLayouts, flags.layout),
      numberFlag("seed", "of the inputs (default: 0)", flags.seed, 0, UINT32_MAX),
      numberFlag("repeat", "timed runs (default: 5)", flags.repeat, 1, 100000),
      switchFlag("check", "compare with float64", flags.check),
      textFlag("q", "FILE.npy", "values of q, [batch, seq_q, heads_q, head_dim]", flags.q),
      textFlag("k", "FILE.npy", "values of k", flags.k),
      textFlag("v", "FILE.npy", "values of v", flags.v),
      textFlag("expect", "FILE.npy", "compare o with this as well", flags.expect),
      textFlag("l3", "FILE.mlir",
               "what the emulator runs in place of the program that compile --emit llvm writes, "
               "with the same launches",
               flags.l3)};
}

static CommandSyntax makeSyntax(RunFlags &flags) {
  CommandSyntax syntax{
      "attnc run SPEC... [flags]",
      "Runs a problem on the CPU or a GPU on reproducible inputs or .npy files, compares the "
      "result with\nfloat64 and prints errors and times. A wrong result is exit code 2.",
      requestFlags(flags), "keys of SPEC:\n" + specHelp(),
      "attnc run dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 seq_q=1000 seq_kv=1337 mask=causal "
      "--check"};
  std::vector<Flag> more = {
      textFlag("device", "cpu|cuda:N|emulate:TARGET",
               "where to run (default: cpu); the emulator runs a GPU target's kernels once",
               flags.device),
      textFlag("target", "NAME", "what to compile for (default: the device)", flags.target),
      choiceFlag("payload", "what the GPU gets (default: ptx)", {"ptx", "cubin"}, flags.payload),
      numberFlag("threads", "of the CPU (default: one for each processor)", flags.threads, 1, 4096),
      textFlag("async", "early|late|random:SEED",
               "when the emulator's asynchronous copies land (default: early)", flags.async),
      numberFlag("interleave", "CTAs that the emulator runs in turns (default: 1)",
                 flags.interleave, 1, 1024),
      numberFlag("max-steps", "instructions after which the emulator stops (default: 2^32)",
                 flags.maxSteps, 1, INT64_MAX),
      textFlag(
          "batch", "FILE.jsonl",
          "one run a line, an object of SPEC's keys and the flags from inputs to l3, which the "
          "command line may preset; answers in JSON, the exit code is the worst",
          flags.batch),
      numberFlag("parent", "process that started this one, whose end ends it, however it comes",
                 flags.parent, 1, INT32_MAX),
      textFlag("ptxas", "PATH", "assembler for cubin", flags.ptxas),
      flags.schedules.fileFlag(),
      textFlag("record", "FILE.jsonl", "append what is run to a file that attnc prewarm takes",
               flags.record),
      switchFlag("json", "print JSON", flags.json)};
  llvm::append_range(syntax.flags, more);
  llvm::append_range(syntax.flags, cacheFlags(flags.cache));
  return syntax;
}

/// Lets this process end with its parent, which may be killed and then ends nothing itself.
static rt::Status endWith(uint64_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  // It may have ended before.
  if (static_cast<uint64_t>(getppid()) == parent)
    return {};
  return rt::fail(rt::ErrorCode::BadInput, "--parent " + std::to_string(parent) +
                                               ": is not the process that started this one");
}

static rt::Expected<RunRequest> makeRequest(const ParsedSpec &parsed, const RunFlags &flags) {
  rt::Expected<RunShape> shape = canonicalize(parsed.shape, parsed.spec);
  if (!shape)
    return rt::fail(shape.error());
  RunRequest request;
  request.spec = parsed.spec;
  request.shape = *shape;
  request.inputs = static_cast<InputKind>(flags.inputs);
  request.layout = static_cast<Layout>(flags.layout);
  request.seed = flags.seed;
  request.repeat = static_cast<unsigned>(flags.repeat);
  request.check = flags.check;
  request.qFile = flags.q;
  request.kFile = flags.k;
  request.vFile = flags.v;
  request.expectFile = flags.expect;
  request.l3File = flags.l3;
  return request;
}

/// "early", "late" or "random:SEED".
static rt::Expected<emu::LaunchOptions> parseEmulation(const RunFlags &flags) {
  emu::LaunchOptions options;
  if (flags.interleave != 0)
    options.interleave = static_cast<unsigned>(flags.interleave);
  if (flags.maxSteps != 0)
    options.maxSteps = flags.maxSteps;
  llvm::StringRef text = flags.async;
  if (text.empty() || text == "early")
    return options;
  if (text == "late")
    options.async = emu::AsyncMode::Late;
  else if (text.consume_front("random:") && !text.getAsInteger(10, options.seed))
    options.async = emu::AsyncMode::Random;
  else
    return rt::fail(rt::ErrorCode::BadInput,
                    "--async " + flags.async + ": expected early, late or random:SEED");
  return options;
}

static rt::Expected<std::unique_ptr<ProblemRunner>> makeRunner(const RunFlags &flags,
                                                               ToolCache &cache) {
  rt::Expected<RunDevice> device = RunDevice::parse(flags.device);
  if (!device)
    return rt::fail(device.error());
  // What a device has no use for is refused rather than ignored.
  auto refuse = [&](const char *flag) {
    return rt::fail(rt::ErrorCode::BadInput,
                    std::string(flag) + ": has no meaning for --device " + flags.device);
  };
  bool isEmulated = !device->emulated.empty();
  if (!isEmulated && !flags.async.empty())
    return refuse("--async");
  if (!isEmulated && flags.interleave != 0)
    return refuse("--interleave");
  if (!isEmulated && flags.maxSteps != 0)
    return refuse("--max-steps");
  if ((device->isCuda || isEmulated) && flags.threads != 0)
    return refuse("--threads");
  if (!device->isCuda && flags.payload != 0)
    return refuse("--payload cubin");
  if (!device->isCuda && !flags.ptxas.empty())
    return refuse("--ptxas");
  if (isEmulated && !flags.cache.bundle.empty())
    return refuse("--bundle");
  if (isEmulated && flags.cache.noCompile)
    return refuse("--no-compile");
  rt::Expected<emu::LaunchOptions> emulation = parseEmulation(flags);
  if (!emulation)
    return rt::fail(emulation.error());
  RunOptions options;
  options.emulation = *emulation;
  options.device = *device;
  options.record = flags.record;
  options.threads = static_cast<unsigned>(flags.threads);
  options.payload = static_cast<rt::PayloadKind>(flags.payload);
  rt::Expected<FileSchedules> schedules = flags.schedules.read();
  if (!schedules)
    return rt::fail(schedules.error());
  options.compile = {.target = flags.target,
                     .ptxas = flags.ptxas,
                     .forbidCompiling = flags.cache.noCompile,
                     .remark = printRemark,
                     .metrics = &cache.metrics,
                     .schedules = *schedules};
  return ProblemRunner::create(std::move(options), *cache.kernels);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// Takes the flags out of a line's object; what is left is the spec.
static rt::Expected<RunRequest> parseLine(llvm::StringRef line, const std::string &name,
                                          const RunFlags &defaults) {
  auto value = parseJson(line);
  llvm::json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object) {
    llvm::consumeError(value.takeError());
    return rt::fail(rt::ErrorCode::BadInput, name + ": expected one JSON object");
  }
  RunFlags flags = defaults;
  for (const Flag &flag : requestFlags(flags)) {
    const llvm::json::Value *given = object->get(flag.name);
    if (!given)
      continue;
    std::string text = llvm::formatv("{0}", *given);
    if (std::optional<llvm::StringRef> string = given->getAsString())
      text = string->str();
    rt::Status status;
    if (!flag.valueName.empty() || text == "true")
      status = flag.set(text);
    else if (text != "false")
      status = rt::fail(rt::ErrorCode::BadInput, flag.name + ": expected true or false");
    if (!status)
      return rt::fail({status.error().code, name + ": " + status.error().message});
    object->erase(flag.name);
  }
  rt::Expected<ParsedSpec> parsed =
      parseSpecJson(llvm::formatv("{0}", *value).str(), name, ShapeWords::Allowed);
  if (!parsed)
    return rt::fail(parsed.error());
  return makeRequest(*parsed, flags);
}

/// Runs every line, whatever becomes of the others; the worst exit code.
static int runBatch(const RunFlags &flags, ProblemRunner &runner) {
  std::unique_ptr<llvm::MemoryBuffer> requests;
  if (flags.batch == "-") {
    auto input = llvm::MemoryBuffer::getSTDIN();
    if (!input)
      return reportError(
          {rt::ErrorCode::BadInput, "--batch -: cannot read: " + input.getError().message()});
    requests = std::move(*input);
  } else {
    InputFile file = readInputFile(flags.batch);
    if (!file)
      return reportError({rt::ErrorCode::BadInput, "--batch " + file.error().message});
    requests = std::move(*file);
  }
  int worst = 0;
  for (llvm::line_iterator line(*requests, /*SkipBlanks=*/true); !line.is_at_eof(); ++line) {
    std::string name = llvm::formatv("{0}:{1}", flags.batch, line.line_number());
    rt::Expected<RunRequest> request = parseLine(*line, name, flags);
    rt::Expected<RunReport> report =
        request ? runner.run(*request) : rt::Expected<RunReport>(rt::fail(request.error()));
    if (report) {
      printJson(report->toJson());
      worst = std::max(worst, report->passed() ? 0 : 2);
    } else {
      int code = exitCode(report.error().code);
      printJson(llvm::json::Object{
          {"passed", false}, {"message", report.error().message}, {"exit_code", code}});
      worst = std::max(worst, code);
    }
    llvm::outs().flush();
  }
  return worst;
}

int attn::runCommand(Words arguments) {
  RunFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords words;
  if (std::optional<int> code = parseOrExit(syntax, arguments, words))
    return *code;
  if (flags.parent != 0)
    if (rt::Status status = endWith(flags.parent); !status)
      return reportError(status.error());
  if (!flags.batch.empty() && !words.words.empty())
    return reportError({rt::ErrorCode::BadInput, "--batch " + flags.batch + ": contradicts '" +
                                                     words.words[0] +
                                                     "'; put problems into the file"});
  std::optional<RunRequest> request;
  if (flags.batch.empty()) {
    if (words.words.size() == 1 && llvm::StringRef(words.words[0]).ends_with(".mlir"))
      return reportError({rt::ErrorCode::BadInput,
                          words.words[0] + ": expected key=value words or a .json file; only "
                                           "compile and explain take MLIR"});
    rt::Expected<ParsedSpec> parsed = parseSpec(words.words, ShapeWords::Allowed);
    if (!parsed)
      return reportError(parsed.error());
    rt::Expected<RunRequest> made = makeRequest(*parsed, flags);
    if (!made)
      return reportError(made.error());
    request = std::move(*made);
  }
  rt::Expected<std::unique_ptr<ToolCache>> cache = openCache(flags.cache);
  if (!cache)
    return reportError(cache.error());
  auto runner = makeRunner(flags, **cache);
  if (!runner)
    return reportError(runner.error());
  if (!request)
    return runBatch(flags, **runner);
  rt::Expected<RunReport> report = (*runner)->run(*request);
  if (!report)
    return reportError(report.error());
  if (flags.json)
    printJson(report->toJson());
  else
    llvm::outs() << report->toText();
  for (const std::optional<ErrorReport> &error : {report->error, report->expected})
    if (error && !error->passed)
      return reportError({rt::ErrorCode::Internal, error->failure});
  return 0;
}
