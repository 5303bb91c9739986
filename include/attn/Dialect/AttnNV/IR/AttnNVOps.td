//===- AttnNVOps.td - One op for each instruction -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_NV_OPS
#define ATTN_NV_OPS

include "attn/Dialect/AttnNV/IR/AttnNVDialect.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class AttnNV_Op<string mnemonic, list<Trait> traits = []>
    : Op<AttnNV_Dialect, mnemonic, traits>;

defvar AttnNV_InferTypes = DeclareOpInterfaceMethods<InferTypeOpInterface>;
defvar AttnNV_GlobalPtr = LLVM_PointerInAddressSpace<1>;
defvar AttnNV_SharedPtr = LLVM_PointerInAddressSpace<3>;
defvar AttnNV_ClusterPtr = LLVM_PointerInAddressSpace<7>;
defvar AttnNV_AnySharedPtr = AnyTypeOf<[AttnNV_SharedPtr, AttnNV_ClusterPtr]>;

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//===----------------------------------------------------------------------===//

def AttnNV_WgmmaOp : AttnNV_Op<"wgmma", [AttrSizedOperandSegments, AttnNV_InferTypes,
                                         NVVMRequiresSMa<[90]>]> {
  let summary = "starts D = A B + D of a warpgroup: wgmma.mma_async, m64 n k";
  let description = [{
    The 128 threads of a warpgroup multiply A (64 x k) by B (k x n), k = 16 for f16 and bf16 and 32
    for the 8-bit types, and accumulate in f32. The result is in flight: until an
    `attn_nv.wgmma_wait` ties it, only another `attn_nv.wgmma` of the same shape may read it, as its
    `acc`.

    A comes from shared memory (`a`, a matrix descriptor) or from registers (`a_registers`, the
    m64k16 fragment as four registers of packed elements); B comes from shared memory. Operands are
    K-major; `transpose_a` and `transpose_b` say that one is stored M-major or N-major.

    Without `acc` the product alone is returned. With `acc` and without `scale_d` it is added to
    `acc`; `scale_d` chooses at run time, and false ignores `acc`.

    Thread t of the warpgroup holds n/2 accumulators: values 4 i and 4 i + 1 are row
    16 (t / 32) + t % 32 / 4, columns 8 i + 2 (t % 4) and the next; values 4 i + 2 and 4 i + 3 are
    the same columns eight rows below.

    PTX: `wgmma.mma_async.sync.aligned.m64nNkK.f32.A.B`
    ([ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions-wgmma-mma)).
    Needs sm_90a.

    - C1: n is a multiple of 8 in [8, 256].
    - C2: A and B are both f16, both bf16, or each f8E4M3FN or f8E5M2.
    - C3: either `a` or four `a_registers`.
    - C4: `transpose_a` and `transpose_b` need 16-bit elements, `transpose_a` also `a`.
    - C5: `acc` has n / 2 values, or none and no `scale_d`.

    Examples:
    ```mlir
    %s:4 = attn_nv.wgmma n = 8, a(%q) b(%k) : bf16, bf16
    %t:4 = attn_nv.wgmma n = 8, a_registers(%p0, %p1, %p2, %p3) b(%v) transpose_b
             acc(%o0, %o1, %o2, %o3) scale_d(%more) : f16, f16
    ```
  }];
  let arguments = (ins I32Attr:$n, Optional<I64>:$a_desc,
                       Variadic<I32>:$a_registers, I64:$b_desc, UnitAttr:$transpose_a,
                       UnitAttr:$transpose_b, Variadic<F32>:$acc, Optional<I1>:$scale_d,
                       TypeAttr:$type_a, TypeAttr:$type_b);
  let results = (outs Variadic<F32>:$d);
  let assemblyFormat = [{
    `n` `=` $n `,` (`a` `(` $a_desc^ `)`)? (`a_registers` `(` $a_registers^ `)`)?
    `b` `(` $b_desc `)` (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`acc` `(` $acc^ `)`)? (`scale_d` `(` $scale_d^ `)`)? attr-dict `:` $type_a `,` $type_b
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Elements of A and B along the inner dim.
    int64_t getK();
  }];
}

def AttnNV_WgmmaFenceOp : AttnNV_Op<"wgmma_fence", [AttrSizedOperandSegments, AttnNV_InferTypes,
                                                    NVVMRequiresSMa<[90]>]> {
  let summary = "orders register writes before the products that read them";
  let description = [{
    Must stand between the last ordinary write of an accumulator or of A's registers and the first
    `attn_nv.wgmma` that reads them. The values are passed through, accumulators first, so that
    whatever computes them stays above the fence.

    PTX: `wgmma.fence.sync.aligned`
    ([ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions-wgmma-fence)).
    Needs sm_90a.

    Examples:
    ```mlir
    attn_nv.wgmma_fence
    %r:3 = attn_nv.wgmma_fence acc(%o0, %o1) a_registers(%p0)
    ```
  }];
  let arguments = (ins Variadic<F32>:$acc, Variadic<I32>:$a_registers);
  let results = (outs Variadic<AnyTypeOf<[F32, I32]>>:$tied);
  let assemblyFormat = [{
    (`acc` `(` $acc^ `)`)? (`a_registers` `(` $a_registers^ `)`)? attr-dict
  }];
}

