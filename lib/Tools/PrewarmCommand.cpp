//===- PrewarmCommand.cpp - attnc prewarm ---------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Prewarm.h"
#include "attn/Compiler/InputFile.h"

#include <chrono>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Process.h>

using namespace attn;
using llvm::formatv;
using llvm::StringRef;

namespace {

struct PrewarmFlags {
  std::string target, bundle, cacheDir, ptxas, verify;
  uint64_t jobs = 0;
  bool dryRun = false, json = false, listModels = false, noCubin = false;
};

} // namespace

static CommandSyntax makeSyntax(PrewarmFlags &flags) {
  return {
      "attnc prewarm MANIFEST.json|MANIFEST.yaml|RECORDING.jsonl|MODEL|SPEC... [flags]",
      "Compiles kernels into the cache before they are asked for, or into one file with --bundle. "
      "A MODEL's\nname and words after it, as in dtype=bf16,f16, choose what it is compiled for; "
      "SPEC alone is one kernel.\nWhat is there already is kept.",
      {textFlag("target", "NAME[,NAME]", "cpu, sm_80, ... (default: the manifest's)", flags.target),
       switchFlag("dry-run", "list the kernels, compile none", flags.dryRun),
       textFlag("bundle", "FILE", "also write all kernels to this file, for --bundle elsewhere",
                flags.bundle),
       textFlag("verify", "FILE|DIR", "check every entry of a bundle or cache, compile none",
                flags.verify),
       switchFlag("models", "list the models", flags.listModels),
       numberFlag("jobs", "kernels at a time (default: one for each processor)", flags.jobs, 1,
                  1024),
       switchFlag("no-cubin", "PTX alone, even if there is a ptxas", flags.noCubin),
       textFlag("ptxas", "PATH", "assembler (default: from PATH or CUDA's folders)", flags.ptxas),
       textFlag("cache-dir", "DIR",
                "kernel cache (default: $ATTN_CACHE_DIR, $XDG_CACHE_HOME/attn, ~/.cache/attn)",
                flags.cacheDir),
       switchFlag("json", "print JSON", flags.json)},
      "keys of SPEC:\n" + specHelp(),
      "attnc prewarm llama-3-8b dtype=bf16 --target sm_90a --bundle llama.attnb"};
}

//===----------------------------------------------------------------------===//
// What to compile
//===----------------------------------------------------------------------===//

static tl::unexpected<rt::Error> bad(const llvm::Twine &message) {
  return rt::fail(rt::ErrorCode::BadInput, message.str());
}

/// The values of a list with commas; `word` is the whole of what was given.
static rt::Expected<std::vector<std::string>> splitList(const llvm::Twine &word, StringRef list) {
  llvm::SmallVector<StringRef> pieces;
  list.split(pieces, ',');
  if (llvm::is_contained(pieces, ""))
    return bad(word + ": expected a value" +
               (list.empty() ? "" : " before, between and after the commas") + ", got none");
  return std::vector<std::string>(pieces.begin(), pieces.end());
}

/// What words with '=' say of the models and manifests beside them.
static rt::Expected<SpecAxes> readFeatures(Words settings) {
  SpecAxes features;
  for (StringRef setting : settings) {
    auto [key, list] = setting.split('=');
    rt::Expected<std::vector<std::string>> values = splitList("'" + setting + "'", list);
    if (!values)
      return rt::fail(values.error());
    if (!features.emplace(key.str(), std::move(*values)).second)
      return bad("'" + setting + "': '" + key + "' is given twice; make one list of both");
  }
  return features;
}

constexpr llvm::StringLiteral kEndings[] = {".json", ".yaml", ".yml", ".jsonl"};

static bool namesFile(StringRef word) {
  return llvm::any_of(kEndings, [&](StringRef ending) { return word.ends_with(ending); });
}

static rt::Status addFile(const std::string &path, const PrewarmOverrides &overrides,
                          PrewarmList &list) {
  InputFile buffer = readInputFile(path);
  if (!buffer)
    return rt::fail(buffer.error());
  if (StringRef(path).ends_with(".jsonl"))
    return addRecording((*buffer)->getBuffer(), path, overrides, printRemark, list);
  return addManifest((*buffer)->getBuffer(), path, overrides, list);
}

