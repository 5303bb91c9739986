// Pipes between roles: two mbarriers a stage, "full" with one arrival and "empty" with one of each
// reading warp; waits by the parity of the round.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @create
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NEXT:   %[[FULL0:.*]] = llvm.getelementptr %[[SMEM]][65536]
// CHECK-NEXT:   nvvm.mbarrier.init %[[FULL0]], %c1_i32
// CHECK-NEXT:   %[[FULL1:.*]] = llvm.getelementptr %[[SMEM]][65544]
// CHECK-NEXT:   nvvm.mbarrier.init %[[FULL1]], %c1_i32
// CHECK-NEXT:   %[[EMPTY0:.*]] = llvm.getelementptr %[[SMEM]][65552]
// CHECK-NEXT:   nvvm.mbarrier.init %[[EMPTY0]], %c8_i32
// CHECK-NEXT:   %[[EMPTY1:.*]] = llvm.getelementptr %[[SMEM]][65560]
// CHECK-NEXT:   nvvm.mbarrier.init %[[EMPTY1]], %c8_i32
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.fence.proxy
// CHECK-NEXT: nvvm.barrier0
// CHECK-NOT: nvvm.mbarrier.init
!pipe = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 2>
func.func @create(%n: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(8) offset = 0 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 65568 : i64}
  return
}

// -----

// A fill waits for "empty" with the other parity: nothing to wait for in the first round. A commit
// is nothing, for copies count themselves.
// CHECK-LABEL: func.func @acquire
// CHECK-SAME: (%{{.*}}: index, %[[IT:.*]]: index)
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: nvvm.setmaxregister decrease
// CHECK-NEXT: arith.cmpi eq
// CHECK-NEXT: scf.if
// CHECK-NEXT: %[[COUNT:.*]] = arith.index_cast %[[IT]] : index to i32
// CHECK-NEXT: %[[STAGE:.*]] = arith.remui %[[COUNT]], %c3_i32
// CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c8_i32
// CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[BYTES]], %c65536_i32
// CHECK-NEXT: %[[FULL:.*]] = llvm.getelementptr %[[SMEM]][%[[OFFSET]]]
// CHECK-NEXT: %[[EMPTY:.*]] = llvm.getelementptr %[[FULL]][24]
// CHECK-NEXT: %[[ROUND:.*]] = arith.divui %[[COUNT]], %c3_i32
// CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[ROUND]], %c1_i32
// CHECK-NEXT: %[[OTHER:.*]] = arith.xori %[[PARITY]], %c1_i32
// CHECK-NEXT: attn_nv.mbarrier_wait %[[EMPTY]], %[[OTHER]] : !llvm.ptr<3>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: return
!pipe = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 3>
func.func @acquire(%n: index, %it: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
      attn.pipe_acquire %p[%it] : !pipe
      attn.pipe_commit %p : !pipe
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65584 : i64}
  return
}

// -----

// A fill that needs no wait has none.
// CHECK-LABEL: func.func @synced
// CHECK-NOT: attn_nv.mbarrier_wait
// CHECK: return
!pipe = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 2>
func.func @synced(%n: index, %it: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
      attn.pipe_acquire %p[%it] synced : !pipe
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65568 : i64}
  return
}

// -----

