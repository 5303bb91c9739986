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
    body is the tile program of the schedule's algorithm. Loops over K/V tiles carry
    `attn.kv_pass`, the number of their pass over the keys.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect"];
}

def AttnSplitMaskRanges : Pass<"attn-split-mask-ranges", "::mlir::func::FuncOp"> {
  let summary = "peel the tiles that need a mask test out of each K/V loop";
  let description = [{
    Asks the mask which keys every row of the Q tile sees, and splits the loop over
    [lo, hi) in up to three: a masked loop, a loop without `attn.mask_scores` over the
    tiles that lie wholly in that range, and a masked loop for the rest (the diagonal,
    the ragged end).

    ```mlir
    scf.for %j = %lo to %hi step %c64 { ... attn.mask_scores ... }
    // becomes
    scf.for %j = %lo to %a step %c64 { ... attn.mask_scores ... } {attn.mask_class = "masked"}
    scf.for %j = %a to %b step %c64 { ... } {attn.mask_class = "full"}
    scf.for %j = %b to %hi step %c64 { ... attn.mask_scores ... } {attn.mask_class = "masked"}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AttnInsertPipes : Pass<"attn-insert-pipes", "::mlir::func::FuncOp"> {
  let summary = "load Q, K and V tiles ahead of use through pipes in shared memory";
  let description = [{
    Replaces the loads of a K/V loop by waits on pipes of `stages` buffers, and starts
    the copies that fill them earlier: after the barrier of a wait, every warp has
    passed its last read of the tile before, so its buffer is free and the copy into it
    is started there (`synced`). Groups are committed in a fixed order, one for each
    tile, so that each wait knows how many younger groups may still be in flight.

    ```mlir
    %k = attn.load_tile %K[%b, %j, %h] limit(%n) ...
    // becomes, in the loop
    %k = attn.pipe_wait %pk[%it] pending(0) ...
    attn.pipe_acquire %pv[%it] synced
    scf.if %more { attn.copy_tile %V[%b, %j, %h] limit(%n) into %pv[%it] ... }
    attn.pipe_commit %pv
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AttnVerifyPipes : Pass<"attn-verify-pipes", "::mlir::func::FuncOp"> {
  let summary = "check that pipes are used as their protocol says";
  let description = [{
    Every copy into a pipe lies between an acquire and a commit of the same pipe and
    iteration; every pipe that is filled is waited for; every wait is followed by a
    release; no pipe is used outside the CTA loop that created it.
  }];
}

def AttnAssignLayouts : Pass<"attn-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "decide where each tile lives: shared memory or mma fragments";
  let description = [{
    Gives every tile, softmax state and pipe type of a CTA loop its layout: buffers of
    pipes `#attn.shared`, everything else `#attn.fragment`, split over the warps as the
    schedule's `warp_split` says.
  }];
}

def AttnAllocateSmem : Pass<"attn-allocate-smem", "::mlir::func::FuncOp"> {
  let summary = "place pipes and scratch buffers in shared memory";
  let description = [{
    Sets the offset of every pipe (1024-byte aligned) and, on the CTA loop, the total
    number of bytes as `attn.smem_bytes`. The epilogue's scratch overlays the pipes.
  }];
}

def AttnNormalizeProblem : Pass<"attn-normalize-problem", "::mlir::func::FuncOp"> {
  let summary = "bring problems that one kernel serves into one form";
  let description = [{
    Problems that mean the same get the same text, which the kernel cache hashes:
    - the mask has its canonical form: nested compositions flat, members that decide
      nothing dropped, the rest sorted and unique, a causal window called causal;
    - a score region that yields its score is dropped;
    - the default alignment is written out;
    - arguments of the function that are tensors of a problem get run-time strides, so
      that views are arguments like any other.

    ```mlir
    func.func @f(%q: memref<?x?x8x64xf16>, ...) {
      attn.forward ins(%q, ...) ... mask(#attn.all_of<#attn.none, #attn.causal<bottom_right>>)
    // becomes
    func.func @f(%q: memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>, ...) {
      attn.forward ins(%q, ...) ... mask(#attn.causal<bottom_right>) alignment(2)
    ```
  }];
}

def AttnSplitKV : Pass<"attn-split-kv", "::mlir::func::FuncOp"> {
  let summary = "split a problem along its keys into partial results and a merge";
  let description = [{
    An `attn.forward` whose schedule has split_kv = n > 1 writes n partial results to
    workspace arguments that are appended to the function; an `attn.merge_states`
    combines them. Beside its LSE a part has a tail, what the rounding of LSE left out; an
    fa1 schedule, which merges as it goes, gets a workspace for its tail.
    The argument attribute `attn.workspace` gives the shape that the
    caller must allocate, dense and row-major: for each dim a constant, or
    [argument, dim] for the size of an argument's dim.

    ```mlir
    func.func @f(%q, ..., %o: memref<?x?x8x64xf16>, ...) {
      attn.forward ... outs(%o) schedule(#attn.schedule<split_kv = 4>)
    // becomes
    func.func @f(%q, ..., %o: memref<?x?x8x64xf16>, ...,
                 %po: memref<4x?x?x8x64xf32> {attn.workspace = [4, [3, 0], [3, 1], 8, 64]},
                 %pl: memref<4x?x8x?xf32> {attn.workspace = [4, [3, 0], 8, [3, 1]]},
                 %pt: memref<4x?x8x?xf32> {attn.workspace = [4, [3, 0], 8, [3, 1]]}) {
      attn.forward ... outs(%po, %pl) lse_tail(%pt) schedule(#attn.schedule<split_kv = 4>)
      attn.merge_states ins(%po, %pl) partial_tail(%pt) outs(%o)
    ```
  }];
}

def AttnVerifyNoProblemOps : Pass<"attn-verify-no-problem-ops", "::mlir::func::FuncOp"> {
  let summary = "fail when a problem op is left after lowering to tiles";
}

def AttnOutlineKernels : Pass<"attn-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "make one function for each grid of tiles";
  let description = [{
    A function with k `scf.forall` ops at its top level becomes k functions of the same
    arguments, marked `attn.kernel`: under its own name when k = 1, else with the suffixes
    `_0`, `_1` and so on, which run one after the other. Each holds one `scf.forall` and
    copies of the effect-free ops that it uses.

    ```mlir
    func.func @f(%m: memref<?xf32>, %n: index) {
      scf.forall (%i) in (%n) { ... }
      scf.forall (%i) in (4) { ... }
      return
    }
    // becomes
    func.func @f_0(%m: memref<?xf32>, %n: index) attributes {attn.kernel} {
      scf.forall (%i) in (%n) { ... }
      return
    }
    func.func @f_1(%m: memref<?xf32>, %n: index) attributes {attn.kernel} {
      scf.forall (%i) in (4) { ... }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

#endif // ATTN_TRANSFORMS_PASSES
