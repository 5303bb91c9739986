//===- VerifyPlacement.h - What the conversion trusts of stage 6 -*- C++ -*===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_VERIFYPLACEMENT_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_VERIFYPLACEMENT_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Pipes, mailboxes and scratch lie beside each other, within the CTA's shared memory.
mlir::LogicalResult verifySharedMemory(mlir::scf::ForallOp forall);

/// Tensor maps are those of the tensors that are copied, and end where the copies are to end.
mlir::LogicalResult verifyTensorMaps(mlir::scf::ForallOp forall);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_VERIFYPLACEMENT_H
