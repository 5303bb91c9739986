//===- SpecParser.cpp - Reads specs from words and JSON -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecValues.h"
#include "attn/Compiler/InputFile.h"
#include "attn/Compiler/KernelSpec.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace attn;
using namespace attn::spec;
using llvm::StringRef;

static tl::unexpected<rt::Error> bad(const llvm::Twine &message) {
  return rt::fail(rt::ErrorCode::BadInput, message.str());
}

namespace {

/// Keys with their values, each at most once.
class Settings {
public:
  rt::Status add(StringRef key, StringRef value) {
    if (const std::string *before = find(key))
      return bad(key + "=" + value + ": '" + key + "' is given twice, before as '" + *before +
                 "'; keep one");
    entries.emplace_back(key.str(), value.str());
    return {};
  }

  const std::string *find(StringRef key) const {
    for (const auto &[name, value] : entries)
      if (name == key)
        return &value;
    return nullptr;
  }

  llvm::ArrayRef<std::pair<std::string, std::string>> all() const { return entries; }

private:
  std::vector<std::pair<std::string, std::string>> entries;
};

/// Fills the fields that are given.
struct FieldReader {
  const Settings &settings;
  rt::Status status;
  template <class T> void operator()(const SpecKey &key, T &field) {
    if (const std::string *value = settings.find(key.name); value && status)
      status = parseValue(key, *value, field);
  }
};

} // namespace

constexpr llvm::StringLiteral kWindow = "window";

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

llvm::Expected<llvm::json::Value> attn::parseJson(StringRef text) {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool inString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (inString && c == '\\')
      ++at;
    else if (c == '"')
      inString = !inString;
    else if (!inString)
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth > kMaxDepth)
      return llvm::createStringError("byte %zu nests deeper than %d levels", at, kMaxDepth);
  }
  return llvm::json::parse(text);
}

std::optional<std::string> attn::repeatedKey(StringRef text) {
  // The keys of each object that is open; those of a list stay empty.
  llvm::SmallVector<llvm::StringSet<>> keys;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '[')
      keys.emplace_back();
    else if (text[at] == '}' || text[at] == ']')
      keys.pop_back();
    if (text[at] != '"')
      continue;
    size_t begin = ++at;
    while (text[at] != '"')
      at += text[at] == '\\' ? 2 : 1;
    StringRef word = text.slice(begin, at);
    if (text.substr(at + 1).ltrim().starts_with(":") && !keys.back().insert(word).second)
      return word.str();
  }
  return std::nullopt;
}

std::optional<std::string> attn::spec::jsonWord(const llvm::json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return text->str();
  if (std::optional<bool> flag = value.getAsBoolean())
    return valueText(*flag);
  if (std::optional<int64_t> integer = value.getAsInteger())
    return valueText(*integer);
  if (std::optional<double> number = value.getAsNumber())
    return valueText(*number);
  const llvm::json::Array *array = value.getAsArray();
  if (!array)
    return std::nullopt;
  std::string joined;
  for (const llvm::json::Value &element : *array) {
    std::optional<std::string> word = element.getAsArray() ? std::nullopt : jsonWord(element);
    if (!word)
      return std::nullopt;
    joined += (joined.empty() ? "" : ",") + *word;
  }
  return joined;
}

