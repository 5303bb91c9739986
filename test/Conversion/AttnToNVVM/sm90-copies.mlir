// Copies by tensor map: one elected thread, one expectation of the bytes of all boxes, one box for
// each 64 columns at (column, row, head, batch); no multicast and no cache hint.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @one_box
// CHECK-SAME: (%{{.*}}: memref<{{[^%]*}}, %[[MAP:.*]]: !llvm.ptr {attn.tensor_map_of = 0 : i64}, %{{.*}}: index, %{{.*}}: index, %[[ROW:.*]]: index, %[[HEAD:.*]]: index)
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: %[[BATCH:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[STAGE:.*]] = arith.remui %{{.*}}, %c2_i32
// CHECK-DAG: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c6144_i32
// CHECK-DAG: %[[TILE:.*]] = arith.addi %[[BYTES]], %c1024_i32
// CHECK-DAG: %[[BARRIER:.*]] = arith.muli %[[STAGE]], %c8_i32
// CHECK-DAG: %[[PLACE:.*]] = arith.addi %[[BARRIER]], %c65536_i32
// CHECK-DAG: %[[FULL:.*]] = llvm.getelementptr %[[SMEM]][%[[PLACE]]]
// CHECK: %[[ROW32:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK: %[[HEAD32:.*]] = arith.index_cast %[[HEAD]] : index to i32
// CHECK: %[[ELECTED:.*]] = nvvm.elect.sync -> i1
// CHECK-NEXT: scf.if %[[ELECTED]] {
// CHECK-NEXT:   attn_nv.mbarrier_arrive %[[FULL]] expect_tx(%c6144_i32) : !llvm.ptr<3>
// CHECK-NEXT:   %[[TARGET:.*]] = llvm.getelementptr %[[SMEM]][%[[TILE]]]
// CHECK-NEXT:   %[[BOX:.*]] = llvm.addrspacecast %[[TARGET]] : !llvm.ptr<3> to !llvm.ptr<7>
// CHECK-NEXT:   nvvm.cp.async.bulk.tensor.shared.cluster.global %[[BOX]], %[[MAP]], %[[FULL]], box[%c0_i32, %[[ROW32]], %[[HEAD32]], %[[BATCH]]] : !llvm.ptr<7>, !llvm.ptr{{$}}
// CHECK-NEXT: }
!pipe = !attn.pipe<!attn.tile<48x64xf16, #attn.boxed>, stages = 2>
!map = !attn.tensor_map<48 x 64 x f16>
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @one_box(%k: !t, %m: !map {attn.tensor_map_of = 0 : i64}, %n: index, %it: index, %row: index, %head: index) {
  %c1 = arith.constant 1 : index
  %keys = memref.dim %k, %c1 : !t
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 1024 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
      attn.copy_tile %k[%b, %row, %head] limit(%keys) into %p[%it] alignment(16) map(%m : !map) : !t, !pipe
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65568 : i64}
  return
}

// -----

// 96 columns are two boxes, the second half outside of the tensor: its zeros count like bytes of
// memory. A box lies behind all rows of the one before.
// CHECK-LABEL: func.func @two_boxes
// CHECK: attn_nv.mbarrier_arrive %{{.*}} expect_tx(%c16384_i32)
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%c0_i32,
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK: %[[BOX:.*]] = llvm.addrspacecast %[[SECOND]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[BOX]], {{.*}} box[%c64_i32,
// CHECK-NOT: nvvm.cp.async
!pipe = !attn.pipe<!attn.tile<64x96xbf16, #attn.boxed>, stages = 2>
!map = !attn.tensor_map<64 x 64 x bf16>
!t = memref<?x?x8x96xbf16, strided<[?, ?, ?, 1]>>
func.func @two_boxes(%k: !t, %m: !map {attn.tensor_map_of = 0 : i64}, %n: index, %row: index) {
  %c1 = arith.constant 1 : index
  %keys = memref.dim %k, %c1 : !t
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
      attn.copy_tile %k[%b, %row, %b] limit(%keys) into %p[%row] alignment(16) map(%m : !map) : !t, !pipe
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65568 : i64}
  return
}

// -----

// One expectation for the four boxes of 256 columns, in a ring of one stage.
// CHECK-LABEL: func.func @four_boxes
// CHECK-COUNT-1: attn_nv.mbarrier_arrive %{{.*}} expect_tx(%c65536_i32)
// CHECK-NOT: attn_nv.mbarrier_arrive
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%c0_i32,
// CHECK: llvm.getelementptr %{{.*}}[16384]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%c64_i32,
// CHECK: llvm.getelementptr %{{.*}}[32768]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%c128_i32,
// CHECK: llvm.getelementptr %{{.*}}[49152]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%c192_i32,
// CHECK-NOT: nvvm.cp.async
!pipe = !attn.pipe<!attn.tile<128x256xf16, #attn.boxed>, stages = 1>
!map = !attn.tensor_map<128 x 64 x f16>
!t = memref<?x?x8x256xf16, strided<[?, ?, ?, 1]>>
func.func @four_boxes(%q: !t, %m: !map {attn.tensor_map_of = 0 : i64}, %n: index, %row: index) {
  %c1 = arith.constant 1 : index
  %queries = memref.dim %q, %c1 : !t
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(8) offset = 0 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
      attn.copy_tile %q[%b, %row, %b] limit(%queries) into %p[%row] alignment(16) map(%m : !map) : !t, !pipe
    } consumer warps(8) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 65552 : i64}
  return
}
