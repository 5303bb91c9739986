//===- Attn.cpp - Attention from C ----------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Attn.h"

#include "attn/Compiler/Attention.h"

#include <cstring>
#include <llvm/Support/FormatVariadic.h>

using namespace attn;

struct AttnJit {
  explicit AttnJit(JitOptions options) : jit(std::move(options)) {}
  Jit jit;
};

struct AttnAttention {
  Attention attention;
};

//===----------------------------------------------------------------------===//
// Errors and text
//===----------------------------------------------------------------------===//

static std::string &lastError() {
  static thread_local std::string message;
  return message;
}

const char *attnLastError() { return lastError().c_str(); }

static AttnStatus failure(const rt::Error &error) {
  lastError() = error.message;
  switch (error.code) {
  case rt::ErrorCode::BadInput:
    return ATTN_BAD_INPUT;
  case rt::ErrorCode::Internal:
    return ATTN_INTERNAL;
  case rt::ErrorCode::Unavailable:
    return ATTN_UNAVAILABLE;
  case rt::ErrorCode::NotFound:
    return ATTN_NOT_FOUND;
  case rt::ErrorCode::Stale:
    return ATTN_STALE;
  case rt::ErrorCode::Corrupt:
    return ATTN_CORRUPT;
  case rt::ErrorCode::Busy:
    return ATTN_BUSY;
  }
  return ATTN_INTERNAL;
}

static AttnStatus toStatus(const rt::Status &status) {
  return status ? ATTN_OK : failure(status.error());
}

static AttnStatus badInput(std::string message) {
  return failure({rt::ErrorCode::BadInput, std::move(message)});
}

static char *copyText(const std::string &text) { return ::strdup(text.c_str()); }

void attnFreeText(char *text) { ::free(text); }

const char *attnVersion() {
  static const std::string id = compilerBuildId();
  return id.c_str();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static std::optional<JitMode> toMode(AttnJitMode mode) {
  switch (mode) {
  case ATTN_JIT_SYNCHRONOUS:
    return JitMode::Synchronous;
  case ATTN_JIT_BACKGROUND:
    return JitMode::Background;
  case ATTN_JIT_FORBID:
    return JitMode::Forbid;
  }
  return std::nullopt;
}

AttnStatus attnJitCreate(AttnJitMode mode, const char *cacheDir, AttnJit **jit) {
  std::optional<JitMode> known = toMode(mode);
  if (!known)
    return badInput("mode: expected 0 (synchronous), 1 (background) or 2 (forbid), got " +
                    std::to_string(mode));
  JitOptions options;
  options.mode = *known;
  if (!cacheDir || *cacheDir) {
    rt::Expected<std::string> directory = rt::defaultCacheDir(cacheDir ? cacheDir : "");
    if (!directory)
      return failure(directory.error());
    options.disk.emplace().directory = *directory;
  }
  *jit = new AttnJit(std::move(options));
  return ATTN_OK;
}

void attnJitDestroy(AttnJit *jit) { delete jit; }

void attnJitSetMode(AttnJit *jit, AttnJitMode mode) {
  jit->jit.setMode(toMode(mode).value_or(JitMode::Synchronous));
}

AttnJitMode attnJitGetMode(const AttnJit *jit) {
  switch (jit->jit.mode()) {
  case JitMode::Synchronous:
    return ATTN_JIT_SYNCHRONOUS;
  case JitMode::Background:
    return ATTN_JIT_BACKGROUND;
  case JitMode::Forbid:
    return ATTN_JIT_FORBID;
  }
  return ATTN_JIT_SYNCHRONOUS;
}

void attnJitWait(AttnJit *jit) { jit->jit.wait(); }

AttnStatus attnJitAddBundle(AttnJit *jit, const char *path) {
  return toStatus(jit->jit.addBundle(path));
}

AttnStatus attnJitRecord(AttnJit *jit, const char *path) { return toStatus(jit->jit.record(path)); }

AttnStatus attnJitMetrics(AttnJit *jit, AttnMetricsFormat format, char **text) {
  if (format != ATTN_METRICS_JSON && format != ATTN_METRICS_PROMETHEUS)
    return badInput("format: expected 0 (JSON) or 1 (Prometheus), got " + std::to_string(format));
  const rt::Metrics &metrics = jit->jit.metrics();
  *text = copyText(format == ATTN_METRICS_JSON ? metrics.toJson() : metrics.toPrometheus());
  return ATTN_OK;
}

void attnJitSetLog(AttnJit *jit, AttnLog log, void *user) {
  jit->jit.metrics().setLog(log ? [log, user](const std::string &line) { log(line.c_str(), user); }
                                : rt::Metrics::Log());
}

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

static rt::Expected<ParsedSpec> parse(const char *text, ShapeWords shapeWords) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words);
  std::vector<std::string> owned;
  for (llvm::StringRef word : words) {
    // Text of a program, which names no file.
    if (!word.contains('='))
      return rt::fail(rt::ErrorCode::BadInput, "'" + word.str() + "': expected key=value");
    owned.push_back(word.str());
  }
  return parseSpec(owned, shapeWords);
}

