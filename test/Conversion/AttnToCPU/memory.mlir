// RUN: attn-opt %s -convert-attn-to-cpu=vector-width=8 -canonicalize -cse -split-input-file | FileCheck %s --enable-var-scope

// Rows inside the tensor are copied by whole vectors, rows behind it are filled; columns
// behind the head dim come from a narrower load.

// CHECK-LABEL: func.func @matrix(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?x?x2x12xf32>, %[[LIMIT:[^:]+]]: index
// CHECK:         %[[BUFFER:.+]] = memref.alloc() {alignment = 64 : i64} : memref<16x16xf32>
// CHECK:         %[[DIM:.+]] = memref.dim %[[M]], %c1
// CHECK:         %[[END:.+]] = arith.minsi %[[DIM]], %[[LIMIT]]
// CHECK:         call @[[LOAD:[a-z_0-9]+]](%[[M]], %{{.+}}, %{{.+}}, %{{.+}}, %[[END]], %[[BUFFER]])
// CHECK:         memref.dealloc %[[BUFFER]]
// CHECK:       func.func private @[[LOAD]](
// CHECK-SAME:    %[[M:[^:]+]]: memref<?x?x2x12xf32>, %[[BATCH:[^:]+]]: index, %[[ROW:[^:]+]]: index, %[[HEAD:[^:]+]]: index, %[[END:[^:]+]]: index, %[[BUFFER:[^:]+]]: memref<16x16xf32>
// CHECK-DAG:     %[[PAD:.+]] = arith.constant dense<7.000000e+00> : vector<8xf32>
// CHECK:         %[[LEFT:.+]] = arith.subi %[[END]], %[[ROW]] : index
// CHECK:         %[[POSITIVE:.+]] = arith.maxsi %[[LEFT]], %c0
// CHECK:         %[[VALID:.+]] = arith.minsi %[[POSITIVE]], %c16
// CHECK:         scf.for %[[R:.+]] = %c0 to %[[VALID]] step %c1 {
// CHECK:           %[[AT:.+]] = arith.addi %[[ROW]], %[[R]]
// CHECK:           %[[WHOLE:.+]] = vector.load %[[M]][%[[BATCH]], %[[AT]], %[[HEAD]], %c0] : {{.+}}, vector<8xf32>
// CHECK:           vector.store %[[WHOLE]], %[[BUFFER]][%[[R]], %c0]
// CHECK:           %[[PART:.+]] = vector.load %[[M]][%[[BATCH]], %[[AT]], %[[HEAD]], %c8] : {{.+}}, vector<4xf32>
// CHECK:           %[[PADDED:.+]] = vector.insert_strided_slice %[[PART]], %[[PAD]] {offsets = [0], strides = [1]}
// CHECK:           vector.store %[[PADDED]], %[[BUFFER]][%[[R]], %c8]
// CHECK:         }
// CHECK:         scf.for %[[R:.+]] = %[[VALID]] to %c16 step %c1 {
// CHECK:           vector.store %[[PAD]], %[[BUFFER]][%[[R]], %c0]
// CHECK:           vector.store %[[PAD]], %[[BUFFER]][%[[R]], %c8]
func.func @matrix(%m: memref<?x?x2x12xf32>, %limit: index) attributes {attn.kernel} {
  scf.forall (%b, %h, %row) in (3, 2, 5) {
    %t = attn.load_tile %m[%b, %row, %h] limit(%limit) pad(7.0)
       : memref<?x?x2x12xf32> -> <16x16xf32>
    attn.store_tile %t, %m[%b, %row, %h] : <16x16xf32>, memref<?x?x2x12xf32>
  }
  return
}

// -----

