// RUN: attn-opt %s -convert-attn-to-cpu -canonicalize -cse -split-input-file | FileCheck %s --enable-var-scope

// A region of elementwise ops runs on vectors; what is the same for a row stays scalar.

// CHECK-LABEL: func.func @alibi(
// CHECK-SAME:    %[[SLOPES:[^:]+]]: memref<2xf32>, %[[SCALE:[^:]+]]: f32
// CHECK-DAG:     %[[STEPS:.+]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xindex>
// CHECK:         %[[FACTOR:.+]] = vector.broadcast %[[SCALE]] : f32 to vector<8xf32>
// CHECK:         %[[S:.+]] = arith.mulf %{{.+}}, %[[FACTOR]] : vector<8xf32>
// CHECK:         %[[J:.+]] = arith.addi %{{.+}}, %[[STEPS]] : vector<8xindex>
// CHECK:         %[[CAPPED:.+]] = math.tanh %{{.+}} : vector<8xf32>
// CHECK-NOT:     arith.minsi
// CHECK:         arith.index_cast %{{.+}} : vector<8xindex> to vector<8xi32>
// CHECK:         arith.sitofp %{{.+}} : vector<8xi32> to vector<8xf32>
// CHECK:         %[[SLOPE:.+]] = memref.load %[[SLOPES]]
// CHECK:         vector.broadcast %[[SLOPE]] : f32 to vector<8xf32>
func.func @alibi(%m: memref<?x?x2x8xf32>, %slopes: memref<2xf32>, %scale: f32, %i0: index, %j0: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.map_scores %s rows(%i0) keys(%j0) lengths(%j0, %j0) scale(%scale) : <4x8xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      %c = attn.softcap %x, 5.0e+01
      %d = arith.subi %i, %j : index
      %n = arith.index_cast %d : index to i32
      %f = arith.sitofp %n : i32 to f32
      %slope = memref.load %slopes[%h] : memref<2xf32>
      %bias = arith.mulf %slope, %f : f32
      %y = arith.subf %c, %bias : f32
      attn.yield %y : f32
    }
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// A region that looks something up for each key runs on one score at a time, and on no key after
// the last.

// CHECK-LABEL: func.func @lookup(
// CHECK-SAME:    %{{[^:]+}}: memref<?x?x2x8xf32>, %[[BIAS:[^:]+]]: memref<?xf32>, %{{[^:]+}}: f32
// CHECK-SAME:    %{{[^:]+}}: index, %{{[^:]+}}: index, %{{[^:]+}}: index, %[[SK:[^:]+]]: index
// CHECK:         scf.for %[[R:.+]] = %c0 to %c4 step %c1 {
// CHECK:           scf.for %[[C:.+]] = %c0 to %c8 step %c1 {
// CHECK:             %[[S:.+]] = memref.load %[[TILE:.+]][%[[R]], %[[C]]]
// CHECK:             %[[COLUMN:.+]] = arith.addi %{{.+}}, %[[C]]
// CHECK:             %[[LAST:.+]] = arith.subi %[[SK]], %c1
// CHECK:             %[[KEY:.+]] = arith.minsi %[[COLUMN]], %[[LAST]]
// CHECK:             %[[B:.+]] = memref.load %[[BIAS]][%[[KEY]]]
// CHECK:             arith.addf %{{.+}}, %[[B]] : f32
// CHECK:             memref.store %{{.+}}, %[[TILE]][%[[R]], %[[C]]]
func.func @lookup(%m: memref<?x?x2x8xf32>, %bias: memref<?xf32>, %scale: f32, %i0: index, %j0: index, %sq: index, %sk: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.map_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk) scale(%scale) : <4x8xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      %e = memref.load %bias[%j] : memref<?xf32>
      %y = arith.addf %x, %e : f32
      attn.yield %y : f32
    }
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// A lookup by the row leaves the row on vectors; the row is at most the last one.

// CHECK-LABEL: func.func @row_lookup(
// CHECK-SAME:    %{{[^:]+}}: memref<?x?x2x8xf32>, %[[BIAS:[^:]+]]: memref<?xf32>, %{{[^:]+}}: f32
// CHECK-SAME:    %{{[^:]+}}: index, %{{[^:]+}}: index, %[[SQ:[^:]+]]: index
// CHECK:         %[[LAST:.+]] = arith.subi %[[SQ]], %c1
// CHECK:         %[[ROW:.+]] = arith.minsi %{{.+}}, %[[LAST]]
// CHECK:         %[[B:.+]] = memref.load %[[BIAS]][%[[ROW]]]
// CHECK:         vector.broadcast %[[B]] : f32 to vector<8xf32>
func.func @row_lookup(%m: memref<?x?x2x8xf32>, %bias: memref<?xf32>, %scale: f32, %i0: index, %j0: index, %sq: index, %sk: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.map_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk) scale(%scale) : <4x8xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      %e = memref.load %bias[%i] : memref<?xf32>
      %y = arith.addf %x, %e : f32
      attn.yield %y : f32
    }
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// Division by a position may fault past the end as well: vectors of keys end at the last one.