/// A manifest that names the model alone; likewise the one of a spec: for the same checks of both.
static rt::Status addModel(const std::string &name, const PrewarmOverrides &overrides,
                           PrewarmList &list) {
  bool isThere = llvm::sys::fs::exists(name);
  if (StringRef(name).contains('/') || (isThere && !findModel(name)))
    return bad("'" + name + "': " +
               (llvm::sys::fs::is_directory(name) ? "is a folder"
                : isThere                         ? "has none of the endings of such files"
                                                  : "there is no such file") +
               "; expected a manifest (.json, .yaml), a recording (.jsonl), or a model's name "
               "(attnc prewarm --models lists them)");
  return addManifest(llvm::json::Object{{"models", llvm::json::Array{name}}}, "command line",
                     overrides, list);
}

static rt::Status addSpec(Words words, const PrewarmOverrides &overrides, PrewarmList &list) {
  rt::Expected<ParsedSpec> parsed = parseSpec(words, ShapeWords::Refused);
  if (!parsed)
    return rt::fail(parsed.error());
  return addManifest(llvm::json::Object{{"specs", llvm::json::Array{toText(parsed->spec)}}},
                     "command line", overrides, list);
}

/// Words that have no '=' name manifests and models; the others are a spec, or features of those.
static rt::Status expandWords(Words words, const PrewarmFlags &flags, PrewarmList &list) {
  std::vector<std::string> names, settings;
  for (const std::string &word : words)
    (StringRef(word).contains('=') ? settings : names).push_back(word);
  PrewarmOverrides overrides;
  if (!flags.target.empty()) {
    rt::Expected<std::vector<std::string>> targets =
        splitList("--target " + flags.target, flags.target);
    if (!targets)
      return rt::fail(targets.error());
    overrides.targets = std::move(*targets);
  }
  if (names.empty())
    return addSpec(settings, overrides, list);
  rt::Expected<SpecAxes> features = readFeatures(settings);
  if (!features)
    return rt::fail(features.error());
  overrides.features = std::move(*features);
  for (const std::string &name : names)
    if (rt::Status status =
            namesFile(name) ? addFile(name, overrides, list) : addModel(name, overrides, list);
        !status)
      return status;
  return {};
}

static int printKernels(llvm::ArrayRef<PrewarmKernel> kernels, bool json) {
  llvm::json::Array items;
  for (const PrewarmKernel &kernel : kernels) {
    if (json)
      items.push_back(llvm::json::Object{{"spec", toText(kernel.spec)}, {"target", kernel.target}});
    else
      llvm::outs() << kernel.target << " " << toText(kernel.spec) << "\n";
  }
  if (json)
    printJson(llvm::json::Object{{"kernels", std::move(items)}});
  else
    llvm::outs() << kernels.size() << (kernels.size() == 1 ? " kernel\n" : " kernels\n");
  return 0;
}

