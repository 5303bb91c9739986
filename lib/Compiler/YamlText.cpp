//===- YamlText.cpp - YAML as JSON values ---------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "YamlText.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/SaveAndRestore.h>
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
      : text(text), name(name), stream(text, sources, /*ShowColors=*/false) {
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
  /// Whether white space means nothing in a node: {...} or [...].
  bool startsWithBrace(yaml::Node *node);
  /// Whether the line of a node is indented by spaces alone; a fault where it is not.
  bool checkIndentation(yaml::Node *node);

  std::nullopt_t fail(yaml::Node *node, const llvm::Twine &message) {
    stream.printError(node, message);
    return std::nullopt;
  }

  StringRef text, name;
  std::string error;
  bool isInBraces = false;
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

/// The place of what stands in braces is that of the brace, or of the first entry.
bool YamlReader::startsWithBrace(yaml::Node *node) {
  size_t start = node->getSourceRange().Start.getPointer() - text.begin();
  StringRef rest = text.drop_front(start), before = text.take_front(start).rtrim();
  return rest.starts_with("{") || rest.starts_with("[") || before.ends_with("{") ||
         before.ends_with("[");
}

/// The parser refuses tabs in most indentation and skips them before a block's first entry.
bool YamlReader::checkIndentation(yaml::Node *node) {
  if (isInBraces || startsWithBrace(node))
    return true;
  StringRef before = text.take_front(node->getSourceRange().Start.getPointer() - text.begin());
  // Nothing found is the end of no line, whose next character is the first.
  StringRef line = before.substr(before.rfind('\n') + 1);
  size_t tab = line.take_while([](char c) { return c == ' ' || c == '\t'; }).find('\t');
  if (tab == StringRef::npos)
    return true;
  llvm::SMLoc at = llvm::SMLoc::getFromPointer(line.begin() + tab);
  node->setSourceRange({at, at});
  fail(node, "Found invalid tab character in indentation");
  return false;
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
  // Literal text has white space of its own, and nothing has no line.
  if (llvm::isa<yaml::MappingNode, yaml::SequenceNode, yaml::ScalarNode>(node) &&
      !checkIndentation(node))
    return std::nullopt;
  if (auto *alias = llvm::dyn_cast<yaml::AliasNode>(node)) {
    // The node's own range is that of the token after it.
    llvm::SMLoc star = llvm::SMLoc::getFromPointer(alias->getName().begin() - 1);
    alias->setSourceRange({star, star});
    return fail(node, "aliases are not taken; write out what *" + alias->getName() + " stands for");
  }
  auto *map = llvm::dyn_cast<yaml::MappingNode>(node);
  auto *list = llvm::dyn_cast<yaml::SequenceNode>(node);
  if (map || list) {
    llvm::SaveAndRestore within(isInBraces, isInBraces || startsWithBrace(node));
    return map ? convertMap(*map, depth + 1) : convertList(*list, depth + 1);
  }
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
