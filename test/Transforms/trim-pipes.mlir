// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// DEFINE: %{pipes} = func.func(attn-overlap-softmax,attn-persist,attn-start-products,attn-insert-pipes,attn-assign-roles),canonicalize,cse
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},%{pipes})" | FileCheck %s --check-prefix=BEFORE
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},%{pipes},func.func(attn-trim-pipes))" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// BEFORE-NOT: synced

// The first fills wait for nobody; those in loops do. Q is filled once: nobody waits for its release.
// CHECK-LABEL: func @one_tile
// CHECK: %[[PQ:.*]] = attn.pipe_create
// CHECK: %[[PK:.*]] = attn.pipe_create
// CHECK: %[[PV:.*]] = attn.pipe_create
// CHECK: attn.pipe_acquire %[[PQ]][%c0] synced
// CHECK: attn.pipe_acquire %[[PK]][%c0] synced
// CHECK-NOT: synced
// CHECK: } consumer
// CHECK: attn.pipe_release %[[PK]]
// CHECK: scf.for
// CHECK: attn.pipe_release %[[PK]]
// CHECK: attn.pipe_release %[[PV]]
// CHECK: attn.mask_class
// CHECK: attn.mask_class
// CHECK: attn.pipe_release %[[PV]]
// CHECK-NOT: attn.pipe_release
func.func @one_tile(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true>)
  return
}

// Persistent CTAs count on from tile to tile: nothing is known of a fill, and every release counts.
// CHECK-LABEL: func @persistent
// CHECK: %[[PQ:.*]] = attn.pipe_create
// CHECK-NOT: synced
// CHECK: } consumer
// CHECK: attn.pipe_release %[[PQ]]
func.func @persistent(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true,
              persistent = static>)
  return
}
