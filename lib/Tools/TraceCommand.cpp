//===- TraceCommand.cpp - attnc trace -------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "attn/Emulator/Trace.h"
#include "attn/Tools/RunProblem.h"

#include <llvm/Support/FormatVariadic.h>

using namespace attn;

namespace {

struct TraceFlags {
  std::string device, output;
  uint64_t cta = 0;
  size_t format = 0;
};

} // namespace

static CommandSyntax makeSyntax(TraceFlags &flags) {
  return {"attnc trace SPEC... --device emulate:TARGET [flags]",
          "Runs one CTA of a problem's GPU kernel on the emulator and writes what its warps do, "
          "and when on a\nnominal clock, as a Chrome trace. ui.perfetto.dev shows it; a "
          "microsecond there is a cycle.",
          {textFlag("device", "emulate:TARGET", "whose kernel to run, such as emulate:sm_80",
                    flags.device),
           numberFlag("cta", "which CTA, by its number in the grid (default: 0)", flags.cta, 0,
                      INT32_MAX),
           choiceFlag("format", "Chrome trace, or lines to read (default: json)", {"json", "text"},
                      flags.format),
           textFlag("output", "FILE", "or -o FILE; - is stdout, the default", flags.output)},
          "keys of SPEC:\n" + specHelp(),
          "attnc trace dtype=bf16 head_dim=64 heads_q=1 heads_kv=1 seq_q=128 seq_kv=256 "
          "--device emulate:sm_80 -o trace.json"};
}

static void writeEvent(llvm::json::OStream &json, size_t track, const emu::TraceSlice &slice) {
  json.object([&] {
    json.attribute("name", slice.name);
    json.attribute("cat", emu::toString(slice.category));
    json.attribute("ph", "X");
    json.attribute("ts", slice.begin);
    json.attribute("dur", slice.end - slice.begin);
    json.attribute("pid", 1);
    json.attribute("tid", track);
    json.attributeObject("args", [&] {
      json.attribute("count", slice.count);
      json.attribute("first", slice.first->location);
      json.attribute("last", slice.last->location);
    });
  });
}

/// A name, or a place in the order, of the process or of a track.
static void writeMetadata(llvm::json::OStream &json, llvm::StringRef what, size_t track,
                          llvm::StringRef key, const llvm::json::Value &value) {
  json.object([&] {
    json.attribute("name", what);
    json.attribute("ph", "M");
    json.attribute("pid", 1);
    json.attribute("tid", track);
    json.attributeObject("args", [&] { json.attribute(key, value); });
  });
}

static std::string toChromeTrace(const std::string &title, llvm::ArrayRef<emu::TraceTrack> tracks) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      writeMetadata(json, "process_name", 0, "name", title);
      for (const auto &[i, track] : llvm::enumerate(tracks)) {
        writeMetadata(json, "thread_name", i, "name", track.name);
        writeMetadata(json, "thread_sort_index", i, "sort_index", static_cast<int64_t>(i));
      }
      for (const auto &[i, track] : llvm::enumerate(tracks))
        for (const emu::TraceSlice &slice : track.slices)
          writeEvent(json, i, slice);
    });
  });
  text += '\n';
  return text;
}

static std::string toLines(const std::string &title, llvm::ArrayRef<emu::TraceTrack> tracks) {
  std::string text = title + "\n";
  for (const emu::TraceTrack &track : tracks) {
    text += track.name + "\n";
    for (const emu::TraceSlice &slice : track.slices)
      text += llvm::formatv("  {0,8} {1,8}  {2,-10} {3} x{4}  {5}\n", slice.begin, slice.end,
                            emu::toString(slice.category), slice.name, slice.count,
                            slice.first->location)
                  .str();
  }
  return text;
}

static rt::Expected<std::string> trace(Words words, const TraceFlags &flags) {
  RunOptions options;
  rt::Expected<RunDevice> device = RunDevice::parse(flags.device.empty() ? "cpu" : flags.device);
  if (!device)
    return rt::fail(device.error());
  if (device->emulated.empty())
    return rt::fail(rt::ErrorCode::BadInput,
                    "--device" + (flags.device.empty() ? "" : " " + flags.device) +
                        ": the emulator alone can trace; expected emulate: and a GPU target, "
                        "such as emulate:sm_80");
  rt::Expected<NamedProblem> problem = readProblem(words, ShapeWords::Allowed);
  if (!problem)
    return rt::fail(problem.error());
  const auto *spec = std::get_if<KernelSpec>(&problem->problem);
  if (!spec)
    return rt::fail(rt::ErrorCode::BadInput,
                    words[0] + ": expected key=value words or a .json file; only compile and "
                               "explain take MLIR");
  rt::Expected<RunShape> shape = canonicalize(problem->shape, *spec);
  if (!shape)
    return rt::fail(shape.error());

  emu::TraceRecorder recorder(flags.cta);
  options.device = *device;
  options.emulation.listener = &recorder;
  options.emulation.onlyCta = flags.cta;
  options.compile.target = device->emulated;
  options.compile.remark = printRemark;
  rt::Metrics metrics;
  rt::KernelCache cache(nullptr, metrics);
  auto runner = ProblemRunner::create(std::move(options), cache);
  if (!runner)
    return rt::fail(runner.error());
  RunRequest request;
  request.spec = *spec;
  request.shape = *shape;
  if (rt::Expected<RunReport> report = (*runner)->run(request); !report)
    return rt::fail(report.error());
  if (recorder.threads.empty())
    return rt::fail(rt::ErrorCode::BadInput,
                    toText(*shape) + ": launches no CTA, so there is nothing to trace");
  std::string title = llvm::formatv("CTA {0} of {1} {2} on {3}", flags.cta, toText(*spec),
                                    toText(*shape), device->text());
  std::vector<emu::TraceTrack> tracks = emu::makeTimeline(std::move(recorder));
  return flags.format == 0 ? toChromeTrace(title, tracks) : toLines(title, tracks);
}

int attn::traceCommand(Words arguments) {
  TraceFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords words;
  if (std::optional<int> code = parseOrExit(syntax, arguments, words))
    return *code;
  rt::Expected<std::string> text = trace(words.words, flags);
  if (!text)
    return reportError(text.error());
  if (rt::Status status = writeOutput(flags.output, *text); !status)
    return reportError(status.error());
  return 0;
}
