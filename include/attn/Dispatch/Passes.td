//===- Passes.td - Passes that choose and check schedules -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISPATCH_PASSES
#define ATTN_DISPATCH_PASSES

include "mlir/Pass/PassBase.td"

class AttnTargetPass<string mnemonic> : Pass<mnemonic, "::mlir::func::FuncOp"> {
  let options = [Option<"target", "target", "std::string", "",
                        "The target by its name, as in sm_80; there is no default">];
}

def AttnSelectSchedule : AttnTargetPass<"attn-select-schedule"> {
  let summary = "give each problem op the schedule of its target's table";
  let description = [{
    Takes the first row of the table that takes the problem and fits the target. It is
    the only reader of the tables; later passes obey the schedule that they find.

    A compiler that was given a schedule file tries the rows of that file first.

    Fields in the op's `attn.pins` replace those of the row, and the dictionary is
    dropped. A whole schedule on the op is kept as it is, if it fits. A problem that only
    the generic row of a GPU takes gets a remark that names the reason.

    ```mlir
    attn.forward ... alignment(16) {attn.pins = {kv_tile = 32}}
    // becomes, for target=sm_80
    attn.forward ... alignment(16) schedule(#attn.schedule<q_tile = 128, kv_tile = 32, ...>)
    ```
  }];
}

def AttnVerifySchedule : AttnTargetPass<"attn-verify-schedule"> {
  let summary = "check that the schedule of each problem op fits the target";
  let description = [{
    Knows the budgets: registers, shared memory, warps, the blocks of an mma, and the
    instructions that the target has. The error names the number that broke, its limit
    and the field to change.

    ```
    error: 'attn.forward' op schedule does not fit sm_86: shared memory: expected at most
    101376 bytes, got 163840 (Q 32768, K 65536, V 65536, epilogue 32768); reduce q_tile, ...
    ```
  }];
}

#endif // ATTN_DISPATCH_PASSES
