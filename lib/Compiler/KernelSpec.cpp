//===- KernelSpec.cpp - Canonical form and text of specs ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/KernelSpec.h"

#include "SpecValues.h"

#include <cmath>

using namespace attn;
using namespace attn::spec;
using llvm::formatv;
using llvm::StringRef;

static tl::unexpected<rt::Error> bad(const std::string &message) {
  return rt::fail(rt::ErrorCode::BadInput, message);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static rt::Status checkHeadDim(StringRef key, int64_t value, int64_t limit) {
  if (value % 8 == 0 && value >= 8 && value <= limit)
    return {};
  int64_t padded = (value + 7) / 8 * 8;
  std::string hint = padded > 0 && padded <= limit
                         ? formatv("; pad the tensors to {0} columns", padded).str()
                         : std::string();
  return badValue(key, valueText(value),
                  formatv("a multiple of 8 in [8, {0}]", limit).str() + hint);
}

/// A range's default is checked like a given value: C++ callers fill the struct by hand.
template <class T> static rt::Status checkRange(const SpecKey &key, const T &value) {
  if constexpr (std::is_same_v<T, std::optional<int64_t>>) {
    if (value)
      return checkRange(key, *value);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    int64_t parsed;
    return parseValue(key, valueText(value), parsed);
  }
  return {};
}

/// Folds causal and window bounds into one window, and unlimited windows away.
static rt::Status canonicalizeMask(KernelSpec &spec) {
  bool isWindow = spec.mask == MaskKind::Window || spec.mask == MaskKind::WindowTopLeft;
  bool isTopLeft = spec.mask == MaskKind::CausalTopLeft || spec.mask == MaskKind::WindowTopLeft;
  bool hasBounds = spec.windowLeft || spec.windowRight;
  if (spec.mask == MaskKind::None) {
    if (hasBounds)
      return bad("mask=none: contradicts the window bounds; use mask=window, or mask=causal for a "
                 "window that ends at the diagonal");
    return {};
  }
  if (isWindow && !hasBounds)
    return badValue("mask", valueText(spec.mask),
                    "a bound as well: window=W (W keys up to the diagonal), window=LEFT,RIGHT, "
                    "window_left or window_right");
  // No sequence is that long, and larger bounds would overflow when added to a position.
  constexpr int64_t kUnlimited = int64_t(1) << 40;
  auto bound = [](std::optional<int64_t> keys) {
    return keys && *keys < kUnlimited ? *keys : int64_t(-1);
  };
  int64_t left = bound(spec.windowLeft), right = bound(spec.windowRight);
  if (!isWindow)
    right = 0;
  spec.windowLeft.reset();
  spec.windowRight.reset();
  if (left < 0 && right < 0) {
    spec.mask = MaskKind::None;
  } else if (left < 0 && right == 0) {
    spec.mask = isTopLeft ? MaskKind::CausalTopLeft : MaskKind::Causal;
  } else {
    spec.mask = isTopLeft ? MaskKind::WindowTopLeft : MaskKind::Window;
    spec.windowLeft = left;
    spec.windowRight = right;
  }
  return {};
}

static rt::Status checkPinnedAlgorithm(const KernelSpec &spec) {
  if (spec.pins.algorithm != Algorithm::FA1)
    return {};
  if (spec.out != rt::ElementType::F32 || !spec.lse)
    return bad("algorithm=fa1: keeps its running result in o and lse, so expected out=f32 and "
               "lse=true, got out=" +
               valueText(*spec.out) + " and lse=" + valueText(spec.lse) + "; or use algorithm=fa2");
  if (spec.pins.splitKV.value_or(1) > 1)
    return bad("split_kv=" + valueText(*spec.pins.splitKV) +
               ": expected split_kv=1 with algorithm=fa1; or use algorithm=fa2");
  return {};
}

rt::Expected<KernelSpec> attn::canonicalize(KernelSpec spec) {
  for (auto [key, value] :
       {std::pair<StringRef, std::optional<int64_t> &>{"head_dim", spec.headDim},
        {"heads_q", spec.headsQ}})
    if (!value)
      return bad(("missing " + key + ": add " + key + "=N").str());
  spec.headDimV = spec.headDimV.value_or(*spec.headDim);
  spec.headsKV = spec.headsKV.value_or(*spec.headsQ);
  spec.out = spec.out.value_or(spec.dtype);

  // Head dims first: their message knows of padding.
  rt::Status status = checkHeadDim("head_dim", *spec.headDim, 256);
  if (status)
    status = checkHeadDim("head_dim_v", *spec.headDimV, 512);
  visitSpec(spec, [&](const SpecKey &key, const auto &value) {
    if (status)
      status = checkRange(key, value);
  });
  if (!status)
    return rt::fail(status.error());

  if (*spec.headsQ % *spec.headsKV != 0)
    return bad(formatv("heads_q={0} heads_kv={1}: expected heads_q to be a multiple of heads_kv",
                       *spec.headsQ, *spec.headsKV));
  for (rt::ElementType type : {spec.dtype, *spec.out})
    if (valueText(type).empty())
      return bad("dtype=" + std::string(rt::toString(type)) + ": expected f32, bf16 or f16");
  if (*spec.out != spec.dtype && *spec.out != rt::ElementType::F32)
    return badValue("out", valueText(*spec.out),
                    valueText(spec.dtype) + " as dtype is" +
                        (spec.dtype == rt::ElementType::F32 ? "" : ", or f32"));
  if (spec.softcap && !(std::isfinite(*spec.softcap) && static_cast<float>(*spec.softcap) > 0 &&
                        std::isfinite(static_cast<float>(*spec.softcap))))
    return badValue("softcap", valueText(*spec.softcap),
                    "a positive number that f32 holds; leave softcap out for none");
  int64_t elementBytes = rt::byteSize(spec.dtype);
  if (!llvm::isPowerOf2_64(spec.alignment) || spec.alignment < elementBytes)
    return badValue("alignment", valueText(spec.alignment),
                    formatv("a power of two in [{0}, 256], at least the {0} bytes of an element",
                            elementBytes));
  if (status = canonicalizeMask(spec); status)
    status = checkPinnedAlgorithm(spec);
  if (!status)
    return rt::fail(status.error());
  return spec;
}

rt::Expected<RunShape> attn::canonicalize(RunShape shape, const KernelSpec &spec) {
  shape.batch = shape.batch.value_or(1);
  if (spec.phase == Phase::Decode) {
    shape.seqQ = shape.seqQ.value_or(1);
    if (*shape.seqQ != 1)
      return bad(
          formatv("seq_q={0}: expected 1 with phase=decode; use phase=prefill", *shape.seqQ));
    if (!shape.seqKV)
      return bad("missing seq_kv: add seq_kv=N");
  }
  if (!shape.seqQ)
    return bad("missing seq_q: add seq_q=N");
  shape.seqKV = shape.seqKV.value_or(*shape.seqQ);
  rt::Status status;
  visitShape(shape, [&](const SpecKey &key, const auto &value) {
    if (status)
      status = checkRange(key, value);
  });
  if (!status)
    return rt::fail(status.error());
  if (!shape.scale)
    shape.scale = 1.0 / std::sqrt(static_cast<double>(*spec.headDim));
  if (!(*shape.scale >= 0) || !std::isfinite(static_cast<float>(*shape.scale)))
    return badValue("scale", valueText(*shape.scale), "a finite f32 number of at least 0");
  return shape;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

/// Appends the fields that are set.
struct TextWriter {
  std::string text;
  template <class T> void operator()(const SpecKey &key, const std::optional<T> &value) {
    if (value)
      (*this)(key, *value);
  }
  template <class T> void operator()(const SpecKey &key, const T &value) {
    text += (text.empty() ? "" : " ") + key.name.str() + "=" + valueText(value);
  }
};

} // namespace

std::string attn::toText(const KernelSpec &spec) {
  TextWriter writer;
  visitSpec(spec, writer);
  return writer.text;
}

std::string attn::toText(const RunShape &shape) {
  TextWriter writer;
  visitShape(shape, writer);
  return writer.text;
}

std::string attn::specHelp() {
  std::string text;
  auto line = [&](const SpecKey &key, const auto &) {
    text += formatv("  {0,-15} {1}\n", key.name, key.help);
  };
  KernelSpec spec;
  RunShape shape;
  visitSpec(spec, line);
  line(SpecKey{"window", "W (W keys up to the diagonal) or LEFT,RIGHT; alone it is mask=window"},
       0);
  text += "  run only:\n";
  visitShape(shape, line);
  return text;
}
