//===- SpecValues.cpp - Spelling of a spec's values -----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecValues.h"

#include <charconv>
#include <cmath>

using namespace attn;
using namespace attn::spec;
using llvm::StringRef;

namespace attn::spec {

template <> Spellings<Phase> spellings() {
  return {{"prefill", Phase::Prefill}, {"decode", Phase::Decode}};
}

template <> Spellings<MaskKind> spellings() {
  return {{"none", MaskKind::None},
          {"causal", MaskKind::Causal},
          {"causal_top_left", MaskKind::CausalTopLeft},
          {"window", MaskKind::Window},
          {"window_top_left", MaskKind::WindowTopLeft}};
}

template <> Spellings<KVKind> spellings() { return {{"dense", KVKind::Dense}}; }

template <> Spellings<rt::ElementType> spellings() {
  using rt::ElementType;
  return {{"f32", ElementType::F32},     {"bf16", ElementType::BF16},
          {"f16", ElementType::F16},     {"fp32", ElementType::F32},
          {"fp16", ElementType::F16},    {"float32", ElementType::F32},
          {"float16", ElementType::F16}, {"bfloat16", ElementType::BF16}};
}

/// The cases of an enum of the dialect, as TableGen numbers them: 0 to `last`.
template <class E, class Symbolize, class Stringify>
static Spellings<E> dialectEnum(unsigned last, Symbolize symbolize, Stringify stringify) {
  Spellings<E> result;
  for (unsigned value = 0; value <= last; ++value)
    if (std::optional<E> e = symbolize(value))
      result.push_back({stringify(*e), *e});
  return result;
}

#define ATTN_DIALECT_ENUM(E)                                                                       \
  template <> Spellings<E> spellings() {                                                           \
    return dialectEnum<E>(                                                                         \
        getMaxEnumValFor##E(), [](unsigned value) { return symbolize##E(value); }, stringify##E);  \
  }
ATTN_DIALECT_ENUM(Algorithm)
ATTN_DIALECT_ENUM(WarpSplit)
ATTN_DIALECT_ENUM(Instruction)
ATTN_DIALECT_ENUM(TileOrder)
ATTN_DIALECT_ENUM(KVOrder)
ATTN_DIALECT_ENUM(Persistence)
ATTN_DIALECT_ENUM(Producer)
#undef ATTN_DIALECT_ENUM

tl::unexpected<rt::Error> badValue(StringRef key, StringRef text, const llvm::Twine &expected) {
  return rt::fail(rt::ErrorCode::BadInput, (key + "=" + text + ": expected " + expected).str());
}

rt::Status parseValue(const SpecKey &key, StringRef text, int64_t &value) {
  std::string kind =
      key.multiple == 1 ? "an integer" : llvm::formatv("a multiple of {0}", key.multiple).str();
  std::string range = key.max == INT64_MAX
                          ? llvm::formatv("{0} of at least {1}", kind, key.min).str()
                          : llvm::formatv("{0} in [{1}, {2}]", kind, key.min, key.max).str();
  int64_t parsed;
  if (text.getAsInteger(10, parsed) || parsed < key.min || parsed > key.max)
    return badValue(key.name, text, range);
  value = parsed;
  return {};
}

rt::Status parseValue(const SpecKey &key, StringRef text, double &value) {
  double parsed;
  auto [end, error] = std::from_chars(text.begin(), text.end(), parsed);
  if (error != std::errc() || end != text.end() || !std::isfinite(parsed))
    return badValue(key.name, text, "a finite number");
  value = parsed;
  return {};
}

rt::Status parseValue(const SpecKey &key, StringRef text, bool &value) {
  if (text != "true" && text != "false")
    return badValue(key.name, text, "true or false");
  value = text == "true";
  return {};
}

std::string valueText(int64_t value) { return std::to_string(value); }
std::string valueText(bool value) { return value ? "true" : "false"; }

/// The shortest text that reads back as the same number.
std::string valueText(double value) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, end};
}

} // namespace attn::spec

std::string attn::didYouMean(StringRef word, llvm::ArrayRef<StringRef> candidates) {
  // A word that shares less than two thirds of its letters was not meant.
  unsigned best = static_cast<unsigned>(word.size() / 3 + 1) + 1;
  StringRef nearest;
  for (StringRef candidate : candidates) {
    unsigned distance = word.edit_distance(candidate, /*AllowReplacements=*/true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : ("; did you mean '" + nearest + "'?").str();
}
