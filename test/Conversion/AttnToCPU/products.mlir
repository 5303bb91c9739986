// RUN: attn-opt %s -convert-attn-to-cpu=vector-width=16 -canonicalize -cse -split-input-file | FileCheck %s --enable-var-scope
// RUN: attn-opt %s -convert-attn-to-cpu=vector-width=4 -canonicalize -cse -split-input-file | FileCheck %s --enable-var-scope --check-prefix=NARROW

// The accumulators of a block of 6 rows and 4 vectors stay in registers over k; they start
// from the fill. The transposed operand is packed once, where it is loaded.

// CHECK-LABEL: func.func @scores(
// CHECK-DAG:     %[[A:.+]] = memref.alloc() {{.+}} : memref<12x32xf32>
// CHECK-DAG:     %[[PACKED:.+]] = memref.alloc() {{.+}} : memref<32x64xf32>
// CHECK:         call @[[PACK:[a-z_0-9]+]](%{{.+}}, %[[PACKED]]) : (memref<64x32xf32>, memref<32x64xf32>) -> ()
// CHECK:         call @[[PRODUCT:[a-z_0-9]+]](%[[A]], %[[PACKED]], %{{.+}}) : (memref<12x32xf32>, memref<32x64xf32>, memref<12x64xf32>) -> ()
// CHECK:       func.func private @[[PACK]](
// CHECK:         vector.shuffle {{.+}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]
// CHECK:       func.func private @[[PRODUCT]](
// CHECK-SAME:    %[[A:[^:]+]]: memref<12x32xf32>, %[[B:[^:]+]]: memref<32x64xf32>, %[[OUT:[^:]+]]: memref<12x64xf32>
// CHECK:         %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK:         scf.for %[[I:.+]] = %c0 to %c12 step %c6 {
// CHECK:           %[[ACC:.+]]:24 = scf.for %[[K:.+]] = %c0 to %c32 step %c1
// CHECK-SAME:          iter_args(%[[FIRST:[^ ]+]] = %[[ZERO]],
// CHECK:             %[[B0:.+]] = vector.load %[[B]][%[[K]], %c0]
// CHECK:             vector.load %[[B]][%[[K]], %c48]
// CHECK:             %[[X:.+]] = memref.load %[[A]][%[[I]], %[[K]]]
// CHECK:             %[[SPLAT:.+]] = vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK:             vector.fma %[[SPLAT]], %[[B0]], %[[FIRST]]
// CHECK:           vector.store %[[ACC]]#0, %[[OUT]][%[[I]], %c0]
// CHECK:           vector.store %[[ACC]]#3, %[[OUT]][%[[I]], %c48]

// NARROW-LABEL: func.func @scores(
// NARROW:         scf.for %{{.+}} = %c0 to %c64 step %c8 {
// NARROW:           scf.for %{{.+}} = %c0 to %c12 step %c6 {
// NARROW:             :12 = scf.for
func.func @scores(%q: memref<?x?x2x32xf32>, %k: memref<?x?x2x32xf32>, %o: memref<?x?x2x64xf32>) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %a = attn.load_tile %q[%b, %c0, %h] : memref<?x?x2x32xf32> -> <12x32xf32>
    %bt = attn.load_tile %k[%b, %c0, %h] : memref<?x?x2x32xf32> -> <64x32xf32>
    %zero = attn.fill 0.0 : <12x64xf32>
    %s = attn.tile_mma %a, %bt, %zero transpose_b : <12x32xf32>, <64x32xf32>, <12x64xf32>
    attn.store_tile %s, %o[%b, %c0, %h] : <12x64xf32>, memref<?x?x2x64xf32>
  }
  return
}

// -----

// A rescale in front of a product becomes the product's way of loading its accumulator.

// CHECK-LABEL: func.func @rescaled(
// CHECK:         call @[[PRODUCT:[a-z_0-9]+]](%{{.+}}, %{{.+}}, %[[ACC:.+]], %[[ACC]], %[[ALPHA:.+]]) : ({{.+}}, memref<16xf32>) -> ()
// CHECK:       func.func private @[[PRODUCT]](
// CHECK-SAME:    %[[OUT:[^:]+]]: memref<6x16xf32>, %[[IN:[^:]+]]: memref<6x16xf32>, %[[ALPHA:[^:]+]]: memref<16xf32>
// CHECK:         %[[X:.+]] = memref.load %[[ALPHA]][%[[I:.+]]] : memref<16xf32>
// CHECK:         %[[FACTOR:.+]] = vector.broadcast %[[X]]
// CHECK:         %[[OLD:.+]] = vector.load %[[IN]][%[[I]], %c0]
// CHECK:         arith.mulf %[[OLD]], %[[FACTOR]]
// CHECK:         vector.fma
// CHECK:         vector.store %{{.+}}, %[[OUT]][%[[I]], %c0]
func.func @rescaled(%m: memref<?x?x2x16xf32>, %l: memref<?x2x?xf32>) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %p = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <6x16xf32>
    %v = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <16x16xf32>
    %o = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <6x16xf32>
    %alpha = attn.load_tile %l[%b, %c0, %h] : memref<?x2x?xf32> -> <6xf32>
    %r = attn.rescale %o, %alpha : <6x16xf32>, <6xf32>
    %s = attn.tile_mma %p, %v, %r : <6x16xf32>, <16x16xf32>, <6x16xf32>
    attn.store_tile %s, %m[%b, %c0, %h] : <6x16xf32>, memref<?x?x2x16xf32>
  }
  return
}

// -----

// Rows that no whole block covers get a smaller block.

// CHECK-LABEL: func.func @rest(
// CHECK:         :12 = scf.for
// CHECK:         %[[LAST:.+]] = scf.for {{.+}} -> (vector<16xf32>) {
// CHECK:         vector.store %[[LAST]], %{{.+}}[%c12, %c0]
func.func @rest(%m: memref<?x?x2x16xf32>) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %p = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <13x16xf32>
    %v = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <16x16xf32>
    %o = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <13x16xf32>
    %s = attn.tile_mma %p, %v, %o : <13x16xf32>, <16x16xf32>, <13x16xf32>
    attn.store_tile %s, %m[%b, %c0, %h] : <13x16xf32>, memref<?x?x2x16xf32>
  }
  return
}

// -----

// Two products of the same kind are one function.

// CHECK-LABEL: func.func @shared(
// CHECK:         call @[[PRODUCT:[a-z_0-9]+]](%[[X:.+]], %[[X]],
// CHECK:         call @[[PRODUCT]](%{{.+}}, %[[X]],
func.func @shared(%m: memref<?x?x2x16xf32>) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %p = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x16xf32> -> <16x16xf32>
    %o = attn.fill 0.0 : <16x16xf32>
    %s = attn.tile_mma %p, %p, %o : <16x16xf32>, <16x16xf32>, <16x16xf32>
    %t = attn.tile_mma %s, %p, %o : <16x16xf32>, <16x16xf32>, <16x16xf32>
    attn.store_tile %t, %m[%b, %c0, %h] : <16x16xf32>, memref<?x?x2x16xf32>
  }
  return
}
