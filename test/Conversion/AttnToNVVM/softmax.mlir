// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -cse | FileCheck %s

// One online step on 16 x 8 scores: a lane has two rows of two columns. Where no score of the warp
// exceeds its row's reference by 2^8, references stay and exponents are one fma each. Else the
// maximum of a row goes over the quad by two exchanges, and a third tells the reference to lanes
// that do not hold it. Only rows whose exponents f32 would not resolve have it subtracted.
// The sum stays with the lane until the end.
// CHECK-LABEL: func.func @lazy
// CHECK: arith.cmpf ugt
// CHECK: nvvm.vote.sync any
// CHECK: %[[MOVE:.*]]:12 = scf.if
// CHECK-COUNT-6: nvvm.shfl.sync bfly
// CHECK: nvvm.vote.sync any
// CHECK: scf.if
// CHECK: } else {
// CHECK-NOT: nvvm.shfl.sync
// CHECK: }
// CHECK: } else {
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: scf.yield {{.*}}, %[[ONE]], %[[ONE]],
// CHECK-NOT: arith.subf
// CHECK: math.fma %[[MOVE]]#8, %{{.*}}, %[[MOVE]]#4
// CHECK: return
!s = !attn.tile<16x8xf32, #attn.fragment<acc, warps = 1, split = rows>>
!r = !attn.tile<16xf32, #attn.fragment<acc, warps = 1, split = rows>>
!st = !attn.softmax_state<16, #attn.fragment<acc, warps = 1, split = rows>>
func.func @lazy(%n: index, %i: index, %c: f32, %o: memref<?x?x8x8xf32>) {
  scf.forall (%b) in (%n) {
    %s = attn.load_tile %o[%b, %i, %b] : memref<?x?x8x8xf32> -> !s
    %st = attn.softmax_init : !st
    %st1, %p, %alpha = attn.softmax_update %st, %s scale(%c) : !st, !s -> !r
    attn.store_tile %p, %o[%b, %i, %b] : !s, memref<?x?x8x8xf32>
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// Otherwise each step moves the references, and each score has its row's subtracted: the
// exponent of the largest is 0.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: nvvm.vote.sync
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: nvvm.vote.sync
// CHECK: math.fma %{{.*}}, %{{.*}}, %cst{{.*}} : f32
// CHECK-NOT: nvvm.vote.sync
// CHECK: return
!s = !attn.tile<16x8xf32, #attn.fragment<acc, warps = 1, split = rows>>
!r = !attn.tile<16xf32, #attn.fragment<acc, warps = 1, split = rows>>
!st = !attn.softmax_state<16, #attn.fragment<acc, warps = 1, split = rows>>
func.func @exact(%n: index, %i: index, %c: f32, %o: memref<?x?x8x8xf32>) {
  scf.forall (%b) in (%n) {
    %s = attn.load_tile %o[%b, %i, %b] : memref<?x?x8x8xf32> -> !s
    %st = attn.softmax_init : !st
    %st1, %p, %alpha = attn.softmax_update %st, %s scale(%c) : !st, !s -> !r
    attn.store_tile %p, %o[%b, %i, %b] : !s, memref<?x?x8x8xf32>
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16, lazy_rescale = false>, attn.smem_bytes = 0 : i64}
  return
}