static int printModels(bool json) {
  if (json)
    printJson(llvm::json::Object{{"models", llvm::json::Array(modelNames())}});
  else
    llvm::outs() << llvm::join(modelNames(), "\n") << "\n";
  return 0;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

static int verify(const std::string &path, bool json) {
  std::vector<std::pair<std::string, std::string>> bad;
  uint64_t good = 0;
  if (llvm::sys::fs::is_directory(path)) {
    rt::DiskCacheOptions options;
    options.directory = path;
    rt::Expected<rt::VerifyReport> report = rt::DiskCache(std::move(options)).verify();
    if (!report)
      return reportError(report.error());
    bad = report->bad;
    good = report->good;
    if (good == 0 && bad.empty())
      bad.emplace_back(path, "holds no kernel; expected a cache directory or a bundle");
  } else {
    rt::Expected<rt::Bundle::Ptr> bundle = rt::Bundle::open(path);
    if (bundle) {
      bad = (*bundle)->verify();
      good = (*bundle)->numArtifacts() - bad.size();
    } else {
      bad.emplace_back(path, bundle.error().message);
    }
  }
  llvm::json::Array items;
  for (const auto &[what, problem] : bad) {
    if (!json)
      llvm::outs() << what << ": " << problem << "\n";
    items.push_back(llvm::json::Object{{"entry", what}, {"problem", problem}});
  }
  if (json)
    printJson(llvm::json::Object{{"good", static_cast<int64_t>(good)}, {"bad", std::move(items)}});
  else
    llvm::outs() << good << " good, " << bad.size() << " bad\n";
  return bad.empty() ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// A bar that is drawn over on a terminal, a line for each kernel otherwise.
static void showProgress(const PrewarmResult &result, size_t done, size_t total) {
  std::string name = result.kernel.target + " " + toText(result.kernel.spec);
  if (!llvm::sys::Process::StandardErrIsDisplayed()) {
    llvm::errs() << formatv("{0}/{1} {2} {3:F0} ms {4}\n", done, total,
                            !result.error.empty() ? "failed"
                            : result.isKept       ? "kept"
                                                  : "compiled",
                            result.ms, name);
    return;
  }
  constexpr size_t kWidth = 30;
  size_t filled = kWidth * done / total;
  llvm::errs() << "\r\x1b[K[" << std::string(filled, '#') << std::string(kWidth - filled, ' ')
               << formatv("] {0}/{1} ", done, total) << StringRef(name).take_front(60)
               << (done == total ? "\n" : "");
}

static int compileAll(llvm::ArrayRef<PrewarmKernel> kernels, const PrewarmFlags &flags) {
  std::vector<rt::Bundle::Ptr> bundles;
  if (!flags.bundle.empty()) {
    if (rt::Status status = rt::BundleWriter::checkTarget(flags.bundle); !status)
      return reportError(status.error());
    rt::Expected<rt::Bundle::Ptr> before = rt::Bundle::open(flags.bundle);
    if (before)
      bundles.push_back(*before);
    else if (before.error().code == rt::ErrorCode::Unavailable)
      return reportError(before.error());
    else if (before.error().code != rt::ErrorCode::NotFound)
      printRemark(before.error().message + "; it is made anew");
  }
  ToolCache cache(flags.cacheDir, std::move(bundles));
  PrewarmOptions options{static_cast<unsigned>(flags.jobs), !flags.noCubin, flags.ptxas};
  auto begin = std::chrono::steady_clock::now();
  rt::Expected<std::vector<PrewarmResult>> results =
      prewarm(kernels, options, *cache.kernels, [&](const PrewarmResult &result, size_t done) {
        showProgress(result, done, kernels.size());
      });
  if (!results)
    return reportError(results.error());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (flags.json)
    printJson(summaryJson(*results, seconds));
  else
    llvm::outs() << summaryText(*results, seconds);
  int code = 0;
  for (const PrewarmResult &result : *results)
    if (!result.error.empty())
      code = reportError(
          {rt::ErrorCode::BadInput,
           result.kernel.target + " " + toText(result.kernel.spec) + ": " + result.error});
  if (flags.bundle.empty()) {
    const rt::DiskCache &disk = *cache.kernels->disk();
    if (!disk.isWritable())
      return reportError({rt::ErrorCode::Unavailable,
                          "cache directory '" + disk.directory() +
                              "': kernels could not be written to it and are lost; give another "
                              "with --cache-dir, or write a --bundle"});
    return code;
  }
  if (code != 0)
    return reportError({rt::ErrorCode::BadInput,
                        "--bundle " + flags.bundle +
                            ": not written, since kernels failed; take them out of the manifest"});
  rt::Status written = writeBundle(*results, flags.bundle);
  return written ? 0 : reportError(written.error());
}

int attn::prewarmCommand(Words arguments) {
  PrewarmFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords parsed;
  if (std::optional<int> code = parseOrExit(syntax, arguments, parsed))
    return *code;
  if (flags.listModels || !flags.verify.empty()) {
    std::string asked = flags.listModels ? "--models" : "--verify " + flags.verify, other;
    if (!parsed.words.empty())
      other = "'" + parsed.words[0] + "'";
    else if (flags.listModels && !flags.verify.empty())
      other = "--verify " + flags.verify;
    if (!other.empty())
      return reportError(
          {rt::ErrorCode::BadInput, asked + ": contradicts " + other + "; give one"});
    return flags.listModels ? printModels(flags.json) : verify(flags.verify, flags.json);
  }
  if (parsed.words.empty())
    return reportError({rt::ErrorCode::BadInput,
                        "nothing to compile: expected a manifest, a model (attnc prewarm --models "
                        "lists them) or key=value words"});
  PrewarmList list;
  if (rt::Status status = expandWords(parsed.words, flags, list); !status)
    return reportError(status.error());
  return flags.dryRun ? printKernels(list.kernels(), flags.json)
                      : compileAll(list.kernels(), flags);
}
