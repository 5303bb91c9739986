//===- SpecValues.h - Spelling of a spec's values ---------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_SPECVALUES_H
#define ATTN_LIB_COMPILER_SPECVALUES_H

#include "attn/Compiler/KernelSpec.h"

#include <llvm/ADT/SmallVector.h>
#include <type_traits>
#include <utility>

namespace attn::spec {

/// Each value of an enum with its spelling; the first spelling of a value is the
/// canonical one.
template <class E> using Spellings = llvm::SmallVector<std::pair<llvm::StringRef, E>>;
template <class E> Spellings<E> spellings();

template <> Spellings<Phase> spellings();
template <> Spellings<MaskKind> spellings();
template <> Spellings<KVKind> spellings();
template <> Spellings<rt::ElementType> spellings();
template <> Spellings<Algorithm> spellings();
template <> Spellings<WarpSplit> spellings();
template <> Spellings<Instruction> spellings();
template <> Spellings<TileOrder> spellings();
template <> Spellings<KVOrder> spellings();
template <> Spellings<Persistence> spellings();
template <> Spellings<Producer> spellings();

/// `text` as the value of `key`; BadInput says what was expected.
rt::Status parseValue(const SpecKey &key, llvm::StringRef text, int64_t &value);
rt::Status parseValue(const SpecKey &key, llvm::StringRef text, double &value);
rt::Status parseValue(const SpecKey &key, llvm::StringRef text, bool &value);

/// A JSON value as it would stand in a word; nothing for objects, null and nested lists.
std::optional<std::string> jsonWord(const llvm::json::Value &value);

/// "key=text: expected ..., got 'text'".
tl::unexpected<rt::Error> badValue(llvm::StringRef key, llvm::StringRef text,
                                   const llvm::Twine &expected);

template <class E>
  requires std::is_enum_v<E>
rt::Status parseValue(const SpecKey &key, llvm::StringRef text, E &value) {
  llvm::SmallVector<llvm::StringRef> names;
  for (auto [name, candidate] : spellings<E>()) {
    if (name == text) {
      value = candidate;
      return {};
    }
    names.push_back(name);
  }
  return badValue(key.name, text, "one of " + llvm::join(names, ", ") + didYouMean(text, names));
}

template <class T>
rt::Status parseValue(const SpecKey &key, llvm::StringRef text, std::optional<T> &value) {
  return parseValue(key, text, value.emplace());
}

std::string valueText(int64_t value);
std::string valueText(double value);
std::string valueText(bool value);
template <class E>
  requires std::is_enum_v<E>
std::string valueText(E value) {
  for (auto [name, candidate] : spellings<E>())
    if (candidate == value)
      return name.str();
  return {};
}

} // namespace attn::spec

#endif // ATTN_LIB_COMPILER_SPECVALUES_H
