//===- YamlText.h - YAML as JSON values -------------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_YAMLTEXT_H
#define ATTN_LIB_COMPILER_YAMLTEXT_H

#include "attn/Runtime/Error.h"

#include <llvm/Support/JSON.h>

namespace attn {

/// One YAML document as the JSON value that says the same. Plain scalars are null, booleans and
/// numbers as JSON spells them, else strings. BadInput, as "NAME:LINE:COLUMN: not YAML: ...", for
/// what YAML does not allow, and for what JSON cannot say: keys that repeat or are no scalars, tags
/// and aliases.
rt::Expected<llvm::json::Value> parseYaml(llvm::StringRef text, llvm::StringRef name);

} // namespace attn

#endif // ATTN_LIB_COMPILER_YAMLTEXT_H