// Narrow types are f32 in tiles: extended by a load, rounded by a store.

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?x?x2x8xbf16
// CHECK:         %[[BUFFER:.+]] = memref.alloc() {{.+}} : memref<4x8xf32>
// CHECK:         call @[[LOAD:[a-z_0-9]+]](
// CHECK:         %[[OUT:.+]] = vector.load %[[BUFFER]]
// CHECK:         %[[ROUNDED:.+]] = arith.truncf %[[OUT]] : vector<8xf32> to vector<8xbf16>
// CHECK:         vector.store %[[ROUNDED]], %[[M]]
// CHECK:       func.func private @[[LOAD]](
// CHECK:         %[[BITS:.+]] = vector.load %{{.+}} vector<8xbf16>
// CHECK:         %[[WIDE:.+]] = arith.extf %[[BITS]] : vector<8xbf16> to vector<8xf32>
// CHECK:         vector.store %[[WIDE]], %{{.+}} : memref<4x8xf32>
func.func @narrow(%m: memref<?x?x2x8xbf16, strided<[?, ?, ?, 1], offset: ?>>) attributes {attn.kernel} {
  scf.forall (%b, %h, %row) in (3, 2, 5) {
    %t = attn.load_tile %m[%b, %row, %h]
       : memref<?x?x2x8xbf16, strided<[?, ?, ?, 1], offset: ?>> -> <4x8xbf16>
    attn.store_tile %t, %m[%b, %row, %h]
       : <4x8xbf16>, memref<?x?x2x8xbf16, strided<[?, ?, ?, 1], offset: ?>>
  }
  return
}

// -----

// A convert rounds in place where its operand is not needed afterwards.

// CHECK-LABEL: func.func @convert(
// CHECK:         %[[BUFFER:.+]] = memref.alloc() {{.+}} : memref<4x8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         %[[IN:.+]] = vector.load %[[BUFFER]]
// CHECK:         %[[NARROW:.+]] = arith.truncf %[[IN]] : vector<8xf32> to vector<8xf16>
// CHECK:         %[[WIDE:.+]] = arith.extf %[[NARROW]] : vector<8xf16> to vector<8xf32>
// CHECK:         vector.store %[[WIDE]], %[[BUFFER]]
func.func @convert(%m: memref<?x?x2x8xf32>) attributes {attn.kernel} {
  scf.forall (%b, %h, %row) in (3, 2, 5) {
    %t = attn.load_tile %m[%b, %row, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %n = attn.convert %t : <4x8xf32> -> <4x8xf16>
    attn.store_tile %n, %m[%b, %row, %h] : <4x8xf16>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// Where it is needed, the result goes to a buffer of its own.

// CHECK-LABEL: func.func @convert_copy(
// CHECK:         %[[FROM:.+]] = memref.alloc() {{.+}} : memref<4x8xf32>
// CHECK:         %[[TO:.+]] = memref.alloc() {{.+}} : memref<4x8xf32>
// CHECK:         vector.load %[[FROM]]
// CHECK:         arith.truncf
// CHECK:         vector.store %{{.+}}, %[[TO]]
func.func @convert_copy(%m: memref<?x?x2x8xf32>) attributes {attn.kernel} {
  scf.forall (%b, %h, %row) in (3, 2, 5) {
    %t = attn.load_tile %m[%b, %row, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %n = attn.convert %t : <4x8xf32> -> <4x8xf16>
    attn.store_tile %n, %m[%b, %row, %h] : <4x8xf16>, memref<?x?x2x8xf32>
    attn.store_tile %t, %m[%b, %row, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// Rank-1 tiles take any stride, element by element.

// CHECK-LABEL: func.func @row(
// CHECK-SAME:    %[[M:[^:]+]]: memref<?x2x?xf32, strided<[?, ?, ?], offset: ?>>
// CHECK:         %[[BUFFER:.+]] = memref.alloc() {{.+}} : memref<8xf32>
// CHECK:         memref.dim %[[M]], %c2
// CHECK:         vector.store %{{.+}}, %[[BUFFER]][%c0]
// CHECK:         scf.for %[[I:.+]] = %c0 to %{{.+}} step %c1 {
// CHECK:           %[[X:.+]] = memref.load %[[M]][%{{.+}}, %{{.+}}, %{{.+}}]
// CHECK:           memref.store %[[X]], %[[BUFFER]][%[[I]]]
func.func @row(%m: memref<?x2x?xf32, strided<[?, ?, ?], offset: ?>>) attributes {attn.kernel} {
  scf.forall (%b, %h, %row) in (3, 2, 5) {
    %t = attn.load_tile %m[%b, %row, %h] pad(0xFF800000)
       : memref<?x2x?xf32, strided<[?, ?, ?], offset: ?>> -> <5xf32>
    attn.store_tile %t, %m[%b, %row, %h]
       : <5xf32>, memref<?x2x?xf32, strided<[?, ?, ?], offset: ?>>
  }
  return
}
