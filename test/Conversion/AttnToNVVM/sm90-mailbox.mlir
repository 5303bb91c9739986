// Mailboxes: 16 bytes a message, and behind them two mbarriers a stage: "full" with one arrival, that
// of the producer, and "empty" with one of each reading lane.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @create
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NEXT:   %[[FULL0:.*]] = llvm.getelementptr %[[SMEM]][4128]
// CHECK-NEXT:   nvvm.mbarrier.init %[[FULL0]], %c1_i32
// CHECK-NEXT:   %[[FULL1:.*]] = llvm.getelementptr %[[SMEM]][4136]
// CHECK-NEXT:   nvvm.mbarrier.init %[[FULL1]], %c1_i32
// CHECK-NEXT:   %[[EMPTY0:.*]] = llvm.getelementptr %[[SMEM]][4144]
// CHECK-NEXT:   nvvm.mbarrier.init %[[EMPTY0]], %c256_i32
// CHECK-NEXT:   %[[EMPTY1:.*]] = llvm.getelementptr %[[SMEM]][4152]
// CHECK-NEXT:   nvvm.mbarrier.init %[[EMPTY1]], %c256_i32
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.fence.proxy
// CHECK-NEXT: nvvm.barrier0
// CHECK-NOT: nvvm.mbarrier.init
!m = !attn.mailbox<values = 3, stages = 2>
func.func @create(%n: index) {
  scf.forall (%b) in (%n) {
    %m = attn.mailbox_create readers(8) offset = 4096 : !m
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, persistent = static>, attn.smem_bytes = 4160 : i64}
  return
}

// -----

// The first message of a stage waits for nobody: "empty" with the other parity. One lane writes the
// numbers, each of four bytes, and arrives at "full" behind them.
// CHECK-LABEL: func.func @put(
// CHECK-SAME: %[[A:[^:]*]]: index, %[[IT:[^:]*]]: index, %[[B:[^:]*]]: index, %[[C:[^:]*]]: index)
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.if
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[IT]] : index to i32
// CHECK-NEXT: %[[STAGE:.*]] = arith.remui %[[COUNT]], %c2_i32
// CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c8_i32
// CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[BYTES]], %c4128_i32
// CHECK-NEXT: %[[FULL:.*]] = llvm.getelementptr %[[SMEM]][%[[OFFSET]]]
// CHECK-NEXT: %[[EMPTY:.*]] = llvm.getelementptr %[[FULL]][16]
// CHECK-NEXT: %[[ROUND:.*]] = arith.divui %[[COUNT]], %c2_i32
// CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[ROUND]], %c1_i32
// CHECK-NEXT: %[[PLACE:.*]] = arith.muli %[[STAGE]], %c16_i32
// CHECK-NEXT: %[[MESSAGE:.*]] = arith.addi %[[PLACE]], %c4096_i32
// CHECK-NEXT: %[[OTHER:.*]] = arith.xori %[[PARITY]], %c1_i32
// CHECK-NEXT: attn_nv.mbarrier_wait %[[EMPTY]], %[[OTHER]] : !llvm.ptr<3>
// CHECK-NEXT: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
// CHECK-NEXT: %[[IS_LANE0:.*]] = arith.cmpi eq, %[[LANE]], %c0_i32
// CHECK-NEXT: scf.if %[[IS_LANE0]] {
// CHECK-NEXT:   %[[A32:.*]] = arith.index_cast %[[A]] : index to i32
// CHECK-NEXT:   %[[P0:.*]] = llvm.getelementptr %[[SMEM]][%[[MESSAGE]]]
// CHECK-NEXT:   llvm.store %[[A32]], %[[P0]] {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK-NEXT:   %[[B32:.*]] = arith.index_cast %[[B]] : index to i32
// CHECK-NEXT:   %[[OFFSET1:.*]] = arith.addi %[[PLACE]], %c4100_i32
// CHECK-NEXT:   %[[P1:.*]] = llvm.getelementptr %[[SMEM]][%[[OFFSET1]]]
// CHECK-NEXT:   llvm.store %[[B32]], %[[P1]] {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK-NEXT:   %[[C32:.*]] = arith.index_cast %[[C]] : index to i32
// CHECK-NEXT:   %[[OFFSET2:.*]] = arith.addi %[[PLACE]], %c4104_i32
// CHECK-NEXT:   %[[P2:.*]] = llvm.getelementptr %[[SMEM]][%[[OFFSET2]]]
// CHECK-NEXT:   llvm.store %[[C32]], %[[P2]] {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK-NEXT:   attn_nv.mbarrier_arrive %[[FULL]] : !llvm.ptr<3>
// CHECK-NEXT: }
// CHECK-NOT: attn_nv.mbarrier
!m = !attn.mailbox<values = 3, stages = 2>
func.func @put(%n: index, %it: index, %h: index, %i: index) {
  scf.forall (%b) in (%n) {
    %m = attn.mailbox_create readers(4) offset = 4096 : !m
    attn.roles producer registers(24) {
      attn.mailbox_put %m[%it] (%n, %h, %i) : !m
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma, persistent = static>, attn.smem_bytes = 4160 : i64}
  return
}

// -----

// Of four warps that copy, the first one writes.
// CHECK-LABEL: func.func @put_of_threads
// CHECK: %[[NUMBER:.*]] = arith.divui %{{.*}}, %c32_i32
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[NUMBER]], %c0_i32
// CHECK: %[[COMPUTES:.*]] = arith.cmpi slt, %[[WARP]], %c8_i32
// CHECK: scf.if %[[COMPUTES]] {
// CHECK: } else {
// CHECK-NEXT: nvvm.setmaxregister decrease 40
// CHECK-NEXT: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[WARP]], %c8_i32
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK:   attn_nv.mbarrier_wait
// CHECK:   llvm.store
// CHECK:   attn_nv.mbarrier_arrive
// CHECK: }
// What follows is all warps' again.
// CHECK-NEXT: }
// CHECK-NEXT: memref.store
!m = !attn.mailbox<values = 1, stages = 1>
func.func @put_of_threads(%n: index, %it: index, %seen: memref<?xindex>) {
  scf.forall (%b) in (%n) {
    %m = attn.mailbox_create readers(8) offset = 4096 : !m
    attn.roles producer warps(4) registers(40) {
      attn.mailbox_put %m[%it] (%n) : !m
      memref.store %it, %seen[%b] : memref<?xindex>
    } consumer warps(8) registers(232) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, persistent = static, producer = cp_async>, attn.smem_bytes = 4128 : i64}
  return
}

