// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles})" | FileCheck %s --check-prefix=BEFORE
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles},func.func(attn-insert-pipes,attn-verify-pipes),canonicalize,cse)" | FileCheck %s

// BEFORE-NOT: attn.pipe

// One stage: K(j + 1) is copied during P V, V(j) during Q K^T. Before the loop Q and the first K
// are on their way, so Q waits with one group pending.
// CHECK-LABEL: func @one_stage
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[SQ:.*]] = memref.dim %arg0, %[[C1]]
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %{{.*}}) in
// CHECK: %[[SK:.*]] = memref.dim %arg1, %[[C1]]
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK-NOT: attn.load_tile
// CHECK: %[[PQ:.*]] = attn.pipe_create : <<64x64xf16>, stages = 1>
// CHECK: attn.pipe_acquire %[[PQ]][%[[C0]]] synced
// CHECK: %[[HASROWS:.*]] = arith.cmpi slt, %[[ROW]], %[[SQ]]
// CHECK: scf.if %[[HASROWS]] {
// CHECK:   attn.copy_tile %arg0[%[[B]], %[[ROW]], %[[H]]] limit(%[[SQ]]) into %[[PQ]][%[[C0]]] alignment(16)
// CHECK: }
// CHECK: attn.pipe_commit %[[PQ]]
// CHECK: %[[PK:.*]] = attn.pipe_create : <<32x64xf16>, stages = 1>
// CHECK: %[[PV:.*]] = attn.pipe_create : <<32x64xf16>, stages = 1>
// CHECK: attn.pipe_acquire %[[PK]][%[[C0]]] synced
// CHECK: attn.copy_tile %arg1[%[[B]], %[[C0]], %[[H]]] limit(%[[SK]]) into %[[PK]][%[[C0]]] alignment(16)
// CHECK: attn.pipe_commit %[[PK]]
// CHECK-NOT: attn.pipe_acquire
// CHECK: %[[Q:.*]] = attn.pipe_wait %[[PQ]][%[[C0]]] pending(1)
// CHECK: scf.for %[[J:[^ ]*]] = %[[C0]] to %{{.*}} step %[[C32]]
// CHECK:   %[[IT:.*]] = arith.divui %[[J]], %[[C32]]
// CHECK:   %[[K:.*]] = attn.pipe_wait %[[PK]][%[[IT]]] pending(0)
// CHECK:   attn.pipe_acquire %[[PV]][%[[IT]]] synced
// CHECK:   %[[INSIDE:.*]] = arith.cmpi slt, %[[J]], %[[SK]]
// CHECK:   scf.if %[[INSIDE]] {
// CHECK:     attn.copy_tile %arg2[%[[B]], %[[J]], %[[H]]] limit(%[[SK]]) into %[[PV]][%[[IT]]]
// CHECK:   }
// CHECK:   attn.pipe_commit %[[PV]]
// CHECK:   attn.tile_mma %[[Q]], %[[K]], %{{.*}} transpose_b
// CHECK:   attn.pipe_release %[[PK]][%[[IT]]]
// CHECK:   %[[V:.*]] = attn.pipe_wait %[[PV]][%[[IT]]] pending(0)
// CHECK:   %[[NEXT:.*]] = arith.addi %[[IT]], %[[C1]]
// CHECK:   %[[JNEXT:.*]] = arith.addi %[[J]], %[[C32]]
// CHECK:   attn.pipe_acquire %[[PK]][%[[NEXT]]] synced
// CHECK:   %[[MORE:.*]] = arith.cmpi slt, %[[JNEXT]], %[[SK]]
// CHECK:   scf.if %[[MORE]] {
// CHECK:     attn.copy_tile %arg1[%[[B]], %[[JNEXT]], %[[H]]] limit(%[[SK]]) into %[[PK]][%[[NEXT]]]
// CHECK:   }
// CHECK:   attn.pipe_commit %[[PK]]
// CHECK:   attn.tile_mma %{{.*}}, %[[V]], %{{.*}} : <64x32xf16>
// CHECK:   attn.pipe_release %[[PV]][%[[IT]]]
// CHECK: } {attn.kv_pass = 0 : i64, attn.mask_class = "full"}
// The second loop of the pass goes on with the same pipes.
// CHECK: scf.for %
// CHECK:   attn.pipe_wait %[[PK]]
// CHECK:   attn.pipe_wait %[[PV]]
// CHECK: } {attn.kv_pass = 0 : i64, attn.mask_class = "masked"}
// CHECK: attn.pipe_release %[[PQ]][%[[C0]]]
// CHECK-NOT: attn.pipe_create
!t = memref<?x?x8x64xf16>
func.func @one_stage(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
               schedule(<kv_tile = 32>)
  return
}

