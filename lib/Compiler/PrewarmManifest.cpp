//===- PrewarmManifest.cpp - Expands manifests to kernels -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/PrewarmManifest.h"

#include "Models.h"
#include "SpecValues.h"
#include "attn/Compiler/LengthClass.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSet.h>

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

/// More kernels than any deployment has: a manifest that multiplies to more is a mistake.
constexpr size_t kMaxKernels = 100000;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

std::vector<std::string> attn::modelNames() {
  std::vector<std::string> names;
  for (const Model &model : models())
    names.push_back(model.name.str());
  return names;
}

rt::Expected<StringRef> attn::findModel(StringRef name) {
  llvm::SmallVector<StringRef> names;
  for (const Model &model : models()) {
    if (model.name == name)
      return model.text;
    names.push_back(model.name);
  }
  return bad("unknown model '" + name + "'" + didYouMean(name, names) +
             "; attnc prewarm --models lists them");
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// One kernel from its words.
static rt::Expected<KernelSpec> readWords(StringRef text) {
  llvm::SmallVector<StringRef> pieces;
  llvm::SplitString(text, pieces);
  std::vector<std::string> words;
  for (StringRef piece : pieces) {
    if (!piece.contains('='))
      return bad("'" + piece + "': expected key=value");
    words.push_back(piece.str());
  }
  rt::Expected<ParsedSpec> parsed = parseSpec(words, ShapeWords::Refused);
  if (!parsed)
    return rt::fail(parsed.error());
  return parsed->spec;
}

/// The alternatives of one key: a value or a list of values.
static rt::Expected<std::vector<std::string>> readValues(const llvm::Twine &where,
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

static rt::Expected<SpecAxes> readAxes(const std::string &where, const Object &object) {
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

/// Multiplies the axes of a layer.
class LayerExpander {
public:
  LayerExpander(const SpecAxes &layer, std::vector<KernelSpec> &specs) : axes(layer), specs(specs) {
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
    if (specs.size() >= kMaxKernels)
      return bad("more than " + std::to_string(kMaxKernels) + " kernels; use shorter lists");
    specs.push_back(spec);
    return {};
  }

  SpecAxes axes;
  std::vector<KernelSpec> &specs;
  bool derivesAlignment;
  std::vector<std::pair<std::string, std::string>> chosen;
};

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

/// Reads one manifest and those of its models.
class ManifestReader {
public:
  ManifestReader(const PrewarmOverrides &overrides) : features(overrides.features) {
    targets = overrides.targets;
    hasTargets = !targets.empty();
  }

  rt::Status read(StringRef text, StringRef name);
  rt::Expected<std::vector<PrewarmKernel>> finish(StringRef name) const;

private:
  /// The layers of a model's text; `given` wins over what they say.
  rt::Status readModel(StringRef text, const std::string &name, const SpecAxes &given);
  rt::Status readModelItem(const Value &item, const std::string &where);
  rt::Status readSpecs(const Object &object, const std::string &name, const SpecAxes &given,
                       bool givenWins);

  SpecAxes features;
  std::vector<std::string> targets;
  bool hasTargets;
  std::vector<KernelSpec> specs;
};

} // namespace

static rt::Expected<Value> parseObject(StringRef text, StringRef name,
                                       llvm::ArrayRef<StringRef> known) {
  llvm::Expected<Value> value = parseJson(text);
  if (!value)
    return bad(name + ": not JSON: " + llvm::toString(value.takeError()));
  const Object *object = value->getAsObject();
  if (!object)
    return bad(name + ": expected one JSON object with " + llvm::join(known, ", "));
  for (const auto &[key, field] : *object)
    if (!llvm::is_contained(known, StringRef(key)))
      return bad(name + ": unknown key '" + StringRef(key) + "': expected " +
                 llvm::join(known, ", ") + didYouMean(key, known));
  return std::move(*value);
}

/// A list, or an empty one where the key is absent.
static rt::Expected<const Array *> listOf(const Object &object, StringRef key, StringRef name) {
  static const Array none;
  const Value *value = object.get(key);
  if (!value)
    return &none;
  if (const Array *list = value->getAsArray())
    return list;
  return bad(name + ": '" + key + "': expected a list");
}

static rt::Error within(const std::string &where, const rt::Error &error) {
  return {error.code, where + ": " + error.message};
}

rt::Status ManifestReader::readSpecs(const Object &object, const std::string &name,
                                     const SpecAxes &given, bool givenWins) {
  rt::Expected<const Array *> items = listOf(object, "specs", name);
  if (!items)
    return rt::fail(items.error());
  for (size_t i = 0; i < (*items)->size(); ++i) {
    const Value &item = (**items)[i];
    std::string where = name + ": specs[" + std::to_string(i) + "]";
    if (std::optional<StringRef> text = item.getAsString()) {
      rt::Expected<KernelSpec> spec = readWords(*text);
      if (!spec)
        return rt::fail(within(where, spec.error()));
      specs.push_back(*spec);
      continue;
    }
    const Object *layer = item.getAsObject();
    if (!layer)
      return bad(where + ": expected an object or a string of key=value words");
    rt::Expected<SpecAxes> axes = readAxes(where, *layer);
    if (!axes)
      return rt::fail(axes.error());
    for (const auto &[key, values] : given)
      if (givenWins)
        axes->insert_or_assign(key, values);
      else
        axes->emplace(key, values);
    if (rt::Status status = LayerExpander(*axes, specs).run(); !status)
      return rt::fail(within(where, status.error()));
  }
  return {};
}

rt::Status ManifestReader::readModel(StringRef text, const std::string &name,
                                     const SpecAxes &given) {
  rt::Expected<Value> value = parseObject(text, name, {"description", "specs"});
  if (!value)
    return rt::fail(value.error());
  return readSpecs(*value->getAsObject(), name, given, /*givenWins=*/true);
}

rt::Status ManifestReader::readModelItem(const Value &item, const std::string &where) {
  SpecAxes given = features;
  std::optional<StringRef> model = item.getAsString();
  if (const Object *object = item.getAsObject()) {
    model = object->getString("model");
    Object rest = *object;
    rest.erase("model");
    rt::Expected<SpecAxes> own = readAxes(where, rest);
    if (!own)
      return rt::fail(own.error());
    for (auto &[key, values] : *own)
      given.insert_or_assign(key, std::move(values));
  }
  if (!model)
    return bad(where + ": expected a model's name, or an object with \"model\"");
  rt::Expected<StringRef> text = findModel(*model);
  if (!text)
    return rt::fail(within(where, text.error()));
  return readModel(*text, "model " + model->str(), given);
}

rt::Status ManifestReader::read(StringRef text, StringRef name) {
  rt::Expected<Value> value =
      parseObject(text, name, {"description", "targets", "features", "models", "specs"});
  if (!value)
    return rt::fail(value.error());
  const Object &object = *value->getAsObject();
  if (const Value *listed = object.get("targets"); listed && !hasTargets) {
    rt::Expected<std::vector<std::string>> names = readValues(name + ": 'targets'", *listed);
    if (!names)
      return rt::fail(names.error());
    targets = std::move(*names);
  }
  if (const Value *listed = object.get("features")) {
    const Object *fields = listed->getAsObject();
    if (!fields)
      return bad(name + ": 'features': expected an object, like {\"dtype\": [\"bf16\"]}");
    rt::Expected<SpecAxes> axes = readAxes((name + ": features").str(), *fields);
    if (!axes)
      return rt::fail(axes.error());
    features.insert(axes->begin(), axes->end());
  }
  rt::Expected<const Array *> models = listOf(object, "models", name);
  if (!models)
    return rt::fail(models.error());
  for (size_t i = 0; i < (*models)->size(); ++i)
    if (rt::Status status =
            readModelItem((**models)[i], (name + ": models[" + llvm::Twine(i) + "]").str());
        !status)
      return status;
  return readSpecs(object, name.str(), features, /*givenWins=*/false);
}

/// Each kernel once, in the order of the manifest. `variants` gives those of a spec on a target.
static rt::Expected<std::vector<PrewarmKernel>> unique(
    const std::vector<PrewarmKernel> &kernels, StringRef name,
    llvm::function_ref<std::vector<KernelSpec>(const KernelSpec &, const TargetInfo &)> variants) {
  if (kernels.empty())
    return bad(name + ": names no kernel; add models or specs");
  llvm::StringSet<> seen;
  std::vector<PrewarmKernel> result;
  for (const PrewarmKernel &kernel : kernels) {
    const TargetInfo *target = findTarget(kernel.target);
    if (!target)
      return bad(name + ": " + unknownTargetMessage(kernel.target));
    for (KernelSpec &spec : variants(kernel.spec, *target))
      if (seen.insert(kernel.target + " " + toText(spec)).second)
        result.push_back({std::move(spec), kernel.target});
  }
  return result;
}

rt::Expected<std::vector<PrewarmKernel>> ManifestReader::finish(StringRef name) const {
  if (targets.empty())
    return bad(name + ": names no target; add \"targets\": [\"sm_90a\"], or --target sm_90a");
  std::vector<PrewarmKernel> kernels;
  for (const std::string &target : targets)
    for (const KernelSpec &spec : specs)
      kernels.push_back({spec, target});
  return unique(kernels, name, lengthVariants);
}

rt::Expected<std::vector<PrewarmKernel>> attn::expandManifest(StringRef text, StringRef name,
                                                              const PrewarmOverrides &overrides) {
  ManifestReader reader(overrides);
  if (rt::Status status = reader.read(text, name); !status)
    return rt::fail(status.error());
  return reader.finish(name);
}

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

rt::Expected<std::vector<PrewarmKernel>>
attn::expandRecording(StringRef text, StringRef name, const PrewarmOverrides &overrides,
                      const std::function<void(const std::string &)> &warn) {
  std::vector<PrewarmKernel> kernels;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    if (line.trim().empty())
      continue;
    std::string where = (name + ":" + llvm::Twine(number + 1)).str();
    llvm::Expected<Value> value = parseJson(line);
    if (!value) {
      llvm::consumeError(value.takeError());
      warn(where + ": skipping a line that was not finished");
      continue;
    }
    const Object *object = value->getAsObject();
    std::optional<StringRef> spec = object ? object->getString("spec") : std::nullopt;
    std::optional<StringRef> target = object ? object->getString("target") : std::nullopt;
    if (!spec || !target)
      return bad(where + ": expected {\"spec\": \"key=value ...\", \"target\": \"sm_90a\"}");
    rt::Expected<KernelSpec> parsed = readWords(*spec);
    if (!parsed)
      return rt::fail(within(where, parsed.error()));
    if (overrides.targets.empty())
      kernels.push_back({*parsed, target->str()});
    for (const std::string &other : overrides.targets)
      kernels.push_back({*parsed, other});
  }
  // What was asked for has the lengths of those calls.
  return unique(kernels, name, [](const KernelSpec &spec, const TargetInfo &target) {
    return std::vector<KernelSpec>{withLengthClass(spec, target)};
  });
}
