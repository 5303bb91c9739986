//===- Passes.h - Passes that choose and check schedules --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISPATCH_PASSES_H
#define ATTN_DISPATCH_PASSES_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Pass/Pass.h>

namespace attn {

#define GEN_PASS_DECL
#include "attn/Dispatch/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attn/Dispatch/Passes.h.inc"

} // namespace attn

#endif // ATTN_DISPATCH_PASSES_H
