// Copies by threads of a producer: two of its four warps fill the pipe, whose "full" barriers count
// them. Rows of 128 bytes of a box are shared out among neighbouring threads, as many bytes each as
// the alignment allows, and land where the 128-byte swizzle has them. A warp arrives once when its
// copies have landed and the asynchronous proxy sees them.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// Eight threads a row, so eight rows a step; the second box has 16 bytes of the tensor.
// CHECK-LABEL: func.func @align16
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[TWO]]
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[TWO]]
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]]
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]]
// CHECK: nvvm.setmaxregister decrease 40
// CHECK-NOT: nvvm.elect.sync
// CHECK: arith.cmpi ult, %{{.*}}, %[[TWO]]
// CHECK: attn_nv.mbarrier_wait
// CHECK: scf.for %[[ROUND:.*]] = %{{.*}} to %{{.*}} step %[[EIGHT]] iter_args(%[[SOURCE:.*]] = %{{.*}}) -> (!llvm.ptr<1>)
// CHECK:   %[[INSIDE:.*]] = arith.cmpi slt
// CHECK:   nvvm.cp.async.shared.global %{{.*}}, %[[SOURCE]], 16, cache = cg
// CHECK:   %[[COLUMNS:.*]] = arith.andi %[[INSIDE]]
// CHECK:   %[[BYTES:.*]] = arith.select %[[COLUMNS]]
// CHECK:   nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[BYTES]]
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: attn_nv.mbarrier_arrive %{{.*}} predicate
!pipe = !attn.pipe<!attn.tile<64x80xf16, #attn.boxed>, stages = 2>
func.func @align16(%k: memref<?x?x8x72xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(8) writers(2 from 2) offset = 0 barriers = 32768 : !pipe
    attn.roles producer warps(4) registers(40) {
      attn.pipe_acquire %p[%i] : !pipe
      attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(16) : memref<?x?x8x72xf16>, !pipe
      attn.pipe_commit %p : !pipe
    } consumer warps(8) registers(232) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, producer = cp_async>, attn.smem_bytes = 32800 : i64}
  return
}

// -----

// Sixteen threads a row: two steps of four rows before the swizzle repeats, two boxes each.
// CHECK-LABEL: func.func @align8
// CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
!pipe = !attn.pipe<!attn.tile<64x80xf16, #attn.boxed>, stages = 2>
func.func @align8(%k: memref<?x?x8x72xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(8) writers(2 from 2) offset = 0 barriers = 32768 : !pipe
    attn.roles producer warps(4) registers(40) {
      attn.pipe_acquire %p[%i] : !pipe
      attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(8) : memref<?x?x8x72xf16>, !pipe
      attn.pipe_commit %p : !pipe
    } consumer warps(8) registers(232) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, producer = cp_async>, attn.smem_bytes = 32800 : i64}
  return
}

// -----

// CHECK-LABEL: func.func @align4
// CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
!pipe = !attn.pipe<!attn.tile<64x80xf16, #attn.boxed>, stages = 2>
func.func @align4(%k: memref<?x?x8x72xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(8) writers(2 from 2) offset = 0 barriers = 32768 : !pipe
    attn.roles producer warps(4) registers(40) {
      attn.pipe_acquire %p[%i] : !pipe
      attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(4) : memref<?x?x8x72xf16>, !pipe
      attn.pipe_commit %p : !pipe
    } consumer warps(8) registers(232) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, producer = cp_async>, attn.smem_bytes = 32800 : i64}
  return
}

// -----

// Pairs of elements, loaded and stored one by one; nothing is on its way then.
// CHECK-LABEL: func.func @align2
// CHECK-NOT: nvvm.cp.async
// CHECK: scf.if %{{.*}} -> (i16) {
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64}
// CHECK: } else {
// CHECK: llvm.store %{{.*}} {alignment = 2 : i64}
// CHECK-NOT: nvvm.cp.async
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: attn_nv.mbarrier_arrive
!pipe = !attn.pipe<!attn.tile<64x80xf16, #attn.boxed>, stages = 2>
func.func @align2(%k: memref<?x?x8x72xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(8) writers(2 from 2) offset = 0 barriers = 32768 : !pipe
    attn.roles producer warps(4) registers(40) {
      attn.pipe_acquire %p[%i] : !pipe
      attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(2) : memref<?x?x8x72xf16>, !pipe
      attn.pipe_commit %p : !pipe
    } consumer warps(8) registers(232) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, producer = cp_async>, attn.smem_bytes = 32800 : i64}
  return
}
