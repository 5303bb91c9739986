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

    Programs whose copies are made by warps of their own get the fill of a stage and the wait
    for it at the place of each load. For `producer = cp_async` K has two warps of the producer as
    writers, Q and V the other two. With `q_by_warpgroup` a Q tile is filled part by part.

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

def AttnOrderKeys : Pass<"attn-order-keys", "::mlir::func::FuncOp"> {
  let summary = "visit K/V tiles from last to first";
  let description = [{
    For `kv_order = descending`: the loops of a pass over the keys run in the opposite
    order, and each of them counts its tiles from its end. Masks cut tiles off at the end more
    often than at the beginning, so that the tile that needs one is the first.

    ```mlir
    scf.for %j = %lo to %b step %c64 { ... } {attn.mask_class = "full"}
    scf.for %j = %b to %hi step %c64 { ... } {attn.mask_class = "masked"}
    // becomes
    scf.for %i = %b to %hi step %c64 { %j = arith.subi %sum1, %i ... } {attn.mask_class = "masked"}
    scf.for %i = %lo to %b step %c64 { %j = arith.subi %sum0, %i ... } {attn.mask_class = "full"}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AttnOverlapSoftmax : Pass<"attn-overlap-softmax", "::mlir::func::FuncOp"> {
  let summary = "bring each tile's Q K^T next to its predecessor's P V";
  let description = [{
    For `overlap = true`: rotates the loops over keys by one product, so that in each step the two
    products do not depend on each other or on the softmax between them. The first tile of
    all is peeled off and always masked; without any tile nothing runs. Loops that are not
    one step of FlashAttention-2 for each tile stay as they are.

    ```mlir
    scf.for %j iter_args(%o, %st) {
      %s = S(%j)  %st1, %p, %alpha = attn.softmax_update %st, %s
      %o1 = attn.tile_mma %p, %v, (%o alpha)
    }
    // becomes
    scf.if %any {
      %s = S(%j0)  %st0, %p0 = softmax of %s
      scf.for %j iter_args(%o, %st, %p, %before) {
        %s = attn.tile_mma %q, K(%j)
        %o1 = attn.tile_mma %p, V(%before), %o
        %st1, %s1, %alpha = attn.softmax_rebase %st, %s
        %o2 = attn.rescale %o1, %alpha
        %st2, %p1 = attn.softmax_add %st1, %s1
      }
      %o3 = attn.tile_mma %p, V(%before), %o
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AttnPersist : Pass<"attn-persist", "::mlir::func::FuncOp"> {
  let summary = "let each CTA compute one Q tile after the other";
  let description = [{
    The grid has as many CTAs as the device runs at once. With `persistent = static` each takes every
    n-th tile; with `order = longest_first` tiles are numbered from long to short ones, in sections of
    heads whose K and V fit the L2 cache together, every other section backwards, and a CTA counts from
    the front and from the back of every n in turn, so that work is even without the CTAs asking each
    other. With `persistent = dynamic` the loop is an `scf.while`: a CTA starts with the tile of its own
    number and draws the next one (`attn.next_tile`) from a counter that becomes an argument of the
    kernel; the first id of a tile that does not exist is -1. The ids of a tile go through a mailbox, so
    that `attn-assign-roles` leaves finding them to the producer. A grid that has one already stays as it
    is.

    ```mlir
    scf.forall (%b, %h, %i) in (%nb, %nh, %ni) { ... }
    // becomes
    scf.forall (%cta) in (%n) {   // %n = attn.num_ctas %tiles
      %m = attn.mailbox_create ...
      scf.for %round = %c0 to %rounds step %c1 {
        %b, %h, %i = attn.mailbox_pass %m[%round] (ids of tile %round * %n + %cta)
        ...
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def AttnStartProducts : Pass<"attn-start-products", "::mlir::func::FuncOp"> {
  let summary = "start products and wait for them where their results are read";
  let description = [{
    wgmma runs beside other instructions. Each `attn.tile_mma` becomes an `attn.mma_start` in
    its place and an `attn.mma_wait` before the first reader; `pending` counts the products
    that may still run then.

    ```mlir
    %s = attn.tile_mma %q, %k, %zero transpose_b
    %o1 = attn.tile_mma %p, %v, %o
    ... %s ... %o1 ...
    // becomes
    %sf = attn.mma_start %q, %k transpose_b
    %of = attn.mma_start %p, %v, %o
    %s = attn.mma_wait %sf pending(1)  ... %s ...
    %o1 = attn.mma_wait %of pending(0) ... %o1 ...
    ```
  }];
}

def AttnPingpong : Pass<"attn-pingpong", "::mlir::func::FuncOp"> {
  let summary = "let warpgroups take turns at starting products";
  let description = [{
    For `pingpong = true` and two or more warpgroups: while one has its products run, the others
    compute their softmax. A step of a loop over keys waits for its turn before its first
    product and passes it on after its last.

    ```mlir
    attn.turn_wait of(2)
    %sf = attn.mma_start ...
    %of = attn.mma_start ...
    attn.turn_pass of(2)
    ```
  }];
}

def AttnAssignRoles : Pass<"attn-assign-roles", "::mlir::func::FuncOp"> {
  let summary = "divide a program among warps that copy and warps that compute";
  let description = [{
    The body of a loop over CTAs whose products are wgmma becomes an `attn.roles`: the producer
    keeps the loops and the copies, the consumer everything else. Scalar code is in both. The
    producer is one warp, or a warpgroup for `producer = cp_async`.

    ```mlir
    scf.for %j ... {
      attn.pipe_acquire %p[%i]  attn.copy_tile ... into %p[%i]  attn.pipe_commit %p
      %k = attn.pipe_wait %p[%i]  ...  attn.pipe_release %p[%i]
    }
    // becomes
    attn.roles producer registers(24) {
      scf.for %j ... { attn.pipe_acquire %p[%i]  attn.copy_tile ...  attn.pipe_commit %p }
    } consumer warps(8) registers(240) {
      scf.for %j ... { %k = attn.pipe_wait %p[%i]  ...  attn.pipe_release %p[%i] }
    }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def AttnWaitAhead : Pass<"attn-wait-ahead", "::mlir::func::FuncOp"> {
  let summary = "wait for the tiles of the next step while products run";
  let description = [{
    For `overlap = true`: what computes waits for a step's tiles in the step before, between its
    softmax statistics and its last wait for products, so that the next step starts its products
    at once. Tiles that come only if there is a next step are waited for on that condition.

    ```mlir
    scf.for %j iter_args(%it) {
      %k = attn.pipe_wait %p[%it]
      ...
      %o = attn.mma_wait %f pending(0)
    }
    // becomes
    scf.if %any { attn.pipe_ready %p[%first] }
    scf.for %j iter_args(%it) {
      %k = attn.pipe_tile %p[%it]
      ...
      scf.if %more { attn.pipe_ready %p[%next] }
      %o = attn.mma_wait %f pending(0)
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AttnOverlapStores : Pass<"attn-overlap-stores", "::mlir::func::FuncOp"> {
  let summary = "start on the next Q tile while the output of the last one leaves";
  let description = [{
    Where a CTA computes one Q tile after the other and Q has two buffers or more: what computes
    waits for the store of a tile, and releases the buffer that it goes through, once the first
    product of the next tile is there. With one buffer the next Q needs that one first. A Q that
    comes in parts needs more stages than parts; with fewer than those of two tiles, the fills of
    all parts but the first, which may wait for such a release, move behind the first fill of keys,
    which the first product needs.

    ```mlir
    scf.for ... iter_args(%it) {
      ...
      attn.bulk_store %o via %q, ...
      attn.bulk_store_wait %q
      attn.pipe_release %p[%it]
    }
    // becomes
    scf.for ... iter_args(%it) {
      %s = attn.mma_wait %first pending(0)
      scf.if %not_first { attn.bulk_store_wait %before; attn.pipe_release %p[%it - 1] }
      ...
      attn.bulk_store %o via %q, ...
    }
    scf.if %any { attn.bulk_store_wait %last }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AttnTrimPipes : Pass<"attn-trim-pipes", "::mlir::func::FuncOp"> {
  let summary = "leave out waits and releases of pipes between roles that nobody needs";
  let description = [{
    Fills of a ring's first round find the stage empty: where the iteration is a constant, they
    need not wait for that (`synced`). A pipe of which no fill waits needs no releases: Q's, where
    a CTA computes one tile. Runs after canonicalization has made constants of iterations.

    ```mlir
    attn.pipe_acquire %p[%c0]
    // becomes
    attn.pipe_acquire %p[%c0] synced
    ```
  }];
}

def AttnAssignTensorMaps : Pass<"attn-assign-tensor-maps", "::mlir::func::FuncOp"> {
  let summary = "add the tensor maps of a kernel's copies to its arguments";
  let description = [{
    Every copy into a pipe of `#attn.boxed` tiles without writers, and every `attn.bulk_store`,
    gets a tensor map: an argument that `attn.tensor_map_of` ties to the tensor it describes and that
    the runtime encodes.

    ```mlir
    func.func @f(%k: memref<...>) { attn.copy_tile %k[...] ... }
    // becomes
    func.func @f(%k: memref<...>, %m: !attn.tensor_map<64x64xbf16> {attn.tensor_map_of = 0 : i64}) {
      attn.copy_tile %k[...] ... map(%m : ...)
    }
    ```
  }];
}

def AttnVerifyPipes : Pass<"attn-verify-pipes", "::mlir::func::FuncOp"> {
  let summary = "check that pipes are used as their protocol says";
  let description = [{
    In every block, each fill of a pipe is an acquire, a copy of the same iteration (in a
    conditional of its own, maybe) and a commit, before the next acquire; each wait has a release
    of its iteration after the last use of its tile; each wait for the turn is followed by its
    pass. Every pipe that is filled is waited for, and turns are taken between their begin and
    their end. Pipes between roles need no releases where no fill waits for one
    (`attn-trim-pipes`). A stage through which `attn.bulk_store` goes is released after an
    `attn.bulk_store_wait`, in the same round or, after `attn-overlap-stores`, in the next. Every mailbox
    that is written is read.
  }];
}

def AttnAssignLayouts : Pass<"attn-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "decide where each tile lives: shared memory or mma fragments";
  let description = [{
    Gives every tile, softmax state and pipe type of a CTA loop its layout: buffers of
    pipes `#attn.shared` (`#attn.boxed` with wgmma), everything else `#attn.fragment`, split over
    the warps as the schedule's `warp_split` says.
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
      that views are arguments like any other, and a run-time batch and length: kernels are
      right for all of them. Only that there is one query stays known.

    ```mlir
    func.func @f(%q: memref<2x64x8x64xf16>, ...) {
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
