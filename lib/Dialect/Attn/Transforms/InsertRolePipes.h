//===- InsertRolePipes.h - Pipes between warps that copy and compute ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TRANSFORMS_INSERTROLEPIPES_H
#define ATTN_LIB_TRANSFORMS_INSERTROLEPIPES_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Refuses a load that pads with other values than the zeros which copies into pipes fill with.
llvm::LogicalResult verifyPadding(LoadTileOp load);

/// attn-insert-pipes for a loop over CTAs whose products are wgmma.
llvm::LogicalResult insertRolePipes(mlir::scf::ForallOp forall);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_INSERTROLEPIPES_H
