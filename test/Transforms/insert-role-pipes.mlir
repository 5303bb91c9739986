// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles},func.func(attn-overlap-softmax,attn-persist,attn-start-products,attn-insert-pipes,attn-verify-pipes),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// Every load becomes a fill and a wait in its place, with a running number of its tile. A stage is
// released once the product that reads it is done; O leaves through Q's buffer.
// CHECK-LABEL: func @one_loop
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: scf.forall
// CHECK: %[[PQ:.*]] = attn.pipe_create readers(8) : <<128x64xf16>, stages = 1>
// CHECK: %[[PK:.*]] = attn.pipe_create readers(8) : <<64x64xf16>, stages = 3>
// CHECK: %[[PV:.*]] = attn.pipe_create readers(8) : <<64x64xf16>, stages = 3>
// CHECK: attn.pipe_acquire %[[PQ]][%[[C0]]]
// CHECK: attn.copy_tile %arg0[{{.*}}] limit({{.*}}) into %[[PQ]][%[[C0]]]
// CHECK: attn.pipe_commit %[[PQ]]
// CHECK: %[[Q:.*]] = attn.pipe_wait %[[PQ]][%[[C0]]] pending(0)
// CHECK: %[[FULL:.*]]:4 = scf.for %[[J:[^ ]*]] = {{.*}} iter_args(%{{.*}}, %{{.*}}, %[[IK:.*]] = %[[C0]], %[[IV:.*]] = %[[C0]])
// CHECK:   attn.pipe_acquire %[[PK]][%[[IK]]]
// CHECK:   attn.copy_tile %arg1[%{{.*}}, %[[J]], %{{.*}}] {{.*}} into %[[PK]][%[[IK]]]
// CHECK:   %[[K:.*]] = attn.pipe_wait %[[PK]][%[[IK]]]
// CHECK:   %[[NEXTK:.*]] = arith.addi %[[IK]], %{{.*}}
// CHECK:   %[[SF:.*]] = attn.mma_start %[[Q]], %[[K]] transpose_b
// CHECK:   attn.mma_wait %[[SF]]
// CHECK-NEXT: attn.pipe_release %[[PK]][%[[IK]]]
// CHECK:   %[[V:.*]] = attn.pipe_wait %[[PV]][%[[IV]]]
// CHECK:   %[[NEXTV:.*]] = arith.addi %[[IV]], %{{.*}}
// CHECK:   %[[OF:.*]] = attn.mma_start %{{.*}}, %[[V]]
// CHECK:   attn.mma_wait %[[OF]]
// CHECK-NEXT: attn.pipe_release %[[PV]][%[[IV]]]
// CHECK:   scf.yield %{{.*}}, %{{.*}}, %[[NEXTK]], %[[NEXTV]]
// The second loop goes on counting.
// CHECK: scf.for {{.*}}%[[FULL]]#2{{.*}}%[[FULL]]#3
// CHECK: attn.bulk_store %{{.*}} via %[[Q]], %arg3[
// CHECK: attn.pipe_release %[[PQ]][%[[C0]]]
func.func @one_loop(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 3, instruction = wgmma>)
  return
}

// -----

// Counters run through the loop over tiles and through the conditional of the overlap.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @nested
// CHECK: scf.for {{.*}} iter_args(%[[NQ:.*]] = %c0, %[[NK:.*]] = %c0, %[[NV:.*]] = %c0) -> (index, index, index) {
// CHECK:   attn.pipe_wait %{{.*}}[%[[NQ]]]
// CHECK:   %[[Q1:.*]] = arith.addi %[[NQ]], %c1
// CHECK:   %[[IF:.*]]:4 = scf.if
// CHECK:     attn.pipe_wait %[[PK:.*]][%[[NK]]]
// CHECK:     %[[N1:.*]] = arith.addi %[[NK]], %c1
// CHECK:     scf.for {{.*}} = %[[N1]], %{{.*}} = %[[NV]])
// CHECK:     scf.yield
// CHECK:   } else {
// CHECK:     scf.yield %{{.*}}, %{{.*}}, %[[NK]], %[[NV]]
// CHECK:   }
// CHECK:   scf.yield %[[Q1]], %[[IF]]#2, %[[IF]]#3
func.func @nested(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, overlap = true,
              persistent = static>)
  return
}

// -----

// O of another type or a wider head dim has no place in Q's buffer and is stored as it is.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!w = memref<?x?x8x128xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @wide_v
// CHECK-NOT: attn.bulk_store
// CHECK: attn.store_tile
func.func @wide_v(%q: !t, %k: !t, %v: !w, %o: !w, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !w) outs(%o : !w) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma>)
  return
}

// -----

