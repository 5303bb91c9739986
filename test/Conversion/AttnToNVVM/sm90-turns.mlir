// Turns of warpgroups: named barriers from 1 on, one for each warpgroup, of the two warpgroups that
// pass the turn and wait for it.
// RUN: attn-opt %s -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @turns
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: scf.if
// The last warpgroup passes the turn to the first.
// CHECK-NEXT: nvvm.setmaxregister
// CHECK-NEXT: %[[GROUP:.*]] = arith.divui %[[WARP]], %c4_i32
// CHECK-NEXT: %[[IS_LAST:.*]] = arith.cmpi eq, %[[GROUP]], %c2_i32
// CHECK-NEXT: scf.if %[[IS_LAST]] {
// CHECK-NEXT:   attn_nv.barrier_arrive %c1_i32, %c256_i32
// CHECK-NEXT: }
// Each waits at its own barrier.
// CHECK-NEXT: %[[OWN:.*]] = arith.addi %[[GROUP]], %c1_i32
// CHECK-NEXT: nvvm.barrier id = %[[OWN]] number_of_threads = %c256_i32
// It passes the turn to the next, the last one to the first.
// CHECK-NEXT: %[[NEXT:.*]] = arith.remui %[[OWN]], %c3_i32
// CHECK-NEXT: %[[OTHER:.*]] = arith.addi %[[NEXT]], %c1_i32
// CHECK-NEXT: attn_nv.barrier_arrive %[[OTHER]], %c256_i32
// The first takes the turn that is left over.
// CHECK-NEXT: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[GROUP]], %c0_i32
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NEXT:   nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
// CHECK-NEXT: }
// CHECK-NEXT: } else {
func.func @turns(%n: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(32) {
    } consumer warps(12) registers(160) {
      attn.turns_begin of(3)
      attn.turn_wait of(3)
      attn.turn_pass of(3)
      attn.turns_end of(3)
    }
  } {attn.schedule = #attn.schedule<q_tile = 192, warps = 12, instruction = wgmma>, attn.smem_bytes = 0 : i64}
  return
}
