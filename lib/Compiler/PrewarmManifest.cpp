//===- PrewarmManifest.cpp - Expands manifests to kernels -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/PrewarmManifest.h"

#include "Models.h"
#include "PrewarmLayer.h"
#include "YamlText.h"
#include "attn/Compiler/LengthClass.h"

#include <llvm/ADT/StringExtras.h>

using namespace attn;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

static tl::unexpected<rt::Error> bad(const llvm::Twine &message) {
  return rt::fail(rt::ErrorCode::BadInput, message.str());
}

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
// Kernels
//===----------------------------------------------------------------------===//

/// More than any deployment has: a manifest that multiplies to more is a mistake.
constexpr size_t kMaxKernels = 100000;

static tl::unexpected<rt::Error> tooMany() {
  return bad("more than " + llvm::Twine(kMaxKernels) +
             " kernels; use shorter lists, or compile them in parts");
}

rt::Status PrewarmList::add(const KernelSpec &spec, const std::string &target) {
  const TargetInfo *info = findTarget(target);
  if (!info)
    return bad(unknownTargetMessage(target));
  KernelSpec dispatched = withLengthClass(spec, *info);
  if (!seen.insert(target + " " + toText(dispatched)).second)
    return {};
  if (list.size() >= kMaxKernels)
    return tooMany();
  list.push_back({std::move(dispatched), target});
  return {};
}

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

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

namespace {

/// Reads one manifest and those of its models.
class ManifestReader {
public:
  ManifestReader(const PrewarmOverrides &overrides, PrewarmList &list)
      : features(overrides.features), targets(overrides.targets), list(list) {}

  rt::Status read(const Value &manifest, StringRef name);

private:
  rt::Status readTargets(const Object &object, StringRef name);
  rt::Status readFeatures(const Object &object, StringRef name);
  /// The layers of a model's text; `given` wins over what they say.
  rt::Status readModel(StringRef text, const std::string &name, const SpecAxes &given);
  rt::Status readModelItem(const Value &item, const std::string &where);
  rt::Status readSpecs(const Object &object, const std::string &name, const SpecAxes &given,
                       bool givenWins);
  /// Adds the kernels that calls of any length ask for, for each target.
  rt::Status add(const KernelSpec &spec);

  SpecAxes features;
  std::vector<std::string> targets;
  PrewarmList &list;
  size_t numSpecs = 0;
};

} // namespace

static rt::Expected<const Object *> checkObject(const Value &value, StringRef name,
                                                llvm::ArrayRef<StringRef> known) {
  const Object *object = value.getAsObject();
  if (!object)
    return bad(name + ": expected one object with " + llvm::join(known, ", "));
  for (const auto &[key, field] : *object)
    if (!llvm::is_contained(known, StringRef(key)))
      return bad(name + ": unknown key '" + StringRef(key) + "': expected " +
                 llvm::join(known, ", ") + didYouMean(key, known));
  return object;
}

static rt::Expected<Value> parseText(StringRef text, StringRef name) {
  if (name.ends_with(".yaml") || name.ends_with(".yml"))
    return parseYaml(text, name);
  llvm::Expected<Value> value = parseJson(text);
  if (!value)
    return bad(name + ": not JSON: " + llvm::toString(value.takeError()));
  if (std::optional<std::string> key = repeatedKey(text))
    return bad(name + ": '" + *key + "' is given twice in one object; keep one");
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

rt::Status ManifestReader::add(const KernelSpec &spec) {
  // Those that are there already are counted too, so that no manifest takes for ever.
  if (++numSpecs > kMaxKernels)
    return tooMany();
  for (const std::string &target : targets)
    for (const KernelSpec &variant : lengthVariants(spec, *findTarget(target)))
      if (rt::Status status = list.add(variant, target); !status)
        return status;
  return {};
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
      if (rt::Status status = add(*spec); !status)
        return rt::fail(within(where, status.error()));
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
    auto take = [&](const KernelSpec &spec) { return add(spec); };
    if (rt::Status status = expandLayer(*axes, take); !status)
      return rt::fail(within(where, status.error()));
  }
  return {};
}

