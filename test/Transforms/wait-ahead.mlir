// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// DEFINE: %{pipes} = func.func(attn-overlap-softmax,attn-start-products,attn-insert-pipes,attn-assign-roles)
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},%{pipes},func.func(attn-wait-ahead),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// Tiles of the next step are waited for before the last wait for products. K of the next step
// comes only if there is one; V, which the product after the loops also reads, always does.
// CHECK-LABEL: func @hoisted
// CHECK: %[[PQ:.*]] = attn.pipe_create
// CHECK: %[[PK:.*]] = attn.pipe_create
// CHECK: %[[PV:.*]] = attn.pipe_create
// CHECK: } consumer
// CHECK: attn.pipe_wait %[[PQ]]
// CHECK: attn.pipe_wait %[[PK]]
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: attn.pipe_ready %[[PK]][%c1]
// CHECK-NEXT: }
// CHECK-NEXT: attn.pipe_ready %[[PV]][%c0]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[UPPER:.*]] step %[[STEP:[^ ]*]] iter_args
// CHECK-NOT: attn.pipe_wait
// CHECK:   attn.pipe_tile %[[PK]][%[[ITK:.*]]]
// CHECK:   attn.pipe_tile %[[PV]][%[[ITV:.*]]]
// CHECK:   attn.mma_wait %{{.*}} pending(1)
// CHECK:   %[[NEXT:.*]] = arith.addi %[[J]], %[[STEP]]
// CHECK:   %[[INLOOP:.*]] = arith.cmpi slt, %[[NEXT]], %[[UPPER]]
// CHECK:   %[[MORE:.*]] = arith.ori %[[INLOOP]], %{{.*}} : i1
// CHECK:   scf.if %[[MORE]] {
// CHECK-NEXT: attn.pipe_ready %[[PK]]
// CHECK-NEXT: }
// CHECK:   attn.pipe_ready %[[PV]]
// CHECK:   attn.mma_wait %{{.*}} pending(0)
// CHECK:   scf.yield
// CHECK: attn.pipe_tile %[[PV]]
// CHECK-NOT: attn.pipe_wait
func.func @hoisted(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true>)
  return
}

// A ring of one buffer is not filled for the next step while this one reads it.
// CHECK-LABEL: func @one_stage
// CHECK-NOT: attn.pipe_ready
// CHECK-NOT: attn.pipe_tile
func.func @one_stage(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 1, instruction = wgmma, overlap = true>)
  return
}

// CHECK-LABEL: func @off
// CHECK-NOT: attn.pipe_ready
// CHECK-NOT: attn.pipe_tile
func.func @off(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma>)
  return
}
