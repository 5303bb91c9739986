//===- FunctionAttrs.h - Attributes of problem functions --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_FUNCTIONATTRS_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_FUNCTIONATTRS_H

#include <llvm/ADT/StringRef.h>

namespace attn {

/// On a function argument that the caller allocates as scratch: its shape, for each dim
/// a constant or [argument, dim] for the size of another argument's dim.
constexpr llvm::StringLiteral kWorkspaceAttr = "attn.workspace";

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_FUNCTIONATTRS_H
