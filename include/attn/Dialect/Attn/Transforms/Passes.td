//===- Passes.td - Passes over attn IR ------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TRANSFORMS_PASSES
#define ATTN_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def AttnLowerToTiles : Pass<"attn-lower-to-tiles", "::mlir::func::FuncOp"> {
  let summary = "write the tile program of each problem op";
  let description = [{
    Replaces `attn.forward` and `attn.merge_states` by an `scf.forall` over CTAs whose
    body is the tile program of the schedule's algorithm. The K/V loop of a masked
    problem carries `attn.mask_ranges`: `attn-split-mask-ranges` peels it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // ATTN_TRANSFORMS_PASSES
