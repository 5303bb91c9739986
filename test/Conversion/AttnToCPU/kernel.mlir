// RUN: attn-opt %s -convert-attn-to-cpu -canonicalize -cse -split-input-file | FileCheck %s --enable-var-scope

// A counter of tiles and a function over a range of them; the last id runs fastest.

// CHECK-LABEL: func.func @grid_num_tiles(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?x4x?xf32>, %{{[^:]+}}: f32) -> i64
// CHECK-DAG:     %[[D0:.+]] = memref.dim %[[M]], %c0
// CHECK-DAG:     %[[D2:.+]] = memref.dim %[[M]], %c2
// CHECK:         arith.muli %{{.+}}, %c4
// CHECK:         %[[COUNT:.+]] = arith.index_cast %{{.+}} : index to i64
// CHECK:         return %[[COUNT]]

// CHECK-LABEL: func.func @grid(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?x4x?xf32>, %[[X:[^:]+]]: f32, %[[BEGIN:[^:]+]]: i64, %[[END:[^:]+]]: i64)
// CHECK-SAME:    attn.argument_types = [memref<?x4x?xf32>, f32]
// CHECK-SAME:    attn.kernel
// CHECK-DAG:     %[[FIRST:.+]] = arith.index_cast %[[BEGIN]]
// CHECK-DAG:     %[[LAST:.+]] = arith.index_cast %[[END]]
// CHECK:         scf.for %[[TILE:.+]] = %[[FIRST]] to %[[LAST]] step %c1 {
// CHECK:           %[[I2:.+]] = arith.remui %[[TILE]], %[[S2:.+]] : index
// CHECK:           %[[REST:.+]] = arith.divui %[[TILE]], %[[S2]]
// CHECK:           %[[I1:.+]] = arith.remui %[[REST]], %c4
// CHECK:           %[[I0:.+]] = arith.divui %[[REST]], %c4
// CHECK:           memref.store %[[X]], %[[M]][%[[I0]], %[[I1]], %[[I2]]]
func.func @grid(%m: memref<?x4x?xf32>, %x: f32) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d0 = memref.dim %m, %c0 : memref<?x4x?xf32>
  %d2 = memref.dim %m, %c2 : memref<?x4x?xf32>
  scf.forall (%i, %j, %k) in (%d0, 4, %d2) {
    memref.store %x, %m[%i, %j, %k] : memref<?x4x?xf32>
  }
  return
}

// -----

// Bounds and steps of the grid count.

// CHECK-LABEL: func.func @steps(
// CHECK:         scf.for %[[TILE:.+]] =
// CHECK:           %[[SCALED:.+]] = arith.muli %[[TILE]], %c16
// CHECK:           %[[I:.+]] = arith.addi %[[SCALED]], %c3
// CHECK:           memref.store %{{.+}}, %{{.+}}[%[[I]]]
func.func @steps(%m: memref<?xf32>, %x: f32, %n: index) attributes {attn.kernel} {
  scf.forall (%i) = (3) to (%n) step (16) {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// The carried tiles of FlashAttention-2 stay where they are: O, m and l are updated in
// place and nothing is copied between iterations.

// CHECK-LABEL: func.func @loop(
// CHECK-DAG:     %[[Q:.+]] = memref.alloc() {{.+}} : memref<8x16xf32>
// CHECK:         scf.for
// CHECK-NOT:     iter_args
// CHECK:         return
func.func @loop(%m: memref<?x?x2x16xf32>, %scale: f32, %n: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.forall (%b, %h) in (3, 2) {
    %q = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <8x16xf32>
    %zero = attn.fill 0.0 : <8x16xf32>
    %init = attn.softmax_init : <8>
    %r:2 = scf.for %j = %c0 to %n step %c8 iter_args(%o = %zero, %st = %init)
        -> (!attn.tile<8x16xf32>, !attn.softmax_state<8>) {
      %st1, %p, %alpha = attn.softmax_update %st, %q scale(%scale) : <8>, <8x16xf32> -> <8xf32>
      %o1 = attn.rescale %o, %alpha : <8x16xf32>, <8xf32>
      scf.yield %o1, %st1 : !attn.tile<8x16xf32>, !attn.softmax_state<8>
    }
    attn.store_tile %r#0, %m[%b, %c0, %h] : <8x16xf32>, memref<?x?x2x16xf32>
  }
  return
}

// -----

// Carried tiles that change places go through a third buffer.

// CHECK-LABEL: func.func @swap(
// CHECK-DAG:     %[[A:.+]] = memref.alloc() {{.+}} : memref<1x8xf32>
// CHECK-DAG:     %[[B:.+]] = memref.alloc() {{.+}} : memref<1x8xf32>
// CHECK-DAG:     %[[C:.+]] = memref.alloc() {{.+}} : memref<1x8xf32>
// CHECK:         scf.for {{.+}} {
// CHECK:           scf.for {{.+}} {
// CHECK-COUNT-4:     vector.store
// CHECK:           }
func.func @swap(%m: memref<?x?x2x8xf32>, %n: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%b, %h) in (3, 2) {
    %x = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <1x8xf32>
    %y = attn.load_tile %m[%b, %c1, %h] : memref<?x?x2x8xf32> -> <1x8xf32>
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%u = %x, %v = %y)
        -> (!attn.tile<1x8xf32>, !attn.tile<1x8xf32>) {
      scf.yield %v, %u : !attn.tile<1x8xf32>, !attn.tile<1x8xf32>
    }
    attn.store_tile %r#0, %m[%b, %c0, %h] : <1x8xf32>, memref<?x?x2x8xf32>
    attn.store_tile %r#1, %m[%b, %c1, %h] : <1x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// Tiles that leave an scf.if are written to one buffer by both branches.

// CHECK-LABEL: func.func @branch(
// CHECK:         %[[OUT:.+]] = memref.alloc() {{.+}} : memref<1x8xf32>
// CHECK:         scf.if
// CHECK:           vector.store %{{.+}}, %[[OUT]]
// CHECK:         } else {
// CHECK:           vector.store %{{.+}}, %[[OUT]]
// CHECK:         }
// CHECK:         vector.load %[[OUT]]
func.func @branch(%m: memref<?x?x2x8xf32>, %n: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %is = arith.cmpi eq, %b, %n : index
    %r = scf.if %is -> !attn.tile<1x8xf32> {
      %x = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <1x8xf32>
      scf.yield %x : !attn.tile<1x8xf32>
    } else {
      %y = attn.fill 2.0 : <1x8xf32>
      scf.yield %y : !attn.tile<1x8xf32>
    }
    attn.store_tile %r, %m[%b, %c0, %h] : <1x8xf32>, memref<?x?x2x8xf32>
  }
  return
}