rt::Status ManifestReader::readModel(StringRef text, const std::string &name,
                                     const SpecAxes &given) {
  rt::Expected<Value> value = parseText(text, name);
  if (!value)
    return rt::fail(value.error());
  rt::Expected<const Object *> object = checkObject(*value, name, {"description", "specs"});
  if (!object)
    return rt::fail(object.error());
  return readSpecs(**object, name, given, /*givenWins=*/true);
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

rt::Status ManifestReader::readTargets(const Object &object, StringRef name) {
  if (const Value *listed = object.get("targets"); listed && targets.empty()) {
    rt::Expected<std::vector<std::string>> names = readValues(name + ": 'targets'", *listed);
    if (!names)
      return rt::fail(names.error());
    targets = std::move(*names);
  }
  if (targets.empty())
    return bad(name + ": names no target; add \"targets\": [\"sm_90a\"], or --target sm_90a");
  for (const std::string &target : targets)
    if (!findTarget(target))
      return bad(name + ": " + unknownTargetMessage(target));
  // Each once: a list with many repetitions would be gone through for each spec.
  llvm::sort(targets);
  targets.erase(llvm::unique(targets), targets.end());
  return {};
}

rt::Status ManifestReader::readFeatures(const Object &object, StringRef name) {
  const Value *listed = object.get("features");
  if (!listed)
    return {};
  const Object *fields = listed->getAsObject();
  if (!fields)
    return bad(name + ": 'features': expected an object, like {\"dtype\": [\"bf16\"]}");
  rt::Expected<SpecAxes> axes = readAxes((name + ": features").str(), *fields);
  if (!axes)
    return rt::fail(axes.error());
  features.insert(axes->begin(), axes->end());
  return {};
}

rt::Status ManifestReader::read(const Value &manifest, StringRef name) {
  rt::Expected<const Object *> object =
      checkObject(manifest, name, {"description", "targets", "features", "models", "specs"});
  if (!object)
    return rt::fail(object.error());
  rt::Status status = readTargets(**object, name);
  if (status)
    status = readFeatures(**object, name);
  if (!status)
    return status;
  rt::Expected<const Array *> models = listOf(**object, "models", name);
  if (!models)
    return rt::fail(models.error());
  for (size_t i = 0; i < (*models)->size() && status; ++i)
    status = readModelItem((**models)[i], (name + ": models[" + llvm::Twine(i) + "]").str());
  if (status)
    status = readSpecs(**object, name.str(), features, /*givenWins=*/false);
  if (status && numSpecs == 0)
    return bad(name + ": names no kernel; add models or specs");
  return status;
}

rt::Status attn::addManifest(const Object &manifest, StringRef name,
                             const PrewarmOverrides &overrides, PrewarmList &list) {
  return ManifestReader(overrides, list).read(Object(manifest), name);
}

rt::Status attn::addManifest(StringRef text, StringRef name, const PrewarmOverrides &overrides,
                             PrewarmList &list) {
  rt::Expected<Value> manifest = parseText(text, name);
  if (!manifest)
    return rt::fail(manifest.error());
  return ManifestReader(overrides, list).read(*manifest, name);
}

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

rt::Status attn::addRecording(StringRef text, StringRef name, const PrewarmOverrides &overrides,
                              const std::function<void(const std::string &)> &warn,
                              PrewarmList &list) {
  bool hasKernels = false;
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
    std::vector<std::string> targets = overrides.targets;
    if (targets.empty())
      targets.push_back(target->str());
    for (const std::string &each : targets)
      if (rt::Status status = list.add(*parsed, each); !status)
        return rt::fail(within(where, status.error()));
    hasKernels = true;
  }
  if (!hasKernels)
    return bad(name + ": names no kernel; record some with --record FILE");
  return {};
}