// CHECK-LABEL: func.func @division(
// CHECK:         %[[KEYS:.+]] = arith.minsi %{{.+}}, %{{.+}} : vector<8xindex>
// CHECK:         arith.divsi %{{.+}}, %{{.+}} : vector<8xindex>
func.func @division(%m: memref<?x?x2x8xf32>, %scale: f32, %i0: index, %j0: index, %sq: index, %sk: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.map_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk) scale(%scale) : <4x8xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      %left = arith.subi %sk, %j : index
      %q = arith.divsi %sk, %left : index
      %n = arith.index_cast %q : index to i32
      %f = arith.sitofp %n : i32 to f32
      %y = arith.addf %x, %f : f32
      attn.yield %y : f32
    }
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// The mask's predicate and the end of the keys are tested for a vector of keys.

// CHECK-LABEL: func.func @causal(
// CHECK-SAME:    %{{[^:]+}}: memref<?x?x2x8xf32>, %[[SQ:[^:]+]]: index, %[[SK:[^:]+]]: index
// CHECK-DAG:     %[[INF:.+]] = arith.constant dense<0xFF800000> : vector<8xf32>
// CHECK:         %[[SKV:.+]] = vector.broadcast %[[SK]] : index to vector<8xindex>
// CHECK:         %[[LAST:.+]] = arith.subi %[[SKV]], %{{.+}} : vector<8xindex>
// CHECK:         %[[END:.+]] = arith.cmpi sle, %{{.+}}, %[[LAST]] : vector<8xindex>
// CHECK:         %[[DIAGONAL:.+]] = arith.cmpi sle, %{{.+}}, %{{.+}} : vector<8xindex>
// CHECK:         %[[KEEP:.+]] = arith.andi %[[END]], %[[DIAGONAL]] : vector<8xi1>
// CHECK:         %[[S:.+]] = vector.load
// CHECK:         arith.select %[[KEEP]], %[[S]], %[[INF]]
func.func @causal(%m: memref<?x?x2x8xf32>, %sq: index, %sk: index, %i0: index, %j0: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.mask_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk)
        mask(#attn.causal<bottom_right>) : <4x8xf32>
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// Without a mask the end of the keys is all there is to test.

// CHECK-LABEL: func.func @none(
// CHECK:         arith.cmpi sle
// CHECK-NOT:     arith.cmpi
// CHECK:         return

// CHECK-LABEL: func.func @window(
// CHECK-SAME:    %{{[^:]+}}: memref<?x?x2x8xf32>, %{{[^:]+}}: index, %{{[^:]+}}: index, %[[LEFT:[^:]+]]: index
// CHECK:         vector.broadcast %[[LEFT]] : index to vector<8xindex>
func.func @none(%m: memref<?x?x2x8xf32>, %sq: index, %sk: index, %i0: index, %j0: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.mask_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk) mask(#attn.none) : <4x8xf32>
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}
func.func @window(%m: memref<?x?x2x8xf32>, %sq: index, %sk: index, %left: index, %i0: index, %j0: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.mask_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk) mask(#attn.window<?, 0>)
        mask_args(%left : index) : <4x8xf32>
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// Soft caps inside other ops of a region are written out too.

// CHECK-LABEL: func.func @nested(
// CHECK:         scf.if
// CHECK:           math.tanh {{.+}} : f32
// CHECK-NOT:     attn.softcap
func.func @nested(%m: memref<?x?x2x8xf32>, %scale: f32, %i0: index, %j0: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %t = attn.map_scores %s rows(%i0) keys(%j0) lengths(%j0, %j0) scale(%scale) : <4x8xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      %is = arith.cmpi slt, %j, %i : index
      %y = scf.if %is -> f32 {
        %c = attn.softcap %x, 5.0e+01
        scf.yield %c : f32
      } else {
        scf.yield %x : f32
      }
      attn.yield %y : f32
    }
    attn.store_tile %t, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}