// -----

// Two stages: K0, V0, K1 ahead of the loop; each wait leaves one tile of K and one of V in flight.
// CHECK-LABEL: func @two_stages
// CHECK: %[[PQ:.*]] = attn.pipe_create : <<64x64xf16>, stages = 1>
// CHECK: attn.pipe_commit %[[PQ]]
// CHECK: %[[PK:.*]] = attn.pipe_create : <<32x64xf16>, stages = 2>
// CHECK: %[[PV:.*]] = attn.pipe_create : <<32x64xf16>, stages = 2>
// CHECK: attn.copy_tile %arg1[{{.*}}, %c0, {{.*}} into %[[PK]][%c0]
// CHECK: attn.copy_tile %arg2[{{.*}}, %c0, {{.*}} into %[[PV]][%c0]
// CHECK: attn.copy_tile %arg1[{{.*}}, %c32, {{.*}} into %[[PK]][%c1]
// CHECK-NOT: attn.copy_tile
// CHECK: attn.pipe_wait %[[PQ]][%c0] pending(3)
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK:   %[[IT:.*]] = arith.divui %[[J]], %c32
// CHECK:   attn.pipe_wait %[[PK]][%[[IT]]] pending(2)
// CHECK:   %[[N1:.*]] = arith.addi %[[IT]], %c1
// CHECK:   %[[J1:.*]] = arith.addi %[[J]], %c32
// CHECK:   attn.pipe_acquire %[[PV]][%[[N1]]] synced
// CHECK:   attn.copy_tile %arg2[{{.*}}, %[[J1]], {{.*}} into %[[PV]][%[[N1]]]
// CHECK:   attn.pipe_wait %[[PV]][%[[IT]]] pending(2)
// CHECK:   %[[N2:.*]] = arith.addi %[[IT]], %c2
// CHECK:   %[[J2:.*]] = arith.addi %[[J]], %c64
// CHECK:   attn.pipe_acquire %[[PK]][%[[N2]]] synced
// CHECK:   attn.copy_tile %arg1[{{.*}}, %[[J2]], {{.*}} into %[[PK]][%[[N2]]]
!t = memref<?x?x8x64xf16>
func.func @two_stages(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<kv_tile = 32, stages = 2>)
  return
}

// -----

// Three stages: five tiles ahead, four of them still in flight at each wait.
// CHECK-LABEL: func @three_stages
// CHECK: attn.pipe_commit
// CHECK-COUNT-5: attn.copy_tile
// CHECK-NOT: attn.copy_tile
// CHECK: attn.pipe_wait %{{.*}}[%c0] pending(5)
// CHECK: scf.for %
// CHECK-COUNT-2: attn.pipe_wait {{.*}} pending(4)
// CHECK-NOT: attn.pipe_wait
// CHECK: attn.mask_class = "full"
!t = memref<?x?x8x64xf16>
func.func @three_stages(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<kv_tile = 32, stages = 3>)
  return
}

// -----

// Fragments of Q are read once, before the loop.
// CHECK-LABEL: func @q_in_registers
// CHECK: %[[TILE:.*]] = attn.pipe_wait {{.*}} -> <64x64xf16>
// CHECK: %[[Q:.*]] = attn.local_load %[[TILE]]
// CHECK: scf.for %
// CHECK: attn.tile_mma %[[Q]], %{{.*}} transpose_b
!t = memref<?x?x8x64xf16>
func.func @q_in_registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<q_in_registers = true>)
  return
}