AttnStatus attnSpecCanonicalize(const char *spec, char **canonical) {
  rt::Expected<ParsedSpec> parsed = parse(spec, ShapeWords::Refused);
  if (!parsed)
    return failure(parsed.error());
  *canonical = copyText(toText(parsed->spec));
  return ATTN_OK;
}

AttnStatus attnCompile(AttnJit *jit, const char *spec, const char *target, char **ptx,
                       char **manifest) {
  *ptx = *manifest = nullptr;
  rt::Expected<ParsedSpec> parsed = parse(spec, ShapeWords::Refused);
  if (!parsed)
    return failure(parsed.error());
  if (llvm::StringRef(target) == "cpu") {
    auto kernel = jit->jit.get(parsed->spec, Device::cpu(), JitMode::Synchronous);
    return kernel ? ATTN_OK : failure(kernel.error());
  }
  rt::Expected<rt::LoadedArtifactPtr> artifact = jit->jit.compile(parsed->spec, target);
  if (!artifact)
    return failure(artifact.error());
  *ptx = copyText((*artifact)->artifact().payload);
  *manifest = copyText(rt::toJson((*artifact)->artifact().manifest));
  return ATTN_OK;
}

AttnStatus attnExplain(const char *spec, const char *target, char **text, char **json) {
  rt::Expected<ParsedSpec> parsed = parse(spec, ShapeWords::Allowed);
  if (!parsed)
    return failure(parsed.error());
  rt::Expected<Compiler> compiler = Compiler::create({.target = target});
  if (!compiler)
    return failure(compiler.error());
  std::optional<ProblemShape> shape;
  if (parsed->shape != RunShape()) {
    rt::Expected<RunShape> full = canonicalize(parsed->shape, parsed->spec);
    if (!full)
      return failure(full.error());
    shape = ProblemShape{*full->batch, *full->seqQ, *full->seqKV, {}};
  }
  rt::Expected<ExplanationText> explanation = compiler->explain(parsed->spec, shape);
  if (!explanation)
    return failure(explanation.error());
  if (!explanation->error.empty())
    return badInput(explanation->error);
  *text = copyText(explanation->text);
  *json = copyText(llvm::formatv("{0}", explanation->json).str());
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static std::optional<MaskKind> toMask(AttnMask mask) {
  switch (mask) {
  case ATTN_MASK_NONE:
    return MaskKind::None;
  case ATTN_MASK_CAUSAL:
    return MaskKind::Causal;
  case ATTN_MASK_CAUSAL_TOP_LEFT:
    return MaskKind::CausalTopLeft;
  case ATTN_MASK_WINDOW:
    return MaskKind::Window;
  case ATTN_MASK_WINDOW_TOP_LEFT:
    return MaskKind::WindowTopLeft;
  }
  return std::nullopt;
}

AttnStatus attnAttentionCreate(AttnJit *jit, const AttnAttentionOptions *options,
                               AttnAttention **attention) {
  std::optional<MaskKind> mask = toMask(options->mask);
  if (!mask)
    return badInput("mask: expected an AttnMask, got " + std::to_string(options->mask));
  KernelSpec base;
  base.mask = *mask;
  if (*mask == MaskKind::Window || *mask == MaskKind::WindowTopLeft) {
    base.windowLeft = options->windowLeft;
    base.windowRight = options->windowRight;
  }
  if (options->softcap != 0)
    base.softcap = options->softcap;
  *attention = new AttnAttention{Attention(jit->jit, base)};
  return ATTN_OK;
}

void attnAttentionDestroy(AttnAttention *attention) { delete attention; }

static rt::Expected<rt::TensorArg> toTensor(const char *name, const AttnTensor &tensor) {
  static constexpr rt::ElementType kTypes[] = {rt::ElementType::F32, rt::ElementType::BF16,
                                               rt::ElementType::F16};
  if (tensor.rank < 0 || tensor.rank > 4)
    return rt::fail(rt::ErrorCode::BadInput, std::string(name) +
                                                 ": expected a rank of at most 4, " + "got " +
                                                 std::to_string(tensor.rank));
  if (static_cast<size_t>(tensor.type) >= std::size(kTypes))
    return rt::fail(rt::ErrorCode::BadInput, std::string(name) + ": expected an AttnType, got " +
                                                 std::to_string(tensor.type));
  size_t rank = static_cast<size_t>(tensor.rank);
  return rt::TensorArg::strided(tensor.data, kTypes[tensor.type], {tensor.sizes, rank},
                                {tensor.strides, rank});
}

static rt::Expected<AttentionTensors> toTensors(const AttnCall &call) {
  if (call.device < Device::kCpu)
    return rt::fail(rt::ErrorCode::BadInput, "device: expected -1 for the CPU or the number of a "
                                             "CUDA device, got " +
                                                 std::to_string(call.device));
  AttentionTensors tensors;
  tensors.device = {call.device};
  for (auto [name, from, to] :
       {std::tuple<const char *, const AttnTensor *, rt::TensorArg *>{"q", &call.q, &tensors.q},
        {"k", &call.k, &tensors.k},
        {"v", &call.v, &tensors.v},
        {"o", &call.o, &tensors.o},
        {"lse", call.lse, call.lse ? &tensors.lse.emplace() : nullptr},
        {"slopes", call.slopes, call.slopes ? &tensors.slopes.emplace() : nullptr}}) {
    if (!from)
      continue;
    rt::Expected<rt::TensorArg> tensor = toTensor(name, *from);
    if (!tensor)
      return rt::fail(tensor.error());
    *to = *tensor;
  }
  return tensors;
}

AttnStatus attnRun(const AttnAttention *attention, const AttnCall *call) {
  rt::Expected<AttentionTensors> tensors = toTensors(*call);
  if (!tensors)
    return failure(tensors.error());
  CallOptions options;
  options.stream = call->stream;
  options.threads = call->threads;
  options.checkPointers = call->checkPointers != 0;
  options.scratch = call->scratch;
  options.scratchBytes = call->scratchBytes;
  std::optional<double> scale = call->scale ? std::optional(*call->scale) : std::nullopt;
  return toStatus(attention->attention(*tensors, scale, options));
}

AttnStatus attnWorkspaceBytes(const AttnAttention *attention, const AttnCall *call, size_t *bytes) {
  rt::Expected<AttentionTensors> tensors = toTensors(*call);
  if (!tensors)
    return failure(tensors.error());
  rt::Expected<size_t> size = attention->attention.workspaceBytes(*tensors, call->stream);
  if (!size)
    return failure(size.error());
  *bytes = *size;
  return ATTN_OK;
}

AttnStatus attnSpecOf(const AttnAttention *attention, const AttnCall *call, char **spec) {
  rt::Expected<AttentionTensors> tensors = toTensors(*call);
  if (!tensors)
    return failure(tensors.error());
  rt::Expected<KernelSpec> derived = attention->attention.specOf(*tensors);
  if (!derived)
    return failure(derived.error());
  rt::Expected<KernelSpec> canonical = canonicalize(*derived);
  if (!canonical)
    return failure(canonical.error());
  *spec = copyText(toText(*canonical));
  return ATTN_OK;
}
