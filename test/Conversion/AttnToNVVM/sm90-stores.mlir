// Results that no tensor map stores, and masks: a warp has 16 rows, wherever its warpgroup is. Roles
// have no scratch: pairs of columns go straight from registers, and no CTA barrier stands in a role.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: nvvm.barrier0
// CHECK-NOT: nvvm.barrier
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
// CHECK: %[[IN_QUAD:.*]] = arith.andi %[[LANE]], %c3_i32
// One lane of the four stores a row's log-sum-exp.
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[IN_QUAD]], %c0_i32
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK:   %[[FIRST:.*]] = arith.muli %[[WARP]], %c16_i32
// CHECK:   %[[QUAD:.*]] = arith.divui %[[LANE]], %c4_i32
// CHECK:   %[[ROW:.*]] = arith.addi %[[FIRST]], %[[QUAD]]
// CHECK:   arith.cmpi slt, %[[ROW]],
// CHECK:   llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK:   %[[LOWER:.*]] = arith.addi %[[ROW]], %c8_i32
// CHECK:   arith.cmpi slt, %[[LOWER]],
// CHECK:   llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT: !llvm.ptr<3>
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK-NOT: nvvm.barrier
// CHECK: return
!o = !attn.tile<128x16xf32, #attn.fragment<acc, warps = 8, split = rows>>
!r = !attn.tile<128xf32, #attn.fragment<acc, warps = 8, split = rows>>
!t = memref<?x?x8x16xf16, strided<[?, ?, ?, 1]>>
func.func @rows(%O: !t, %lse: memref<?x8x?xf32>, %n: index, %row: index, %h: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      %o = attn.fill 2.0 : !o
      %l = attn.fill 3.0 : !r
      attn.store_tile %l, %lse[%b, %row, %h] : !r, memref<?x8x?xf32>
      attn.store_tile %o, %O[%b, %row, %h] : !o, !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 0 : i64, attn.alignment = 16 : i64}
  return
}

// -----

// The end of row i is i + seq_len_kv - seq_len_q + 1, counted from the lane's first column; each
// score is one comparison of it with a constant.
// CHECK-LABEL: func.func @causal
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[PAIR:.*]] = arith.muli %{{.*}}, %c2_i32
// CHECK: %[[THREADKEY:.*]] = arith.addi %{{.*}}, %[[PAIR]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]], %c16_i32
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]],
// CHECK: %[[END0:.*]] = arith.subi %{{.*}}, %[[THREADKEY]]
// CHECK: arith.addi %[[ROW]], %c8_i32
// CHECK: %[[END1:.*]] = arith.subi %{{.*}}, %[[THREADKEY]]
// CHECK: arith.cmpi sgt, %[[END0]], %c0_i32
// CHECK-NEXT: arith.select %{{.*}}, %[[SCORE:.*]], %[[MINUSINF:.*]] : f32
// CHECK-NEXT: arith.cmpi sgt, %[[END0]], %c1_i32
// CHECK-NEXT: arith.select %{{.*}}, %[[SCORE]], %[[MINUSINF]]
// CHECK-NEXT: arith.cmpi sgt, %[[END1]], %c0_i32
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpi sgt, %[[END1]], %c1_i32
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpi sgt, %[[END0]], %c8_i32
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpi sgt, %[[END0]], %c9_i32
// CHECK: return
!s = !attn.tile<128x16xf32, #attn.fragment<acc, warps = 8, split = rows>>
!t = memref<?x?x8x16xf32>
func.func @causal(%O: !t, %n: index, %row: index, %key: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      %s = attn.fill 2.0 : !s
      %m = attn.mask_scores %s rows(%row) keys(%key) lengths(%n, %n) mask(#attn.causal<bottom_right>) : !s
      attn.store_tile %m, %O[%b, %row, %b] : !s, !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 0 : i64}
  return
}
