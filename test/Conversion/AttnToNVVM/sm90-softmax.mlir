// Softmax beside wgmma: scores compared with their references as integers or as floats, references
// that move in every step, both halves of a step, and four partial sums a row.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// A lane has eight scores of each of two rows: their bits in two chains, the limit
// m + 8 / c as bits, or the lowest integer where it is negative. No float maximum without a move.
// CHECK-LABEL: func.func @integers
// CHECK: %[[C:.*]] = llvm.intr.maxnum(
// CHECK-NOT: llvm.intr.maxnum
// CHECK-COUNT-8: arith.bitcast %{{.*}} : f32 to i32
// CHECK-COUNT-6: arith.maxsi
// CHECK-NEXT: %[[MAX:.*]] = arith.maxsi
// CHECK-NEXT: %[[HEADROOM:.*]] = llvm.fdiv %{{.*}}, %[[C]] : f32
// CHECK-NEXT: %[[LIMIT:.*]] = arith.addf {{.*}}%[[HEADROOM]]
// CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %[[LIMIT]] : f32 to i32
// CHECK-NEXT: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[BITS]], %c0_i32
// CHECK-NEXT: %[[LEAST:.*]] = arith.select %[[NEGATIVE]], %c-2147483648_i32, %[[BITS]]
// CHECK-NEXT: arith.cmpi sge, %[[MAX]], %[[LEAST]]
// CHECK-COUNT-7: arith.maxsi
// CHECK: arith.cmpi sge
// CHECK-NOT: llvm.intr.maxnum
// CHECK: %[[MOVES:.*]] = nvvm.vote.sync any
// CHECK-NEXT: scf.if %[[MOVES]]
// CHECK: llvm.intr.maxnum
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: arith.cmpf ugt
// CHECK: return
!s = !attn.tile<64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>
!r = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!st = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = rows>>
!t = memref<?x?x8x32xf32>
func.func @integers(%n: index, %i: index, %c: f32, %o: !t) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %s = attn.load_tile %o[%b, %i, %b] : !t -> !s
      %st = attn.softmax_init : !st
      %st1, %p, %alpha = attn.softmax_update %st, %s scale(%c) : !st, !s -> !r
      attn.store_tile %p, %o[%b, %i, %b] : !s, !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma, integer_max = true>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// The exponentials of a row go into four sums that do not wait for each other.
// CHECK-LABEL: func.func @floats
// CHECK-NOT: arith.maxsi
// CHECK: arith.cmpf ugt
// CHECK: arith.cmpf ugt
// CHECK: nvvm.vote.sync any
// CHECK-NOT: arith.maxsi
// CHECK: %[[MOVE:.*]]:{{[0-9]+}} = scf.if
// CHECK: math.fma %[[MOVE]]#
// CHECK-NEXT: %[[P0:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NEXT: math.fma %[[MOVE]]#
// CHECK-NEXT: %[[P1:.*]] = llvm.call_intrinsic
// CHECK-NEXT: math.fma
// CHECK-NEXT: %[[P2:.*]] = llvm.call_intrinsic
// CHECK-NEXT: math.fma
// CHECK-NEXT: %[[P3:.*]] = llvm.call_intrinsic
// CHECK-NEXT: math.fma
// CHECK-NEXT: %[[P4:.*]] = llvm.call_intrinsic
// CHECK-NEXT: %[[SUM0:.*]] = arith.addf %[[P0]], %[[P4]]
// CHECK: %[[SUM1:.*]] = arith.addf %[[P1]],
// CHECK: %[[SUM2:.*]] = arith.addf %[[P2]],
// CHECK: %[[SUM3:.*]] = arith.addf %[[P3]],
// CHECK-NEXT: %[[SUM01:.*]] = arith.addf %[[SUM0]], %[[SUM1]]
// CHECK-NEXT: %[[SUM012:.*]] = arith.addf %[[SUM01]], %[[SUM2]]
// CHECK-NEXT: arith.addf %[[SUM012]], %[[SUM3]]
!s = !attn.tile<64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>
!r = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!st = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = rows>>
!t = memref<?x?x8x32xf32>
func.func @floats(%n: index, %i: index, %c: f32, %o: !t, %l: memref<?x8x?xf32>) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %s = attn.load_tile %o[%b, %i, %b] : !t -> !s
      %st = attn.softmax_init : !st
      %st1, %p, %alpha = attn.softmax_update %st, %s scale(%c) : !st, !s -> !r
      %out, %lse = attn.finalize %p, %st1 scale(%c) : !s, !st -> !s, !r
      attn.store_tile %out, %o[%b, %i, %b] : !s, !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// A step in two halves, with references that always move: the first half takes maxima over the quad
// and subtracts them, the second one the exponentials. No vote but that of the rescaling.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: nvvm.vote.sync
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync bfly
// CHECK: %[[ALPHA0:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-COUNT-8: arith.subf
// CHECK: %[[ALPHA1:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-COUNT-8: arith.subf
// CHECK-NEXT: math.fma
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NEXT: %[[CHANGES0:.*]] = arith.cmpf une, %[[ALPHA0]],
// CHECK-NEXT: %[[CHANGES1:.*]] = arith.cmpf une, %[[ALPHA1]],
// CHECK-NEXT: %[[CHANGES:.*]] = arith.ori %[[CHANGES0]], %[[CHANGES1]]
// CHECK-NEXT: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[CHANGES]]
// CHECK-NEXT: scf.if %[[ANY]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[ALPHA0]]
// CHECK-NOT: nvvm.vote.sync
// CHECK: return
!s = !attn.tile<64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>
!r = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!st = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = rows>>
!t = memref<?x?x8x32xf32>
func.func @halves(%n: index, %i: index, %c: f32, %o: !t) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %s = attn.load_tile %o[%b, %i, %b] : !t -> !s
      %st = attn.softmax_init : !st
      %st1, %rebased, %alpha = attn.softmax_rebase %st, %s scale(%c) : !st, !s -> !r
      %st2, %p = attn.softmax_add %st1, %rebased scale(%c) : !st, !s
      %q = attn.rescale %p, %alpha : !s, !r
      attn.store_tile %q, %o[%b, %i, %b] : !s, !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma, lazy_rescale = false>, attn.smem_bytes = 0 : i64}
  return
}