// -----

// Without tensor cores operands stay in shared memory.
// CHECK-LABEL: func @fma
// CHECK-NOT: attn.local_load
// CHECK: attn.pipe_wait
!t = memref<?x?x8x64xf32>
func.func @fma(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<instruction = fma>)
  return
}

// -----

// Each pass has its own pipes. Two of them read K alone: with one buffer the refill comes after
// the last read, and needs a barrier of its own.
// CHECK-LABEL: func @naive
// CHECK: attn.pipe_create : <<64x64xf16>, stages = 1>
// CHECK: %[[K0:.*]] = attn.pipe_create
// CHECK: scf.for %
// CHECK:   %[[T:.*]] = attn.pipe_wait %[[K0]][%[[IT:.*]]] pending(0)
// CHECK-NOT: attn.pipe_acquire
// CHECK:   attn.tile_mma %{{.*}}, %[[T]]
// CHECK:   attn.pipe_release %[[K0]][%[[IT]]]
// CHECK:   attn.pipe_acquire %[[K0]][%{{.*}}] : 
// CHECK:   attn.copy_tile
// CHECK: attn.kv_pass = 0
// CHECK: attn.pipe_create : <<64x64xf16>, stages = 1>
// CHECK: attn.pipe_create
// CHECK: attn.kv_pass = 1
// CHECK-COUNT-3: attn.pipe_create
// CHECK-NOT: attn.pipe_create
// CHECK: attn.kv_pass = 2
!t = memref<?x?x8x64xf16>
func.func @naive(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<algorithm = naive>)
  return
}

// -----

// A lone pipe of three stages: two tiles ahead, one of them in flight at the wait, whose barrier
// frees the third buffer.
// CHECK-LABEL: func @two_pass_three_stages
// CHECK: %[[K0:.*]] = attn.pipe_create : <<64x64xf16>, stages = 3>
// CHECK-COUNT-2: attn.copy_tile {{.*}} into %[[K0]]
// CHECK-NOT: attn.copy_tile
// CHECK: pending(2)
// CHECK: scf.for %
// CHECK: attn.pipe_wait %[[K0]][%[[IT:.*]]] pending(1)
// CHECK: %[[N:.*]] = arith.addi %[[IT]], %c2
// CHECK: attn.pipe_acquire %[[K0]][%[[N]]] synced
// CHECK: attn.kv_pass = 0
!t = memref<?x?x8x64xf16>
func.func @two_pass_three_stages(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<algorithm = two_pass, stages = 3>)
  return
}

// -----

// A window starts at its first tile: iterations count from there.
// CHECK-LABEL: func @window
// CHECK: scf.for %[[J:[^ ]*]] = %[[LO:[^ ]*]] to
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[J]], %[[LO]]
// CHECK: %[[IT:.*]] = arith.divui %[[DISTANCE]], %c64
// CHECK: attn.pipe_wait %{{.*}}[%[[IT]]]
// CHECK: attn.mask_class = "masked"
// CHECK: scf.for %[[J1:[^ ]*]] =
// CHECK: arith.subi %[[J1]], %[[LO]]
// CHECK: attn.mask_class = "full"
!t = memref<?x?x8x64xf16>
func.func @window(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.window<127, 0>) schedule(<>)
  return
}

// -----

// The merge of partial results has no loop over keys, hence no pipe.
// CHECK-LABEL: func @merge
// CHECK-NOT: attn.pipe
// CHECK: attn.load_tile
// CHECK-NOT: attn.pipe
func.func @merge(%po: memref<2x?x?x8x64xf32>, %pl: memref<2x?x8x?xf32>, %o: memref<?x?x8x64xf16>) {
  attn.merge_states ins(%po, %pl : memref<2x?x?x8x64xf32>, memref<2x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf16>) schedule(<>)
  return
}
