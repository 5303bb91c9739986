// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// DEFINE: %{pipes} = func.func(attn-overlap-softmax,attn-persist,attn-start-products,attn-pingpong,attn-insert-pipes)
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},%{pipes},func.func(attn-assign-roles,attn-verify-pipes),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// The producer keeps the loops, the counters and the copies: K of a step before V of the one
// before it, as the products ask for them. Everything with tiles is the consumer's.
// CHECK-LABEL: func @roles
// CHECK: scf.forall
// CHECK: %[[PQ:.*]] = attn.pipe_create
// CHECK: %[[PK:.*]] = attn.pipe_create
// CHECK: %[[PV:.*]] = attn.pipe_create
// CHECK: attn.roles producer registers(24) {
// CHECK-NOT: attn.{{fill|tile_mma|mma_start|softmax|pipe_wait|pipe_tile}}
// CHECK:   attn.copy_tile %arg0[{{.*}} into %[[PQ]]
// CHECK:   scf.if %{{.*}} {
// CHECK:     attn.copy_tile %arg1[{{.*}} into %[[PK]]
// CHECK:     scf.for %{{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}) -> (index, index, index) {
// CHECK:       attn.copy_tile %arg1[{{.*}} into %[[PK]]
// CHECK:       attn.copy_tile %arg2[{{.*}} into %[[PV]]
// CHECK:     }
// CHECK:     attn.copy_tile %arg2[{{.*}} into %[[PV]]
// CHECK-NOT: attn.pipe_wait
// CHECK-NOT: attn.turn
// CHECK-NOT: attn.store_tile
// CHECK: } consumer warps(8) registers(240) {
// CHECK-NOT: attn.copy_tile
// CHECK-NOT: attn.pipe_acquire
// CHECK-NOT: attn.pipe_commit
// CHECK:   attn.turns_begin
// CHECK:   %[[Q:.*]] = attn.pipe_wait %[[PQ]]
// CHECK:   scf.if
// CHECK:     attn.pipe_wait %[[PK]]
// CHECK:     attn.mma_start %[[Q]]
// CHECK:     scf.for
// CHECK:       attn.turn_wait
// CHECK:       attn.mma_start
// CHECK:       attn.turn_pass
// CHECK:       attn.pipe_release %[[PK]]
// CHECK:       attn.pipe_release %[[PV]]
// CHECK:   attn.bulk_store
// CHECK:   attn.pipe_release %[[PQ]]
// CHECK:   attn.turns_end
// CHECK: }
func.func @roles(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true,
              pingpong = true, producer_registers = 24, consumer_registers = 240>)
  return
}

// Without wgmma all warps do everything.
// CHECK-LABEL: func @off
// CHECK-NOT: attn.roles
// CHECK: attn.copy_tile
// CHECK: attn.tile_mma
// CHECK: return
func.func @off(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 4, stages = 2, instruction = mma>)
  return
}

// A warpgroup copies where its threads do. The roles are the same.
// CHECK-LABEL: func @threads_copy
// CHECK: attn.roles producer warps(4) registers(40) {
// CHECK:   attn.pipe_acquire
// CHECK-NEXT: attn.copy_tile
// CHECK-NEXT: attn.pipe_commit
// CHECK: } consumer warps(8) registers(232) {
func.func @threads_copy(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(8)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true,
              producer = cp_async, producer_registers = 40, consumer_registers = 232>)
  return
}