static rt::Status addJson(Settings &settings, StringRef text, StringRef name) {
  llvm::Expected<llvm::json::Value> value = parseJson(text);
  if (!value)
    return bad(name + ": not JSON: " + llvm::toString(value.takeError()));
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return bad(name + ": expected one JSON object, like {\"head_dim\": 128, \"heads_q\": 32}");
  if (std::optional<std::string> key = repeatedKey(text))
    return bad(name + ": '" + *key + "' is given twice; keep one");
  for (const auto &[key, field] : *object) {
    std::optional<std::string> word = jsonWord(field);
    if (!word)
      return bad(name + ": '" + StringRef(key) + "': expected a number, string or boolean");
    if (rt::Status status = settings.add(key, *word); !status)
      return bad(name + ": " + status.error().message);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Settings to spec
//===----------------------------------------------------------------------===//

/// window=W is W keys up to the diagonal; window=LEFT,RIGHT gives both bounds.
static rt::Status readWindow(const Settings &settings, KernelSpec &spec) {
  const std::string *text = settings.find(kWindow);
  if (!text)
    return {};
  for (StringRef key : {"window_left", "window_right"})
    if (const std::string *bound = settings.find(key))
      return bad("window=" + *text + ": contradicts " + key + "=" + *bound + "; keep one");
  auto [left, right] = StringRef(*text).split(',');
  if (StringRef(*text).contains(',')) {
    SpecKey key{kWindow, "", -1, INT64_MAX};
    rt::Status status = parseValue(key, left, spec.windowLeft.emplace());
    if (status)
      status = parseValue(key, right, spec.windowRight.emplace());
    if (!status)
      return badValue(kWindow, *text, "LEFT,RIGHT, two integers of at least -1 (-1 is unlimited)");
    return {};
  }
  int64_t keys;
  if (rt::Status status = parseValue({kWindow, "", 1, INT64_MAX}, *text, keys); !status)
    return badValue(kWindow, *text,
                    "a number of keys of at least 1, the key on the diagonal included, or "
                    "LEFT,RIGHT");
  spec.windowLeft = keys - 1;
  spec.windowRight = 0;
  return {};
}

static rt::Status checkKeys(const Settings &settings, ShapeWords shapeWords) {
  llvm::SmallVector<StringRef> known{kWindow}, shapeKeys;
  KernelSpec spec;
  RunShape shape;
  visitSpec(spec, [&](const SpecKey &key, const auto &) { known.push_back(key.name); });
  visitShape(shape, [&](const SpecKey &key, const auto &) { shapeKeys.push_back(key.name); });
  if (shapeWords == ShapeWords::Allowed)
    known.append(shapeKeys);
  for (const auto &[key, value] : settings.all()) {
    if (llvm::is_contained(known, key))
      continue;
    if (llvm::is_contained(shapeKeys, key))
      return bad(key + "=" + value + ": '" + key +
                 "' is an argument of the kernel, not part of it; leave it out here (attnc run "
                 "takes it)");
    std::string hint = didYouMean(key, known);
    if (hint.empty())
      hint = "; known keys are " + llvm::join(known, ", ");
    return bad(key + "=" + value + ": unknown key '" + key + "'" + hint);
  }
  return {};
}

static rt::Expected<ParsedSpec> read(const Settings &settings, ShapeWords shapeWords) {
  ParsedSpec parsed;
  if (rt::Status status = checkKeys(settings, shapeWords); !status)
    return rt::fail(status.error());
  FieldReader reader{settings, {}};
  visitSpec(parsed.spec, reader);
  visitShape(parsed.shape, reader);
  if (reader.status)
    reader.status = readWindow(settings, parsed.spec);
  if (!reader.status)
    return rt::fail(reader.status.error());
  // Bounds alone say which mask is meant.
  if (!settings.find("mask") && (parsed.spec.windowLeft || parsed.spec.windowRight))
    parsed.spec.mask = MaskKind::Window;
  rt::Expected<KernelSpec> spec = canonicalize(parsed.spec);
  if (!spec)
    return rt::fail(spec.error());
  parsed.spec = *spec;
  return parsed;
}

rt::Expected<ParsedSpec> attn::parseSpec(llvm::ArrayRef<std::string> words, ShapeWords shapeWords) {
  if (words.empty())
    return bad("no problem given: expected key=value words or a .json file, for example "
               "dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 mask=causal");
  Settings settings;
  for (StringRef word : words) {
    rt::Status status;
    auto [key, value] = word.split('=');
    if (word.ends_with(".json") && !word.contains('=')) {
      InputFile buffer = readInputFile(word.str());
      if (!buffer)
        return rt::fail(buffer.error());
      status = addJson(settings, (*buffer)->getBuffer(), word);
    } else if (!word.contains('=') || key.empty()) {
      return bad("'" + word + "': expected key=value or a .json file");
    } else if (value.empty()) {
      return bad("'" + word + "': expected a value after '='");
    } else {
      status = settings.add(key, value);
    }
    if (!status)
      return rt::fail(status.error());
  }
  return read(settings, shapeWords);
}

rt::Expected<ParsedSpec> attn::parseSpecJson(StringRef text, StringRef name,
                                             ShapeWords shapeWords) {
  Settings settings;
  if (rt::Status status = addJson(settings, text, name); !status)
    return rt::fail(status.error());
  return read(settings, shapeWords);
}
