//===- AccumulatorCheck.h - Where accumulators in flight may go --*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_NVVMTOEMULATOR_ACCUMULATORCHECK_H
#define ATTN_LIB_CONVERSION_NVVMTOEMULATOR_ACCUMULATORCHECK_H

#include <mlir/IR/Operation.h>

namespace attn {

/// Fails where a result of `attn_nv.wgmma` reaches something else than the accumulators of
/// another, of a fence or of a wait, through block arguments: an accumulator that is
/// read before its wait. Fails also where a register that a product reads is written between it and
/// the fence before it.
llvm::LogicalResult checkAccumulators(mlir::Operation *function);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_NVVMTOEMULATOR_ACCUMULATORCHECK_H
