//===- AttnOps.td - All ops of the attn dialect ---------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_OPS
#define ATTN_OPS

include "attn/Dialect/Attn/IR/AttnScheduleOps.td"

#endif // ATTN_OPS
