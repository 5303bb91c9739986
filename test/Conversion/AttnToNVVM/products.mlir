// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -cse | FileCheck %s

// S = Q K^T, one warp: 16 x 32 scores over a depth of 32. Two steps of k; in each one fragment of
// Q, and for each 16 keys one of K whose halves serve two products.
// CHECK-LABEL: func.func @scores
// CHECK: %[[A:.*]] = nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK: %[[B:.*]] = nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK: nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>}
// CHECK: nvvm.mma.sync
// CHECK: nvvm.ldmatrix
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.ldmatrix
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK: nvvm.ldmatrix
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK-NOT: nvvm.ldmatrix
!q = !attn.tile<16x32xf16, #attn.shared<pitch = 80, xor_mask = 0>>
!k = !attn.tile<32x32xf16, #attn.shared<pitch = 80, xor_mask = 0>>
!s = !attn.tile<16x32xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @scores(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create offset = 0 : !attn.pipe<!q, stages = 1>
    %pk = attn.pipe_create offset = 2048 : !attn.pipe<!k, stages = 1>
    %tq = attn.pipe_wait %pq[%i] pending(0) : !attn.pipe<!q, stages = 1> -> !q
    %tk = attn.pipe_wait %pk[%i] pending(0) : !attn.pipe<!k, stages = 1> -> !k
    %z = attn.fill 0.0 : !s
    %t = attn.tile_mma %tq, %tk, %z transpose_b : !q, !k, !s
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 8192 : i64}
  return
}

// -----

// O += P V: P is packed from accumulators, in the order of operand a; V is read transposed.
// CHECK-LABEL: func.func @output
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK-COUNT-2: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
// CHECK-NOT: nvvm.mma.sync
!p = !attn.tile<16x16xbf16, #attn.fragment<a, warps = 1, split = rows>>
!v = !attn.tile<16x16xbf16, #attn.shared<pitch = 48, xor_mask = 0>>
!o = !attn.tile<16x16xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @output(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pv = attn.pipe_create offset = 0 : !attn.pipe<!v, stages = 1>
    %tv = attn.pipe_wait %pv[%i] pending(0) : !attn.pipe<!v, stages = 1> -> !v
    %z = attn.fill 0.5 : !o
    %tp = attn.convert %z : !o -> !p
    %t = attn.tile_mma %tp, %tv, %z : !p, !v, !o
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 8192 : i64}
  return
}

// -----

// Without tensor cores: a loop over chunks of the depth, 4 x 8 x 2 multiply-adds in each.
// CHECK-LABEL: func.func @fma
// CHECK-NOT: nvvm.mma.sync
// CHECK: scf.for
// CHECK-COUNT-64: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
!q = !attn.tile<16x32xf16, #attn.shared<pitch = 80, xor_mask = 0>>
!k = !attn.tile<16x32xf16, #attn.shared<pitch = 80, xor_mask = 0>>
!s = !attn.tile<16x16xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @fma(%n: index, %i: index, %o: memref<?x?x8x16xf32>) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create offset = 0 : !attn.pipe<!q, stages = 1>
    %tq = attn.pipe_wait %pq[%i] pending(0) : !attn.pipe<!q, stages = 1> -> !q
    %z = attn.fill 0.0 : !s
    %t = attn.tile_mma %tq, %tq, %z transpose_b : !q, !k, !s
    attn.store_tile %t, %o[%b, %i, %b] : !s, memref<?x?x8x16xf32>
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16, instruction = fma>, attn.smem_bytes = 8192 : i64}
  return
}