def AttnNV_WgmmaWaitOp : AttnNV_Op<"wgmma_wait", [AttnNV_InferTypes, NVVMRequiresSMa<[90]>]> {
  let summary = "waits until at most `pending` groups of products are in flight";
  let description = [{
    Groups end at `nvvm.wgmma.commit.group.sync.aligned`. The accumulators of groups that are done
    by then are passed through: their results are ordinary values. Accumulators of groups that are
    still in flight must not be tied.

    PTX: `wgmma.wait_group.sync.aligned`
    ([ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions-wgmma-wait-group)).
    Needs sm_90a.

    - C1: pending is in [0, 7].

    Example: `%s:4 = attn_nv.wgmma_wait 1 acc(%t#0, %t#1, %t#2, %t#3)`
  }];
  let arguments = (ins I32Attr:$pending, Variadic<F32>:$acc);
  let results = (outs Variadic<F32>:$tied);
  let assemblyFormat = "$pending (`acc` `(` $acc^ `)`)? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def AttnNV_MBarrierArriveOp : AttnNV_Op<"mbarrier_arrive", [AttrSizedOperandSegments,
                                                            NVVMRequiresSM<90>]> {
  let summary = "arrives on an mbarrier, where `predicate` is true";
  let description = [{
    One arrival with release semantics, whose state is dropped. `expect_tx` first adds that many
    bytes to what the current phase waits for. The predicate is the instruction's own: no branch,
    so that warps stay converged. A pointer to `shared::cluster` memory (address space 7, from
    `nvvm.mapa`) arrives on the barrier of another CTA of the cluster.

    PTX: `mbarrier.arrive[.expect_tx]`, `.release.cta.shared::cta` or
    `.release.cluster.shared::cluster`
    ([ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-mbarrier-arrive)).
    Needs sm_90.

    Examples:
    ```mlir
    attn_nv.mbarrier_arrive %full expect_tx(%bytes) : !llvm.ptr<3>
    attn_nv.mbarrier_arrive %empty predicate(%is_lane0) : !llvm.ptr<3>
    ```
  }];
  let arguments = (ins AttnNV_AnySharedPtr:$barrier, Optional<I32>:$expect_tx,
                       Optional<I1>:$predicate);
  let assemblyFormat = [{
    $barrier (`expect_tx` `(` $expect_tx^ `)`)? (`predicate` `(` $predicate^ `)`)? attr-dict
    `:` qualified(type($barrier))
  }];
}

def AttnNV_MBarrierWaitOp : AttnNV_Op<"mbarrier_wait", [NVVMRequiresSM<90>]> {
  let summary = "waits until the phase of a parity of an mbarrier is complete";
  let description = [{
    Returns when the phase with this parity (bit 0 of `parity`) has completed, with acquire
    semantics; `cluster` acquires what other CTAs of the cluster released. A barrier starts in
    phase 0, so that waiting for parity 1 returns at once.

    PTX: a loop around `mbarrier.try_wait.parity`
    ([ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait)).
    Needs sm_90. For one try, whose result is a bool: `nvvm.mbarrier.try_wait`.

    Example: `attn_nv.mbarrier_wait %full, %phase : !llvm.ptr<3>`
  }];
  let arguments = (ins AttnNV_SharedPtr:$barrier, I32:$parity, UnitAttr:$cluster);
  let assemblyFormat = [{
    $barrier `,` $parity (`cluster` $cluster^)? attr-dict `:` qualified(type($barrier))
  }];
}

def AttnNV_BarrierArriveOp : AttnNV_Op<"barrier_arrive"> {
  let summary = "arrives on a named barrier of the CTA without waiting";
  let description = [{
    The counterpart of `nvvm.barrier id = %id number_of_threads = %threads`: `threads` counts those
    that arrive and those that wait. All threads of the warp execute it. Unlike
    `nvvm.barrier.arrive`, which is assembly text, LLVM sees what it does.

    PTX: `bar.arrive`
    ([ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-bar)).

    - C1: a constant id is in [0, 15], a constant number of threads a multiple of 32 in
      [32, 1024].

    Example: `attn_nv.barrier_arrive %id, %threads`
  }];
  let arguments = (ins I32:$id, I32:$threads);
  let assemblyFormat = "$id `,` $threads attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def AttnNV_BulkReduceOp : AttnNV_Op<"bulk_reduce", [NVVMRequiresSM<90>]> {
  let summary = "adds an array in shared memory to one in global memory";
  let description = [{
    dest[i] += source[i] for all elements of `bytes` bytes, each atomically and in no order. Belongs
    to the current bulk group: `nvvm.cp.async.bulk.commit.group`, `nvvm.cp.async.bulk.wait_group`.
    bf16 and f16 keep subnormals.

    PTX: `cp.reduce.async.bulk.global.shared::cta.bulk_group.add`
    ([ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-reduce-async-bulk)).
    Needs sm_90.

    - C1: the element type is f32, f16, bf16 or i32.
    - C2: a constant number of bytes is a positive multiple of 16; so are addresses.

    Example: `attn_nv.bulk_reduce %dq, %tile, %bytes : f32, !llvm.ptr<1>, !llvm.ptr<3>`
  }];
  let arguments = (ins AttnNV_GlobalPtr:$dest, AttnNV_SharedPtr:$source, I32:$bytes,
                       TypeAttr:$element_type);
  let assemblyFormat = [{
    $dest `,` $source `,` $bytes attr-dict `:` $element_type `,` qualified(type($dest)) `,`
    qualified(type($source))
  }];
  let hasVerifier = 1;
}

#endif // ATTN_NV_OPS
