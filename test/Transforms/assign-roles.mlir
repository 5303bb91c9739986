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

// Persistent CTAs: the producer finds the ids of a tile and puts them into the mailbox, which stands
// above the roles; the consumers get them from there and have none of the arithmetic.
// CHECK-LABEL: func @told
// CHECK: scf.forall (%[[CTA:.*]]) in
// CHECK: %[[MAILBOX:.*]] = attn.mailbox_create
// CHECK: attn.roles producer
// CHECK:   %[[ROUNDS:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:   scf.for %[[ROUND:.*]] = %c0 to %[[ROUNDS]] step %c1
// CHECK:     arith.divui %{{.*}} : i32
// CHECK:     arith.remui %{{.*}} : i32
// CHECK:     %[[B:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:     %[[H:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:     %[[I:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK:     attn.mailbox_put %[[MAILBOX]][%[[ROUND]]] (%[[B]], %[[H]], %[[I]])
// CHECK:     attn.copy_tile %arg0[%[[B]], %{{.*}}, %[[H]]]
// CHECK-NOT: attn.mailbox
// CHECK-NOT: attn.bulk_store
// CHECK: } consumer warps(8)
// CHECK:   scf.for %[[ROUND:.*]] = %c0 to %{{.*}} step %c1
// CHECK-NEXT: %[[IDS:.*]]:3 = attn.mailbox_get %[[MAILBOX]][%[[ROUND]]]
// CHECK-NOT: i32
// CHECK:     %[[ROW:.*]] = arith.muli %[[IDS]]#2, %c128
// CHECK:     attn.bulk_store %{{.*}}, %arg3[%[[IDS]]#0, %[[ROW]], %[[IDS]]#1]
// CHECK-NEXT: attn.bulk_store_wait
// CHECK-NOT: attn.mailbox
// CHECK: return
func.func @told(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true,
              persistent = static>)
  return
}

// Tiles that are drawn: both roles run the loop until the message says that there is no tile left.
// Only the producer draws and carries the tile's number; only the consumers carry tiles.
// CHECK-LABEL: func @drawn
// CHECK: scf.forall (%[[CTA:.*]]) in
// CHECK: %[[PQ:.*]] = attn.pipe_create
// CHECK: %[[MAILBOX:.*]] = attn.mailbox_create
// CHECK: attn.roles producer
// CHECK:   %[[FIRST:.*]] = arith.index_cast %[[CTA]] : index to i32
// CHECK:   scf.while (%[[TILE:.*]] = %[[FIRST]], %[[ROUND:.*]] = %c0, %{{.*}} = %c0, %{{.*}} = %c0, %{{.*}} = %c0) : (i32, index, index, index, index)
// CHECK:     %[[B:.*]] = arith.select %{{.*}}, %{{.*}}, %c-1 : index
// CHECK:     attn.mailbox_put %[[MAILBOX]][%[[ROUND]]] (%[[B]], %{{.*}}, %{{.*}})
// CHECK:     %[[MORE:.*]] = arith.cmpi sge, %[[B]], %c0
// CHECK:     scf.condition(%[[MORE]]) %[[ROUND]], %[[B]]
// CHECK:   } do {
// CHECK-NEXT: ^bb0(%[[THIS:.*]]: index, %[[BATCH:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[NQ:.*]]: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:     attn.copy_tile %arg0[%[[BATCH]], {{.*}} into %[[PQ]][%[[NQ]]]
// CHECK:     %[[NEXTQ:.*]] = arith.addi %[[NQ]], %c1
// CHECK:     %[[DRAWN:.*]] = attn.next_tile %arg5
// CHECK:     %[[NEXT:.*]] = arith.addi %[[THIS]], %c1
// CHECK:     scf.yield %[[DRAWN]], %[[NEXT]], %[[NEXTQ]], %{{.*}}, %{{.*}} : i32, index, index, index, index
// CHECK: } consumer warps(8)
// CHECK-NOT: attn.next_tile
// CHECK-NOT: i32
// CHECK:   scf.while (%[[ROUND:.*]] = %c0, %{{.*}} = %c0, %{{.*}} = %c0, %{{.*}} = %c0) : (index, index, index, index) -> (index, index, index, index, index, index, index) {
// CHECK-NEXT: %[[IDS:.*]]:3 = attn.mailbox_get %[[MAILBOX]][%[[ROUND]]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi sge, %[[IDS]]#0, %c0
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[ROUND]], %[[IDS]]#0, %[[IDS]]#1, %[[IDS]]#2
// CHECK:   } do {
// CHECK-NEXT: ^bb0(%[[THIS:.*]]: index, %[[BATCH:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[NQ:.*]]: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:     attn.pipe_wait %[[PQ]][%[[NQ]]]
// CHECK-NOT: i32
// CHECK:     attn.bulk_store %{{.*}}, %arg3[%[[BATCH]],
// CHECK-NOT: attn.next_tile
// CHECK:     %[[NEXT:.*]] = arith.addi %[[THIS]], %c1
// CHECK:     scf.yield %[[NEXT]], %{{.*}}, %{{.*}}, %{{.*}} : index, index, index, index
func.func @drawn(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true,
              persistent = dynamic>)
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
