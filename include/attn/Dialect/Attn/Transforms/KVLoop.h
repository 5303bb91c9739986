//===- KVLoop.h - Marks of the loops over keys ------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_KVLOOP_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_KVLOOP_H

#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_KVLOOP_H
