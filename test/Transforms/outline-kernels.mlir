// RUN: attn-opt %s -attn-outline-kernels -split-input-file | FileCheck %s --enable-var-scope

// One grid keeps the function's name; what no grid uses is dropped.

// CHECK-LABEL: func.func @one(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?xf32>, %[[N:[^:]+]]: index) attributes {attn.kernel}
// CHECK-NOT:     arith.muli
// CHECK:         %[[TILES:.+]] = arith.ceildivui %[[N]]
// CHECK-NEXT:    scf.forall (%[[I:.+]]) in (%[[TILES]])
// CHECK:           memref.store %{{.+}}, %[[M]][%[[I]]]
// CHECK:         return
func.func @one(%m: memref<?xf32>, %n: index) {
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %tiles = arith.ceildivui %n, %c64 : index
  %unused = arith.muli %n, %n : index
  scf.forall (%i) in (%tiles) {
    memref.store %zero, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// Several grids become numbered kernels, each with its own copy of shared values.

// CHECK-LABEL: func.func @two_0(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?xf32>) attributes {attn.kernel}
// CHECK:         %[[DIM:.+]] = memref.dim %[[M]]
// CHECK:         scf.forall (%{{.+}}) in (%[[DIM]])
// CHECK-NOT:     scf.forall
// CHECK:         return
// CHECK-LABEL: func.func @two_1(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?xf32>) attributes {attn.kernel}
// CHECK-NOT:     memref.dim
// CHECK:         scf.forall (%{{.+}}) in (4)
// CHECK:         return
// CHECK-NOT:   func.func
func.func @two(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %dim = memref.dim %m, %c0 : memref<?xf32>
  scf.forall (%i) in (%dim) {
    memref.store %zero, %m[%i] : memref<?xf32>
  }
  scf.forall (%i) in (4) {
    memref.store %one, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// Split keys: the partial results and their merge.

// CHECK-LABEL: func.func @split_0(
// CHECK:         scf.forall (%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) in (4, %{{.+}}, 8, %{{.+}})
// CHECK:         attn.softmax_update
// CHECK-LABEL: func.func @split_1(
// CHECK:         scf.forall (%{{.+}}, %{{.+}}, %{{.+}}) in (%{{.+}}, 8, %{{.+}})
// CHECK:         attn.merge
#schedule = #attn.schedule<split_kv = 4>
module {
  func.func @split(%q: memref<?x?x8x64xf32>, %o: memref<?x?x8x64xf32>,
                   %po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %scale: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %batch = memref.dim %q, %c0 : memref<?x?x8x64xf32>
    %rows = memref.dim %q, %c1 : memref<?x?x8x64xf32>
    %tiles = arith.ceildivui %rows, %c64 : index
    scf.forall (%p, %b, %h, %t) in (4, %batch, 8, %tiles) {
      %row = arith.muli %t, %c64 : index
      %s = attn.load_tile %q[%b, %row, %h] : memref<?x?x8x64xf32> -> <64x64xf32>
      %init = attn.softmax_init : <64>
      %st, %prob, %alpha = attn.softmax_update %init, %s scale(%scale) : <64>, <64x64xf32> -> <64xf32>
      attn.store_tile %prob, %o[%b, %row, %h] : <64x64xf32>, memref<?x?x8x64xf32>
    }
    scf.forall (%b, %h, %t) in (%batch, 8, %tiles) {
      %row = arith.muli %t, %c64 : index
      %x = attn.load_tile %o[%b, %row, %h] : memref<?x?x8x64xf32> -> <64x64xf32>
      %l = attn.fill 0.0 : <64xf32>
      %merged, %lse = attn.merge %x, %l with %x, %l : <64x64xf32>, <64xf32>
      attn.store_tile %merged, %o[%b, %row, %h] : <64x64xf32>, memref<?x?x8x64xf32>
    }
    return
  }
}

// -----

// Functions without a grid, declarations and finished kernels stay as they are.

// CHECK-LABEL: func.func private @declared(index)
// CHECK-LABEL: func.func @no_grid(
// CHECK-SAME:    %{{[^:]+}}: index) -> index {
// CHECK-LABEL: func.func @done() attributes {attn.kernel}
func.func private @declared(index)
func.func @no_grid(%n: index) -> index {
  return %n : index
}
func.func @done() attributes {attn.kernel} {
  scf.forall (%i) in (4) {
  }
  return
}
