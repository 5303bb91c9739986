// RUN: attn-opt %s -convert-attn-to-cpu=vector-width=4 -canonicalize -cse -split-input-file | FileCheck %s --enable-var-scope

// Three sweeps: the maxima, alpha and l for a vector of rows, the probabilities. Columns
// behind the last score count neither for the maximum nor for the sum.

// CHECK-LABEL: func.func @update(
// CHECK-SAME:    %{{[^:]+}}: memref<?x?x2x6xf32>, %[[SCALE:[^:]+]]: f32
// CHECK:         %[[ONE:.+]] = arith.constant dense<1.000000e+00> : vector<4xf32>
// CHECK:         call @[[MAX:[a-z_0-9]+]](%[[S:[a-z_0-9]+]], %[[M:[a-z_0-9]+]], %{{[a-z_0-9]+}}, %{{[a-z_0-9]+}})
// CHECK:         %[[ALPHA:.+]] = math.exp
// CHECK:         arith.select %{{.+}}, %[[ONE]], %{{.+}} : vector<4xi1>, vector<4xf32>
// CHECK:         call @[[PROBABILITIES:[a-z_0-9]+]](%[[S]], %[[M]], %[[SCALE]], %[[S]], %{{.+}}, %{{.+}})

// CHECK:       func.func private @[[MAX]](
// CHECK-DAG:     %[[INSIDE:.+]] = arith.constant dense<[true, true, false, false]> : vector<4xi1>
// CHECK-DAG:     %[[INF:.+]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK:         %[[TAIL:.+]] = arith.select %[[INSIDE]], %{{.+}}, %[[INF]]
// CHECK:         arith.cmpf ogt, %[[TAIL]], %{{.+}}
// CHECK-COUNT-6: vector.shuffle

// CHECK:       func.func private @[[PROBABILITIES]](
// CHECK-SAME:    %[[S:[^:]+]]: memref<4x8xf32>, %[[M:[^:]+]]: memref<4xf32>, %[[SCALE:[^:]+]]: f32, %[[P:[^:]+]]: memref<4x8xf32>
// CHECK-DAG:     %[[INSIDE:.+]] = arith.constant dense<[true, true, false, false]> : vector<4xi1>
// CHECK-DAG:     %[[INF:.+]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK:         %[[FACTOR:.+]] = vector.broadcast %[[SCALE]] : f32 to vector<4xf32>
// CHECK:         %[[X:.+]] = vector.load %[[S]]
// CHECK:         %[[DIFF:.+]] = arith.subf %[[X]], %{{.+}}
// CHECK:         %[[SCALED:.+]] = arith.mulf %[[DIFF]], %[[FACTOR]]
// CHECK:         %[[E:.+]] = math.exp %[[SCALED]]
// CHECK:         %[[MASKED:.+]] = arith.cmpf oeq, %[[X]], %[[INF]]
// CHECK:         %[[PROB:.+]] = arith.select %[[MASKED]], %[[ZERO]], %[[E]]
// CHECK:         vector.store %[[PROB]], %[[P]]
// CHECK:         arith.select %[[INSIDE]], %{{.+}}, %[[ZERO]]
// CHECK-COUNT-6: vector.shuffle
func.func @update(%m: memref<?x?x2x6xf32>, %scale: f32) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x6xf32> -> <4x6xf32>
    %init = attn.softmax_init : <4>
    %st, %p, %alpha = attn.softmax_update %init, %s scale(%scale) : <4>, <4x6xf32> -> <4xf32>
    %r = attn.rescale %p, %alpha : <4x6xf32>, <4xf32>
    attn.store_tile %r, %m[%b, %c0, %h] : <4x6xf32>, memref<?x?x2x6xf32>
  }
  return
}

// -----

// The passes of safe softmax: one for the maximum, one for the sum, one for the result.

// CHECK-LABEL: func.func @passes(
// CHECK-NOT:     math.exp
// CHECK:         vector.shuffle
// CHECK:         math.exp
// CHECK:         vector.shuffle
// CHECK:         math.exp
// CHECK-NOT:     vector.shuffle
// CHECK:         return
func.func @passes(%m: memref<?x?x2x8xf32>, %scale: f32) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %s = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %init = attn.softmax_init : <4>
    %a = attn.softmax_max %init, %s scale(%scale) : <4>, <4x8xf32>
    %l = attn.softmax_sum %a, %s scale(%scale) : <4>, <4x8xf32>
    %p = attn.softmax_apply %l, %s scale(%scale) : <4>, <4x8xf32>
    attn.store_tile %p, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
  }
  return
}

// -----

// Rows that saw no key give 0 and -inf.