// Q in registers: read once from its buffer, for all products of the tile. O still leaves through it.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @q_in_registers
// CHECK: %[[Q:.*]] = attn.pipe_wait %{{.*}} -> <128x64xf16>
// CHECK: %[[FRAGMENTS:.*]] = attn.local_load %[[Q]] : <128x64xf16> -> <128x64xf16>
// CHECK: scf.for
// CHECK:   attn.mma_start %[[FRAGMENTS]], %{{.*}} transpose_b
// CHECK-NOT: attn.mma_start %[[Q]]
// CHECK: attn.bulk_store %{{.*}} via %[[Q]], %arg3[
func.func @q_in_registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 3, instruction = wgmma, q_in_registers = true>)
  return
}

// -----

// Tiles that are drawn: counters run through the condition of the loop, which passes them on, and
// through its body. A store through Q's buffer is waited for before the buffer is released.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @drawn
// CHECK: %[[PQ:.*]] = attn.pipe_create readers(8) : <<128x64xf16>, stages = 2>
// CHECK: %[[PK:.*]] = attn.pipe_create readers(8) : <<64x64xf16>, stages = 3>
// CHECK: %[[PV:.*]] = attn.pipe_create readers(8) : <<64x64xf16>, stages = 3>
// CHECK: %[[MAILBOX:.*]] = attn.mailbox_create
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[ROUND:.*]] = %c0, %[[IQ:.*]] = %c0, %[[IK:.*]] = %c0, %[[IV:.*]] = %c0) : (i32, index, index, index, index) -> (index, index, index, index, index, index, index) {
// CHECK:   %[[IDS:.*]]:3 = attn.mailbox_pass %[[MAILBOX]][%[[ROUND]]]
// CHECK:   scf.condition(%{{.*}}) %[[ROUND]], %[[IDS]]#0, %[[IDS]]#1, %[[IDS]]#2, %[[IQ]], %[[IK]], %[[IV]]
// CHECK: } do {
// CHECK: ^bb0(%[[THIS:.*]]: index, %[[BATCH:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[NQ:.*]]: index, %[[NK:.*]]: index, %[[NV:.*]]: index):
// CHECK:   attn.pipe_acquire %[[PQ]][%[[NQ]]]
// CHECK:   attn.copy_tile %arg0[%[[BATCH]], {{.*}} into %[[PQ]][%[[NQ]]]
// CHECK:   %[[Q:.*]] = attn.pipe_wait %[[PQ]][%[[NQ]]]
// CHECK:   %[[NEXTQ:.*]] = arith.addi %[[NQ]], %c1
// CHECK:   %[[FULL:.*]]:4 = scf.for {{.*}} = %[[NK]], %{{.*}} = %[[NV]])
// CHECK:   %[[MASKED:.*]]:4 = scf.for {{.*}} = %[[FULL]]#2, %{{.*}} = %[[FULL]]#3)
// CHECK:   attn.bulk_store %{{.*}} via %[[Q]], %arg3[
// CHECK-NEXT: attn.bulk_store_wait %[[Q]]
// CHECK-NEXT: attn.pipe_release %[[PQ]][%[[NQ]]]
// CHECK-NEXT: %[[TILE:.*]] = attn.next_tile %arg5
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[THIS]], %c1
// CHECK-NEXT: scf.yield %[[TILE]], %[[NEXT]], %[[NEXTQ]], %[[MASKED]]#2, %[[MASKED]]#3
func.func @drawn(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 3, instruction = wgmma, persistent = dynamic,
              q_stages = 2>)
  return
}

// -----

// A loop's own results stay the first ones: the numbers of rounds that this one leaves, as index and
// as i32, which is not what it carries.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!s = !attn.tile<64x64xf32>
// CHECK-LABEL: func @results
// CHECK: %[[P:.*]] = attn.pipe_create readers(4)
// CHECK: %[[LOOP:.*]]:3 = scf.while (%[[N:.*]] = %c0, %[[I:.*]] = %c0) : (index, index) -> (index, i32, index) {
// CHECK:   scf.condition(%{{.*}}) %[[N]], %{{.*}}, %[[I]] : index, i32, index
// CHECK: ^bb0(%[[BN:.*]]: index, %{{.*}}: i32, %[[BI:.*]]: index):
// CHECK:   attn.pipe_wait %[[P]][%[[BI]]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[BI]], %c1
// CHECK:   scf.yield %{{.*}}, %[[NEXT]] : index, index
// CHECK: memref.store %[[LOOP]]#0, %arg2[
// CHECK: memref.store %[[LOOP]]#1, %arg3[
func.func @results(%k: !t, %n: index, %rounds: memref<?xindex>, %narrow: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = attn.fill 0.0 : !s
  scf.forall (%cta) in (%n) {
    %r:2 = scf.while (%round = %c0) : (index) -> (index, i32) {
      %more = arith.cmpi slt, %round, %n : index
      %round32 = arith.index_cast %round : index to i32
      scf.condition(%more) %round, %round32 : index, i32
    } do {
    ^bb0(%round: index, %round32: i32):
      %t = attn.load_tile %k[%cta, %round, %c0] limit(%n) : !t -> !attn.tile<64x64xf16>
      %f = attn.mma_start %t, %t transpose_b : !attn.tile<64x64xf16>, !attn.tile<64x64xf16> -> !attn.in_flight<!s>
      %p = attn.mma_wait %f pending(0) : !attn.in_flight<!s> -> !s
      attn.store_tile %p, %k[%cta, %round, %c0] : !s, !t
      %next = arith.addi %round, %c1 : index
      scf.yield %next : index
    }
    memref.store %r#0, %rounds[%cta] : memref<?xindex>
    memref.store %r#1, %narrow[%cta] : memref<?xi32>
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>}
  return
}

