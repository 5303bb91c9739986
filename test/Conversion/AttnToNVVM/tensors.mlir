// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -cse | FileCheck %s

// 16-bit outputs with aligned rows: pairs into shared memory, 16 bytes at a time out of it.
// CHECK-LABEL: func.func @through_shared
// CHECK: nvvm.barrier
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
!o = !attn.tile<16x16xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @through_shared(%n: index, %i: index, %o: memref<?x?x8x16xbf16>) {
  scf.forall (%b) in (%n) {
    %t = attn.fill 0.5 : !o
    attn.store_tile %t, %o[%b, %i, %b] : !o, memref<?x?x8x16xbf16>
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 1024 : i64}
  return
}

// -----

// Rows that are not aligned to 16 bytes: pairs straight from registers.
// CHECK-LABEL: func.func @pairs
// CHECK-NOT: !llvm.ptr<3>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
// CHECK-NOT: !llvm.ptr<3>
// CHECK: return
!o = !attn.tile<16x16xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @pairs(%n: index, %i: index, %o: memref<?x?x8x16xbf16>) {
  scf.forall (%b) in (%n) {
    %t = attn.fill 0.5 : !o
    attn.store_tile %t, %o[%b, %i, %b] : !o, memref<?x?x8x16xbf16>
  } {attn.alignment = 4 : i64, attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 1024 : i64}
  return
}

// -----

// Single elements where not even a pair is aligned.
// CHECK-LABEL: func.func @elements
// CHECK: llvm.store %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// CHECK-NOT: : i32, !llvm.ptr<1>
// CHECK: return
!o = !attn.tile<16x16xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @elements(%n: index, %i: index, %o: memref<?x?x8x16xbf16>) {
  scf.forall (%b) in (%n) {
    %t = attn.fill 0.5 : !o
    attn.store_tile %t, %o[%b, %i, %b] : !o, memref<?x?x8x16xbf16>
  } {attn.alignment = 2 : i64, attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 1024 : i64}
  return
}

// -----

// f32 partial results: loaded where the row is inside, padded elsewhere, merged, stored as pairs.
// CHECK-LABEL: func.func @merge
// CHECK: scf.if %{{.*}} -> (f32, f32, f32, f32) {
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: } else {
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
!o = !attn.tile<16x16xf32, #attn.fragment<acc, warps = 1, split = rows>>
!l = !attn.tile<16xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @merge(%n: index, %i: index, %o: memref<?x?x8x16xf32>, %lse: memref<?x8x?xf32>) {
  scf.forall (%b) in (%n) {
    %t = attn.load_tile %o[%b, %i, %b] : memref<?x?x8x16xf32> -> !o
    %l = attn.load_tile %lse[%b, %i, %b] pad(0xFF800000) : memref<?x8x?xf32> -> !l
    %to, %tl = attn.merge %t, %l with %t, %l : !o, !l
    attn.store_tile %to, %o[%b, %i, %b] : !o, memref<?x?x8x16xf32>
    attn.store_tile %tl, %lse[%b, %i, %b] : !l, memref<?x8x?xf32>
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// Warps that split the keys meet in shared memory: the states, then O in the order of the warps.
// CHECK-LABEL: func.func @finalize_keys
// CHECK: nvvm.barrier
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-2: nvvm.barrier
// CHECK-NOT: nvvm.barrier
// CHECK: return
!acc = !attn.tile<16x32xf32, #attn.fragment<acc, warps = 2, split = partial>>
!st = !attn.softmax_state<16, #attn.fragment<acc, warps = 2, split = partial>>
!o = !attn.tile<16x32xf32, #attn.fragment<acc, warps = 2, split = cols>>
!l = !attn.tile<16xf32, #attn.fragment<acc, warps = 2, split = cols>>
func.func @finalize_keys(%n: index, %c: f32) {
  scf.forall (%b) in (%n) {
    %acc = attn.fill 0.5 : !acc
    %st = attn.softmax_init : !st
    %o, %l = attn.finalize %acc, %st scale(%c) : !acc, !st -> !o, !l
  } {attn.schedule = #attn.schedule<warps = 2, q_tile = 16, warp_split = keys>, attn.smem_bytes = 4096 : i64}
  return
}

// -----

// A merge weighs by the difference of the LSEs, tails and all; nothing is scaled before it is
// subtracted.
// CHECK-LABEL: func.func @merge_tails
// CHECK: %[[LSES:.+]] = arith.subf
// CHECK: %[[TAILS:.+]] = arith.subf
// CHECK: %[[DIFFERENCE:.+]] = arith.addf %[[LSES]], %[[TAILS]]
// CHECK: %[[POWER:.+]] = arith.mulf %[[DIFFERENCE]]
// CHECK: nvvm.{{.*}}ex2{{.*}}%[[POWER]]
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
!o = !attn.tile<16x16xf32, #attn.fragment<acc, warps = 1, split = rows>>
!l = !attn.tile<16xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @merge_tails(%n: index, %i: index, %o: memref<?x?x8x16xf32>, %lse: memref<?x8x?xf32>, %tail: memref<?x8x?xf32>) {
  scf.forall (%b) in (%n) {
    %t = attn.load_tile %o[%b, %i, %b] : memref<?x?x8x16xf32> -> !o
    %l = attn.load_tile %lse[%b, %i, %b] pad(0xFF800000) : memref<?x8x?xf32> -> !l
    %r = attn.load_tile %tail[%b, %i, %b] : memref<?x8x?xf32> -> !l
    %to, %tl, %tt = attn.merge %t, %l with %t, %r tails(%r, %l : !l, !l) : !o, !l, !l
    attn.store_tile %tt, %tail[%b, %i, %b] : !l, memref<?x8x?xf32>
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 0 : i64}
  return
}
