//===- PrewarmLayer.cpp - Kernels of a layer of a manifest ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrewarmLayer.h"

#include "SpecValues.h"

using namespace attn;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

static tl::unexpected<rt::Error> bad(const llvm::Twine &message) {
  return rt::fail(rt::ErrorCode::BadInput, message.str());
}

/// Splits the heads of a layer among devices.
constexpr llvm::StringLiteral kTensorParallel = "tensor_parallel";

rt::Expected<std::vector<std::string>> attn::readValues(const llvm::Twine &where,
                                                        const Value &value) {
  std::vector<std::string> values;
  auto add = [&](const Value &item) {
    std::optional<std::string> word = item.getAsArray() ? std::nullopt : spec::jsonWord(item);
    values.push_back(word.value_or(""));
    return word.has_value();
  };
  bool isGood = true;
  if (const Array *list = value.getAsArray()) {
    for (const Value &item : *list)
      isGood &= add(item);
    isGood &= !list->empty();
  } else {
    isGood = add(value);
  }
  if (!isGood)
    return bad(where + ": expected a number, string or boolean, or a list of them");
  return values;
}

rt::Expected<SpecAxes> attn::readAxes(const std::string &where, const Object &object) {
  SpecAxes axes;
  for (const auto &[key, value] : object) {
    rt::Expected<std::vector<std::string>> values =
        readValues(where + ": '" + StringRef(key) + "'", value);
    if (!values)
      return rt::fail(values.error());
    axes.emplace(StringRef(key).str(), std::move(*values));
  }
  return axes;
}

/// Heads of each of `devices` devices: query heads are split, key heads are split or repeated.
static rt::Status splitHeads(KernelSpec &spec, int64_t devices) {
  int64_t &queries = *spec.headsQ, &keys = *spec.headsKV;
  bool splits = keys % devices == 0;
  if (devices < 1 || queries % devices != 0 || (!splits && devices % keys != 0))
    return bad("tensor_parallel=" + std::to_string(devices) +
               ": expected a divisor of heads_q=" + std::to_string(queries) +
               ", and a divisor or a multiple of heads_kv=" + std::to_string(keys));
  queries /= devices;
  keys = splits ? keys / devices : 1;
  return {};
}

namespace {

using TakeFn = llvm::function_ref<rt::Status(const KernelSpec &)>;

/// Multiplies the axes of a layer.
class LayerExpander {
public:
  LayerExpander(const SpecAxes &layer, TakeFn take) : axes(layer), take(take) {
    // What dispatch derives from the tensors of a call.
    axes.emplace("phase", std::vector<std::string>{"prefill", "decode"});
    axes.emplace("lse", std::vector<std::string>{"true", "false"});
    derivesAlignment =
        axes.emplace("alignment", std::vector<std::string>{"16", "8", "4", "2"}).second;
  }

  rt::Status run() { return expand(axes.begin()); }

private:
  rt::Status expand(SpecAxes::const_iterator axis) {
    if (axis == axes.end())
      return emit();
    for (const std::string &value : axis->second) {
      chosen.emplace_back(axis->first, value);
      rt::Status status = expand(std::next(axis));
      chosen.pop_back();
      if (!status)
        return status;
    }
    return {};
  }

  rt::Status emit() {
    std::vector<std::string> words;
    std::string devices, alignment;
    for (const auto &[key, value] : chosen) {
      if (key == kTensorParallel)
        devices = value;
      else if (key == "alignment" && derivesAlignment)
        alignment = value;
      else
        words.push_back(key + "=" + value);
    }
    rt::Expected<ParsedSpec> parsed = parseSpec(words, ShapeWords::Refused);
    if (!parsed)
      return rt::fail(parsed.error());
    KernelSpec spec = parsed->spec;
    if (!alignment.empty()) {
      spec.alignment = std::stoll(alignment);
      if (spec.alignment < rt::byteSize(spec.dtype))
        return {};
    }
    if (!devices.empty()) {
      int64_t count = 0;
      rt::Status status = spec::parseValue({kTensorParallel, "", 1, 65536}, devices, count);
      if (status)
        status = splitHeads(spec, count);
      if (!status)
        return status;
    }
    return take(spec);
  }

  SpecAxes axes;
  TakeFn take;
  bool derivesAlignment;
  std::vector<std::pair<std::string, std::string>> chosen;
};

} // namespace

rt::Status attn::expandLayer(const SpecAxes &layer, TakeFn take) {
  return LayerExpander(layer, take).run();
}
