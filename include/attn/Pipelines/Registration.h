//===- Registration.h - Dialects and passes by name -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_REGISTRATION_H
#define ATTN_PIPELINES_REGISTRATION_H

#include <mlir/IR/DialectRegistry.h>
#include <string>

namespace attn {

/// Every dialect that IR of some stage may hold.
void registerDialects(mlir::DialectRegistry &registry);

/// The passes of attn, and the general ones that a hand-made pipeline wants beside them.
void registerPasses();

/// `attn-pipeline` and `attn-stage-<name>`, each with the options `target` and
/// `vector-width`. `dumpDirectory` is read when a pipeline is built.
void registerPipelines(const std::string *dumpDirectory = nullptr);

} // namespace attn

#endif // ATTN_PIPELINES_REGISTRATION_H
