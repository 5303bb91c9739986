//===- Warps.h - Sizes that all GPUs agree in -------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_WARPS_H
#define ATTN_DIALECT_ATTN_IR_WARPS_H

#include <cstdint>

namespace attn {

/// Threads of a warp.
constexpr int64_t kWarpSize = 32;

/// Warps that start a wgmma together.
constexpr int64_t kWarpgroupWarps = 4;

/// Rows of a tile that one warpgroup multiplies.
constexpr int64_t kWarpgroupRows = 64;

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_WARPS_H
