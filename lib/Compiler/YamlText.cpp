//===- YamlText.cpp - YAML as JSON values ---------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "YamlText.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/YAMLParser.h>

#include <cmath>

using namespace attn;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
namespace yaml = llvm::yaml;

namespace {

/// Reads a document; the first fault stays.
class YamlReader {
public:
  YamlReader(StringRef text, StringRef name)
      : name(name), stream(text, sources, /*ShowColors=*/false) {
    sources.setDiagHandler(
        [](const llvm::SMDiagnostic &diagnostic, void *self) {
          static_cast<YamlReader *>(self)->diagnose(diagnostic);
        },
        this);
  }

  rt::Expected<Value> read();

private:
  void diagnose(const llvm::SMDiagnostic &diagnostic);
  /// Each is nothing once there was a fault.
  std::optional<Value> convert(yaml::Node *node, unsigned depth);
  std::optional<Value> convertMap(yaml::MappingNode &map, unsigned depth);
  std::optional<Value> convertList(yaml::SequenceNode &list, unsigned depth);
  std::optional<std::string> keyOf(yaml::KeyValueNode &entry);

  std::nullopt_t fail(yaml::Node *node, const llvm::Twine &message) {
    stream.printError(node, message);
    return std::nullopt;
  }

  StringRef name;
  std::string error;
  llvm::SourceMgr sources;
  yaml::Stream stream;
};

} // namespace

void YamlReader::diagnose(const llvm::SMDiagnostic &diagnostic) {
  if (diagnostic.getKind() == llvm::SourceMgr::DK_Error && error.empty())
    error = llvm::formatv("{0}:{1}:{2}: not YAML: {3}", name, diagnostic.getLineNo(),
                          diagnostic.getColumnNo() + 1, diagnostic.getMessage());
}

/// The value of a scalar that has no quotes.
static Value plainValue(StringRef text) {
  if (text.empty() || text == "~" || text == "null")
    return nullptr;
  if (text == "true" || text == "false")
    return text == "true";
  int64_t integer;
  if (!text.getAsInteger(10, integer))
    return integer;
  double number;
  if (llvm::isDigit(text.back()) && !text.getAsDouble(number) && std::isfinite(number))
    return number;
  return text.str();
}

std::optional<std::string> YamlReader::keyOf(yaml::KeyValueNode &entry) {
  yaml::Node *key = entry.getKey();
  auto *scalar = llvm::dyn_cast_or_null<yaml::ScalarNode>(key);
  if (!scalar) {
    if (key)
      fail(key, "expected a key that is a word");
    return std::nullopt;
  }
  llvm::SmallString<32> storage;
  return scalar->getValue(storage).str();
}

std::optional<Value> YamlReader::convertMap(yaml::MappingNode &map, unsigned depth) {
  Object object;
  for (yaml::KeyValueNode &entry : map) {
    std::optional<std::string> key = keyOf(entry);
    if (!key)
      return std::nullopt;
    if (object.get(*key))
      return fail(entry.getKey(), "'" + *key + "' is given twice in one object; keep one");
    std::optional<Value> value = convert(entry.getValue(), depth);
    if (!value)
      return std::nullopt;
    object[*key] = std::move(*value);
  }
  return object;
}

std::optional<Value> YamlReader::convertList(yaml::SequenceNode &list, unsigned depth) {
  Array array;
  for (yaml::Node &item : list) {
    std::optional<Value> value = convert(&item, depth);
    if (!value)
      return std::nullopt;
    array.push_back(std::move(*value));
  }
  return array;
}

std::optional<Value> YamlReader::convert(yaml::Node *node, unsigned depth) {
  // Text may nest as deep as its author likes, and each level is a call.
  constexpr unsigned kMaxDepth = 64;
  if (!node || stream.failed())
    return std::nullopt;
  if (depth >= kMaxDepth)
    return fail(node, "nests deeper than " + llvm::Twine(kMaxDepth) + " levels");
  if (!node->getRawTag().empty())
    return fail(node, "tags such as " + node->getRawTag() + " are not taken; leave it out");
  if (auto *alias = llvm::dyn_cast<yaml::AliasNode>(node)) {
    // The node's own range is that of the token after it.
    llvm::SMLoc star = llvm::SMLoc::getFromPointer(alias->getName().begin() - 1);
    alias->setSourceRange({star, star});
    return fail(node, "aliases are not taken; write out what *" + alias->getName() + " stands for");
  }
  if (auto *map = llvm::dyn_cast<yaml::MappingNode>(node))
    return convertMap(*map, depth + 1);
  if (auto *list = llvm::dyn_cast<yaml::SequenceNode>(node))
    return convertList(*list, depth + 1);
  if (auto *block = llvm::dyn_cast<yaml::BlockScalarNode>(node))
    return Value(block->getValue().str());
  if (auto *scalar = llvm::dyn_cast<yaml::ScalarNode>(node)) {
    llvm::SmallString<32> storage;
    StringRef raw = scalar->getRawValue(), text = scalar->getValue(storage);
    bool isQuoted = raw.starts_with("'") || raw.starts_with("\"");
    return isQuoted ? Value(text.str()) : plainValue(text);
  }
  return Value(nullptr);
}

rt::Expected<Value> YamlReader::read() {
  std::optional<Value> value;
  yaml::document_iterator document = stream.begin();
  if (document != stream.end())
    value = convert(document->getRoot(), 0);
  if (value && !stream.failed() && ++document != stream.end() && !stream.failed())
    fail(document->getRoot(), "expected one document, got another");
  if (!error.empty() || !value || stream.failed())
    return rt::fail(rt::ErrorCode::BadInput,
                    error.empty() ? (name + ": not YAML").str() : std::move(error));
  return std::move(*value);
}

rt::Expected<Value> attn::parseYaml(StringRef text, StringRef name) {
  size_t fault = 0;
  if (!llvm::json::isUTF8(text, &fault))
    return rt::fail(rt::ErrorCode::BadInput,
                    (name + ": not YAML: byte " + llvm::Twine(fault) + " is no UTF-8").str());
  return YamlReader(text, name).read();
}