// Readers wait for "full" with the round's own parity, at the tile or ahead of it. Lane 0 of a warp
// arrives at "empty"; the predicate is the instruction's.
// CHECK-LABEL: func.func @read
// CHECK-SAME: (%{{.*}}: index, %[[IT:.*]]: index, %[[AHEAD:.*]]: index)
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[NEXT:.*]] = arith.index_cast %[[AHEAD]] : index to i32
// CHECK: %[[ROUND1:.*]] = arith.divui %[[NEXT]], %c2_i32
// CHECK: %[[PARITY1:.*]] = arith.andi %[[ROUND1]], %c1_i32
// CHECK: attn_nv.mbarrier_wait %{{.*}}, %[[PARITY1]] : !llvm.ptr<3>
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[IT]] : index to i32
// CHECK: %[[STAGE:.*]] = arith.remui %[[COUNT]], %c2_i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c8_i32
// CHECK: %[[OFFSET:.*]] = arith.addi %[[BYTES]], %c65536_i32
// CHECK: %[[FULL:.*]] = llvm.getelementptr %[[SMEM]][%[[OFFSET]]]
// CHECK: %[[ROUND0:.*]] = arith.divui %[[COUNT]], %c2_i32
// CHECK: %[[PARITY0:.*]] = arith.andi %[[ROUND0]], %c1_i32
// CHECK: attn_nv.mbarrier_wait %[[FULL]], %[[PARITY0]] : !llvm.ptr<3>
// CHECK-NOT: scf.if
// CHECK: %[[EMPTY:.*]] = llvm.getelementptr %[[FULL]][16]
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
// CHECK: %[[IS_LANE0:.*]] = arith.cmpi eq, %[[LANE]], %c0_i32
// CHECK: attn_nv.mbarrier_arrive %[[EMPTY]] predicate(%[[IS_LANE0]]) : !llvm.ptr<3>
// CHECK-NOT: attn_nv.mbarrier_
// CHECK: } else {
!tile = !attn.tile<64x64xf16, #attn.boxed>
!pipe = !attn.pipe<!tile, stages = 2>
func.func @read(%n: index, %it: index, %ahead: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      attn.pipe_ready %p[%ahead] : !pipe
      %t = attn.pipe_wait %p[%it] pending(0) : !pipe -> !tile
      attn.pipe_release %p[%it] : !pipe
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65568 : i64}
  return
}

// -----

// A tile that was waited for is its stage's place alone; that of a ring of one stage is a constant,
// and every tile is a round of its own.
// CHECK-LABEL: func.func @tile
// CHECK: nvvm.setmaxregister increase
// CHECK-NOT: attn_nv.mbarrier_wait
// CHECK: attn_nv.wgmma_fence
// CHECK: llvm.getelementptr %{{.*}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK: attn_nv.wgmma n = 64
// CHECK-NOT: attn_nv.mbarrier_arrive %{{.*}} expect_tx
// CHECK: %[[PARITY:.*]] = arith.andi %{{.*}}, %c1_i32
// CHECK: attn_nv.mbarrier_wait %{{.*}}, %[[PARITY]]
!tile = !attn.tile<64x64xf16, #attn.boxed>
!pipe = !attn.pipe<!tile, stages = 1>
!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @tile(%n: index, %it: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 1024 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%it] : !pipe -> !tile
      %f = attn.mma_start %t, %t transpose_b : !tile, !tile -> !attn.in_flight<!s>
      attn.pipe_ready %p[%it] : !pipe
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65552 : i64}
  return
}

// -----

// Tiles in parts: a stage holds the rows of a warpgroup. A fill counts parts as it is told to; a reader
// takes the part of its warpgroup, number 2 i + w, and its four warps release it.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%{{.*}}: index, %[[IT:.*]]: index)
// CHECK: nvvm.mbarrier.init %{{.*}}, %c4_i32
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[TILE:.*]] = arith.index_cast %[[IT]] : index to i32
// CHECK-NEXT: %[[PARTS:.*]] = arith.muli %[[TILE]], %c2_i32
// CHECK-NEXT: %[[GROUP:.*]] = arith.divui %{{.*}}, %c4_i32
// CHECK-NEXT: %[[NUMBER:.*]] = arith.addi %[[PARTS]], %[[GROUP]]
// CHECK-NEXT: %[[STAGE:.*]] = arith.remui %[[NUMBER]], %c3_i32
// CHECK: %[[ROUND:.*]] = arith.divui %[[NUMBER]], %c3_i32
// CHECK: attn_nv.mbarrier_wait
// CHECK: attn_nv.mbarrier_arrive
// CHECK: nvvm.setmaxregister decrease
// CHECK: %[[PART:.*]] = arith.index_cast %[[IT]] : index to i32
// CHECK-NEXT: arith.remui %[[PART]], %c3_i32
!tile = !attn.tile<128x64xf16, #attn.boxed<parts = 2>>
!pipe = !attn.pipe<!tile, stages = 3, parts = 2>
func.func @parts(%n: index, %it: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !pipe
    attn.roles producer registers(24) {
      attn.pipe_acquire %p[%it] : !pipe
    } consumer warps(8) registers(240) {
      attn.pipe_ready %p[%it] : !pipe
      attn.pipe_release %p[%it] : !pipe
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 65584 : i64}
  return
}