// -----

// Q has its own number of stages.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @q_stages
// CHECK: attn.pipe_create readers(8) : <<128x64xf16>, stages = 3>
// CHECK-NEXT: attn.pipe_create readers(8) : <<64x64xf16>, stages = 2>
// CHECK-NEXT: attn.pipe_create readers(8) : <<64x64xf16>, stages = 2>
func.func @q_stages(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, persistent = static,
              q_stages = 3>)
  return
}

// -----

// Threads that copy: half of the producer fills K's pipe, the other half those of Q and V. What
// tensor maps do not take is stored from registers.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @cp_async
// CHECK: %[[PQ:.*]] = attn.pipe_create readers(8) writers(2 from 2) : <<128x64xf16>, stages = 1>
// CHECK: %[[PK:.*]] = attn.pipe_create readers(8) writers(2 from 0) : <<64x64xf16>, stages = 2>
// CHECK: %[[PV:.*]] = attn.pipe_create readers(8) writers(2 from 2) : <<64x64xf16>, stages = 2>
// CHECK: attn.copy_tile %arg0[{{.*}} into %[[PQ]]{{.*}} alignment(4)
// CHECK: attn.copy_tile %arg1[{{.*}} into %[[PK]]{{.*}} alignment(4)
// CHECK: attn.copy_tile %arg2[{{.*}} into %[[PV]]{{.*}} alignment(4)
// CHECK-NOT: attn.bulk_store
// CHECK: attn.store_tile
func.func @cp_async(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(4)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, producer = cp_async>)
  return
}

// -----

// One tensor as Q, K and V: a pipe for each.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @one_tensor
// CHECK-COUNT-3: attn.pipe_create
// CHECK-NOT: attn.pipe_create
func.func @one_tensor(%t: !t, %o: !t, %s: f32) {
  attn.forward ins(%t, %t, %t : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 64, kv_tile = 64, stages = 2, instruction = wgmma, overlap = true>)
  return
}

// -----

// Q by warpgroups: two parts of 64 rows, each a fill of its own that the four warps of its warpgroup
// release. Fills count parts; the wait and the release count tiles.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @by_warpgroup
// CHECK: %[[PQ:.*]] = attn.pipe_create readers(4) : <<128x64xf16>, stages = 3, parts = 2>
// CHECK: attn.pipe_create readers(8) : <<64x64xf16>, stages = 2>
// CHECK: scf.for {{.*}} iter_args(%[[I:.*]] = %c0, %{{.*}} = %c0, %{{.*}} = %c0)
// CHECK:   %[[ROW:.*]] = arith.muli %{{.*}}, %c128
// CHECK:   %[[FIRST:.*]] = arith.muli %[[I]], %c2
// CHECK:   attn.pipe_acquire %[[PQ]][%[[FIRST]]]
// CHECK:   attn.copy_tile %arg0[%{{.*}}, %[[ROW]], %{{.*}}] {{.*}} into %[[PQ]][%[[FIRST]]]
// CHECK:   attn.pipe_commit %[[PQ]]
// CHECK:   %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK:   %[[ROW64:.*]] = arith.addi %[[ROW]], %c64
// CHECK:   attn.pipe_acquire %[[PQ]][%[[SECOND]]]
// CHECK:   attn.copy_tile %arg0[%{{.*}}, %[[ROW64]], %{{.*}}] {{.*}} into %[[PQ]][%[[SECOND]]]
// CHECK:   attn.pipe_commit %[[PQ]]
// CHECK:   %[[Q:.*]] = attn.pipe_wait %[[PQ]][%[[I]]] {{.*}} -> <128x64xf16>
// CHECK:   attn.bulk_store %{{.*}} via %[[Q]], %arg3[
// CHECK:   attn.pipe_release %[[PQ]][%[[I]]]
func.func @by_warpgroup(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, stages = 2, instruction = wgmma, persistent = static,
              q_stages = 3, q_by_warpgroup = true>)
  return
}
