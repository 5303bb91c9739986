//===- Roles.h - What warps of a role know of the others --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_ROLES_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_ROLES_H

#include "../Common/Patterns.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>

namespace attn {

constexpr int64_t kWarpgroupThreads = kWarpgroupWarps * kWarpSize;

/// Named barriers of a CTA; warpgroup w has the w-th of each kind. 0 is that of all threads.
constexpr int64_t kTurnBarriers = 1;
constexpr int64_t kStoreBarriers = 8;

/// Number of the warpgroup (i32). Those that compute come first, so that their number is the
/// place of their rows in a tile.
inline mlir::Value warpgroup(ThreadBuilder &t) { return t.div(t.warp(), kWarpgroupWarps); }

/// Lets products that start one after the other share the fence of the first, which then orders
/// the registers of all: a fence between them would hold the later ones up.
void mergeFences(mlir::func::FuncOp kernel);

/// Lets the asynchronous proxy, which tensor maps and wgmma go through, see what this thread knows
/// of shared memory.
void fenceAsyncProxy(ThreadBuilder &t);

/// Replaces `attn.roles` by a branch on the warp's number. `producer` is what fills the pipes.
void inlineRoles(RolesOp roles, Producer producer);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_ROLES_H