// -----

// Readers wait for "full" with the round's own parity. Each lane says that it has read. Numbers are
// those of one lane of a warp that stands together.
// CHECK-LABEL: func.func @get
// CHECK-SAME: (%{{.*}}: index, %[[IT:.*]]: index, %[[SEEN:.*]]: memref<?xindex>)
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: nvvm.setmaxregister increase
// CHECK-NEXT: %[[COUNT:.*]] = arith.index_cast %[[IT]] : index to i32
// CHECK-NEXT: %[[STAGE:.*]] = arith.remui %[[COUNT]], %c3_i32
// CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c8_i32
// CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[BYTES]], %c4144_i32
// CHECK-NEXT: %[[FULL:.*]] = llvm.getelementptr %[[SMEM]][%[[OFFSET]]]
// CHECK-NEXT: %[[EMPTY:.*]] = llvm.getelementptr %[[FULL]][24]
// CHECK-NEXT: %[[ROUND:.*]] = arith.divui %[[COUNT]], %c3_i32
// CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[ROUND]], %c1_i32
// CHECK-NEXT: %[[PLACE:.*]] = arith.muli %[[STAGE]], %c16_i32
// CHECK-NEXT: %[[MESSAGE:.*]] = arith.addi %[[PLACE]], %c4096_i32
// CHECK-NEXT: attn_nv.mbarrier_wait %[[FULL]], %[[PARITY]] : !llvm.ptr<3>
// CHECK-NEXT: %[[P0:.*]] = llvm.getelementptr %[[SMEM]][%[[MESSAGE]]]
// CHECK-NEXT: %[[READ0:.*]] = llvm.load %[[P0]] {alignment = 4 : i64} : !llvm.ptr<3> -> i32
// CHECK-NEXT: %[[OFFSET1:.*]] = arith.addi %[[PLACE]], %c4100_i32
// CHECK-NEXT: %[[P1:.*]] = llvm.getelementptr %[[SMEM]][%[[OFFSET1]]]
// CHECK-NEXT: %[[READ1:.*]] = llvm.load %[[P1]] {alignment = 4 : i64} : !llvm.ptr<3> -> i32
// CHECK-NEXT: attn_nv.mbarrier_arrive %[[EMPTY]] : !llvm.ptr<3>
// CHECK-NEXT: nvvm.bar.warp.sync %c-1_i32
// CHECK-NEXT: %[[A32:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[READ0]], %c0_i32, %c31_i32
// CHECK-NEXT: %[[A:.*]] = arith.index_cast %[[A32]] : i32 to index
// CHECK-NEXT: %[[B32:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[READ1]], %c0_i32, %c31_i32
// CHECK-NEXT: %[[B:.*]] = arith.index_cast %[[B32]] : i32 to index
// CHECK-NEXT: memref.store %[[A]], %[[SEEN]][%[[B]]]
// CHECK-NEXT: } else {
// CHECK-NOT: attn_nv.mbarrier
!m = !attn.mailbox<values = 2, stages = 3>
func.func @get(%n: index, %it: index, %seen: memref<?xindex>) {
  scf.forall (%b) in (%n) {
    %m = attn.mailbox_create readers(4) offset = 4096 : !m
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %a, %c = attn.mailbox_get %m[%it] : !m -> index, index
      memref.store %a, %seen[%c] : memref<?xindex>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma, persistent = static>, attn.smem_bytes = 4192 : i64}
  return
}
