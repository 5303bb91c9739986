//===- PrewarmLayer.h - Kernels of a layer of a manifest --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_PREWARMLAYER_H
#define ATTN_LIB_COMPILER_PREWARMLAYER_H

#include "attn/Compiler/PrewarmManifest.h"

namespace attn {

/// The alternatives of one key: a value or a list of values. `where` is what messages call it.
rt::Expected<std::vector<std::string>> readValues(const llvm::Twine &where,
                                                  const llvm::json::Value &value);

/// Those of each key of an object.
rt::Expected<SpecAxes> readAxes(const std::string &where, const llvm::json::Object &object);

/// Multiplies the axes of a layer. Those that dispatch derives from the tensors of a call and that
/// the layer leaves out are all of what they may be.
/// `take` gets each kernel, and ends the expansion with what it fails with.
rt::Status expandLayer(const SpecAxes &layer,
                       llvm::function_ref<rt::Status(const KernelSpec &)> take);

} // namespace attn

#endif // ATTN_LIB_COMPILER_PREWARMLAYER_H
