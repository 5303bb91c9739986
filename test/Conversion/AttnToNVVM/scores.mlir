// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -cse | FileCheck %s

// Each of the four elements: is its key there, does the mask keep the pair; positions in 32 bits.
// CHECK-LABEL: func.func @mask
// CHECK-DAG: %[[INF:.*]] = {{.*}}0xFF800000 : f32
// CHECK: arith.cmpi {{.*}} : i32
// CHECK-COUNT-4: arith.select %{{.*}}, %{{.*}}, %[[INF]] : f32
// CHECK-NOT: arith.select {{.*}} : f32
// CHECK: return
!s = !attn.tile<16x8xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @mask(%n: index, %i: index, %j: index, %o: memref<?x?x8x8xf32>) {
  scf.forall (%b) in (%n) {
    %s = attn.load_tile %o[%b, %i, %b] : memref<?x?x8x8xf32> -> !s
    %t = attn.mask_scores %s rows(%i) keys(%j) lengths(%n, %n) mask(#attn.causal<top_left>) : !s
    attn.store_tile %t, %o[%b, %i, %b] : !s, memref<?x?x8x8xf32>
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// The region once for each element; the soft cap through an exponential and a reciprocal, in
// f32 kernels through a polynomial where the score is small.
// CHECK-LABEL: func.func @map
// CHECK-COUNT-4: arith.cmpf olt, %{{.*}}, %cst
// CHECK-NOT: nvvm.rcp.approx.ftz.f
// CHECK: return
!s = !attn.tile<16x8xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @map(%n: index, %i: index, %j: index, %c: f32, %o: memref<?x?x8x8xf32>) {
  scf.forall (%b) in (%n) {
    %f = attn.load_tile %o[%b, %i, %b] : memref<?x?x8x8xf32> -> !s
    %t = attn.map_scores %f rows(%i) keys(%j) lengths(%j, %j) scale(%c) : !s {
    ^bb0(%x: f32, %r: index, %k: index):
      %y = attn.softcap %x, 50.0
      attn.yield %y : f32
    }
    attn.store_tile %t, %o[%b, %i, %b] : !s, memref<?x?x8x8xf32>
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// A bias is read at positions of the sequences alone: two rows and two columns end at the last.
// CHECK-LABEL: func.func @bias
// CHECK-SAME: %[[SQ:[^:]+]]: index, %[[SK:[^:]+]]: index
// CHECK-DAG: %[[LASTQ:.+]] = arith.subi %[[SQ]], %c1
// CHECK-COUNT-2: arith.minsi %{{.+}}, %[[LASTQ]] : index
// CHECK: %[[LASTK:.+]] = arith.subi %[[SK]], %c1
// CHECK: arith.minsi %{{.+}}, %[[LASTK]] : index
// CHECK: memref.load
// CHECK: arith.minsi %{{.+}}, %[[LASTK]] : index
// CHECK-NOT: arith.minsi
// CHECK-COUNT-3: memref.load
!s = !attn.tile<16x8xf32, #attn.fragment<acc, warps = 1, split = rows>>
func.func @bias(%sq: index, %sk: index, %i: index, %j: index, %c: f32, %o: memref<?x?x8x8xf32>, %bias: memref<?x?xf32>) {
  scf.forall (%b) in (%sq) {
    %f = attn.load_tile %o[%b, %i, %b] : memref<?x?x8x8xf32> -> !s
    %t = attn.map_scores %f rows(%i) keys(%j) lengths(%sq, %sk) scale(%c) : !s {
    ^bb0(%x: f32, %r: index, %k: index):
      %e = memref.load %bias[%r, %k] : memref<?x?xf32>
      %y = arith.addf %x, %e : f32
      attn.yield %y : f32
    }
    attn.store_tile %t, %o[%b, %i, %b] : !s, memref<?x?x8x8xf32>
  } {attn.schedule = #attn.schedule<warps = 1, q_tile = 16>, attn.smem_bytes = 0 : i64}
  return
}