// CHECK-LABEL: func.func @finalize(
// CHECK-DAG:     %[[INF:.+]] = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK:         %[[LN:.+]] = math.log
// CHECK:         %[[LSE:.+]] = arith.addf %{{.+}}, %[[LN]]
// CHECK:         arith.select %{{.+}}, %[[INF]], %[[LSE]]
// CHECK:         %[[EMPTY:.+]] = arith.cmpf oeq, %[[L:.+]], %{{.+}} : f32
// CHECK:         %[[QUOTIENT:.+]] = arith.divf
// CHECK:         arith.select %[[EMPTY]], %[[ZERO]], %[[QUOTIENT]] : vector<4xf32>
func.func @finalize(%m: memref<?x?x2x8xf32>, %lse: memref<?x2x?xf32>, %scale: f32) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %acc = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %st = attn.softmax_init : <4>
    %o, %l = attn.finalize %acc, %st scale(%scale) : <4x8xf32>, <4> -> <4x8xf32>, <4xf32>
    attn.store_tile %o, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
    attn.store_tile %l, %lse[%b, %c0, %h] : <4xf32>, memref<?x2x?xf32>
  }
  return
}

// -----

// An empty side leaves the other one as it is.

// CHECK-LABEL: func.func @merge(
// CHECK:         math.exp
// CHECK:         math.exp
// CHECK:         math.log
// CHECK:         %[[ONLY_A:.+]] = arith.cmpf oeq, %{{.+}}, %{{.+}} : f32
// CHECK:         %[[ONLY_B:.+]] = arith.cmpf oeq, %{{.+}}, %{{.+}} : f32
// CHECK:         %[[X:.+]] = vector.load %[[A:.+]][%[[R:.+]], %c0] : memref<4x8xf32>
// CHECK:         %[[Y:.+]] = vector.load %{{.+}}[%[[R]], %c0] : memref<4x8xf32>
// CHECK:         %[[SUM:.+]] = arith.addf
// CHECK:         %[[S1:.+]] = arith.select %[[ONLY_A]], %[[X]], %[[SUM]]
// CHECK:         %[[S2:.+]] = arith.select %[[ONLY_B]], %[[Y]], %[[S1]]
// CHECK:         vector.store %[[S2]], %[[A]][%[[R]], %c0]
func.func @merge(%m: memref<?x?x2x8xf32>, %n: memref<?x?x2x8xf32>, %l: memref<?x2x?xf32>) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %oa = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %ob = attn.load_tile %n[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %la = attn.load_tile %l[%b, %c0, %h] : memref<?x2x?xf32> -> <4xf32>
    %lb = attn.load_tile %l[%b, %c0, %h] : memref<?x2x?xf32> -> <4xf32>
    %o, %lse = attn.merge %oa, %la with %ob, %lb : <4x8xf32>, <4xf32>
    attn.store_tile %o, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
    attn.store_tile %lse, %l[%b, %c0, %h] : <4xf32>, memref<?x2x?xf32>
  }
  return
}

// -----

// With tails a product is exact in two parts, and so is each sum of an LSE and something small.

// CHECK-LABEL: func.func @tails(
// CHECK-SAME:    %{{[^:]+}}: memref<?x?x2x8xf32>, %{{[^:]+}}: memref<?x2x?xf32>, %[[SCALE:[^:]+]]: f32
// CHECK:         %[[FACTOR:.+]] = vector.broadcast %[[SCALE]]
// CHECK:         %[[PRODUCT:.+]] = arith.mulf %[[M:.+]], %[[FACTOR]]
// CHECK:         %[[LN:.+]] = math.log
// CHECK:         %[[LSE:.+]] = arith.addf %[[PRODUCT]], %[[LN]]
// CHECK:         arith.subf %[[LSE]], %[[PRODUCT]]
// CHECK:         %[[NEGATED:.+]] = arith.negf %[[PRODUCT]]
// CHECK:         math.fma %[[M]], %[[FACTOR]], %[[NEGATED]]
// CHECK:         math.exp
// CHECK:         %[[SUM:.+]] = math.log
// CHECK:         arith.addf %[[SUM]], %{{.+}}
func.func @tails(%m: memref<?x?x2x8xf32>, %lse: memref<?x2x?xf32>, %scale: f32) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%b, %h) in (3, 2) {
    %acc = attn.load_tile %m[%b, %c0, %h] : memref<?x?x2x8xf32> -> <4x8xf32>
    %la = attn.load_tile %lse[%b, %c0, %h] : memref<?x2x?xf32> -> <4xf32>
    %st = attn.softmax_init : <4>
    %o, %l, %t = attn.finalize %acc, %st scale(%scale) : <4x8xf32>, <4> -> <4x8xf32>, <4xf32>, !attn.tile<4xf32>
    %r, %lr, %tr = attn.merge %acc, %la with %o, %l tails(%t, %la : !attn.tile<4xf32>, !attn.tile<4xf32>) : <4x8xf32>, <4xf32>, !attn.tile<4xf32>
    attn.store_tile %r, %m[%b, %c0, %h] : <4x8xf32>, memref<?x?x2x8xf32>
    attn.store_tile %lr, %lse[%b, %c0, %h] : <4xf32>, memref<?x2x?xf32>
    attn.store_tile %tr, %lse[%b, %c0, %h] : <4xf32>, memref<?x2x?xf32>
  }
  return
}
