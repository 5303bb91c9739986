//===- ManifestBuilder.h - Reads a manifest off the IR ----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_COMPILER_MANIFESTBUILDER_H
#define ATTN_LIB_COMPILER_MANIFESTBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Runtime/Artifact.h"

#include <mlir/IR/BuiltinOps.h>

namespace attn {

/// Sets arguments and equal sizes from a problem in its normal form.
rt::Status readSignature(ForwardOp op, rt::Manifest &manifest);

/// Sets the workspaces from the arguments that `attn-split-kv` has added; before kernels
/// are outlined.
rt::Status readWorkspaces(mlir::ModuleOp module, rt::Manifest &manifest);

/// Sets the kernels from their loops over CTAs; after stage `place`.
rt::Status readKernels(mlir::ModuleOp module, rt::Manifest &manifest);

} // namespace attn

#endif // ATTN_LIB_COMPILER_MANIFESTBUILDER_H
