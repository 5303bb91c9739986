//===- TileShapes.h - The one padding rule ----------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_TILESHAPES_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_TILESHAPES_H

#include <cstdint>

namespace attn {

/// Columns of the tile that holds rows of `headDim` elements: the next multiple of
/// 16, the depth of one tensor-core step. Every kernel on every target and the host's
/// accounting of shared memory use this rule; tensors themselves are never padded.
constexpr int64_t paddedHeadDim(int64_t headDim) { return (headDim + 15) / 16 * 16; }

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_TILESHAPES_H
