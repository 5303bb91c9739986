// cp.async with zero fill: 0 source bytes outside of the tensor; the size of a copy is the
// alignment, down to 4 bytes, below which elements are copied one by one.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -cse | FileCheck %s

// 32 rows of 128 bytes by 128 threads: two steps of one 16-byte copy.
// CHECK: llvm.mlir.global external @[[SMEM:.*]]() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: func.func @align16
// CHECK-SAME: attn.smem_bytes = 4096 : i64, attn.threads = 128 : i64
// CHECK-NOT: nvvm.barrier
// CHECK: %[[BYTES:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[BYTES]]
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.barrier
// CHECK-NOT: nvvm.barrier
!tile = !attn.tile<32x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
!pipe = !attn.pipe<!tile, stages = 1>
func.func @align16(%k: memref<?x?x8x64xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create offset = 0 : !pipe
    attn.pipe_acquire %p[%i] synced : !pipe
    attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
    attn.pipe_commit %p : !pipe
    %t = attn.pipe_wait %p[%i] pending(1) : !pipe -> !tile
    attn.pipe_release %p[%i] : !pipe
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 4096 : i64}
  return
}

// -----

// An acquire that no wait stands in front of is a barrier.
// CHECK-LABEL: func.func @align8
// CHECK: nvvm.barrier
// CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
// CHECK-NOT: nvvm.cp.async.shared.global
!tile = !attn.tile<32x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
!pipe = !attn.pipe<!tile, stages = 1>
func.func @align8(%k: memref<?x?x8x64xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create offset = 0 : !pipe
    attn.pipe_acquire %p[%i] : !pipe
    attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(8) : memref<?x?x8x64xf16>, !pipe
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 4096 : i64}
  return
}

// -----

// CHECK-LABEL: func.func @align4
// CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
// CHECK-NOT: nvvm.cp.async.shared.global
!tile = !attn.tile<32x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
!pipe = !attn.pipe<!tile, stages = 1>
func.func @align4(%k: memref<?x?x8x64xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create offset = 0 : !pipe
    attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(4) : memref<?x?x8x64xf16>, !pipe
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 4096 : i64}
  return
}

// -----

// CHECK-LABEL: func.func @align2
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: scf.if %{{.*}} -> (i16) {
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64}
// CHECK: } else {
// CHECK: llvm.store %{{.*}} {alignment = 2 : i64}
// CHECK-NOT: nvvm.cp.async.shared.global
!tile = !attn.tile<32x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
!pipe = !attn.pipe<!tile, stages = 1>
func.func @align2(%k: memref<?x?x8x64xf16>, %n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create offset = 0 : !pipe
    attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(2) : memref<?x?x8x64xf16>, !pipe
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 4096 : i64}
  return
}
