//===- BuildProblem.h - From words to the problem op ------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_BUILDPROBLEM_H
#define ATTN_COMPILER_BUILDPROBLEM_H

#include "attn/Compiler/KernelSpec.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>

namespace attn {

/// Name of the function that buildProblem makes.
constexpr llvm::StringLiteral kProblemFunction = "attn_forward";

/// Loads the dialects that a problem is made of into a context.
void loadProblemDialects(mlir::MLIRContext &context);

/// The L0 module of a canonical spec: one function of (q, k, v, o[, lse][, slopes],
/// scale) that holds one attn.forward. Batch, lengths and strides are dynamic; a
/// decode spec has one query for each sequence. The context has the dialects loaded.
mlir::OwningOpRef<mlir::ModuleOp> buildProblem(const KernelSpec &spec, mlir::MLIRContext &context);

} // namespace attn

#endif // ATTN_COMPILER_BUILDPROBLEM_H
