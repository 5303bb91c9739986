// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(func.func(attn-lower-to-tiles),canonicalize,cse)" | FileCheck %s --check-prefix=BEFORE
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse)" | FileCheck %s
// A second run changes nothing: a loop with a class is split already.
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges,attn-split-mask-ranges),canonicalize,cse)" | FileCheck %s

// No mask: whole tiles, then the ragged end of the keys.
// BEFORE-LABEL: func @none
// BEFORE: scf.for %
// BEFORE-NOT: scf.for %
// BEFORE: attn.mask_scores
// BEFORE-NOT: attn.mask_class
// CHECK-LABEL: func @none
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[SK:.*]] = memref.dim %arg1
// CHECK: %[[MAX:.*]] = arith.maxsi %[[SK]], %[[C0]]
// CHECK: %[[DIV:.*]] = arith.divui %[[MAX]], %[[C32]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[DIV]], %[[C32]]
// CHECK: %[[END:.*]] = arith.maxsi %[[WHOLE]], %[[C0]]
// CHECK: %[[FULL:.*]]:2 = scf.for %{{.*}} = %[[C0]] to %[[END]] step %[[C32]]
// CHECK-NOT: attn.mask_scores
// CHECK: } {attn.kv_pass = 0 : i64, attn.mask_class = "full"}
// CHECK: scf.for %{{.*}} = %[[END]] to %[[SK]] step %[[C32]] iter_args(%{{.*}} = %[[FULL]]#0, %{{.*}} = %[[FULL]]#1)
// CHECK: attn.mask_scores
// CHECK: } {attn.kv_pass = 0 : i64, attn.mask_class = "masked"}
// CHECK-NOT: scf.for %
!t = memref<?x?x8x64xf16>
func.func @none(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) schedule(<kv_tile = 32>)
  return
}

// -----

// Causal: tiles below the diagonal of the tile's first row are free of tests.
// CHECK-LABEL: func @causal
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[SK:.*]] = memref.dim %arg1
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[ROWEND:.*]] = arith.minsi
// CHECK: %[[HI:.*]] = arith.minsi %[[ROWEND]], %[[SK]]
// CHECK: %[[DIAG:.*]] = arith.addi %[[ROW]], %[[C1]]
// CHECK: arith.minsi %[[DIAG]], %[[SK]]
// CHECK: %[[TILES:.*]] = arith.divui %{{.*}}, %[[C32]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[TILES]], %[[C32]]
// CHECK: %[[END:.*]] = arith.maxsi %[[WHOLE]], %[[C0]]
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[END]]
// CHECK-NOT: attn.mask_scores
// CHECK: attn.mask_class = "full"
// CHECK: scf.for %{{.*}} = %[[END]] to %[[HI]]
// CHECK: attn.mask_scores {{.*}} mask(#attn.causal<top_left>)
// CHECK: attn.mask_class = "masked"
// CHECK-NOT: scf.for %
!t = memref<?x?x8x64xf16>
func.func @causal(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<top_left>) schedule(<kv_tile = 32>)
  return
}

// -----

// A window: three loops, whose bounds meet; the state goes through all of them.
// CHECK-LABEL: func @window
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[LO:.*]] = arith.muli %{{.*}}, %[[C32]]
// CHECK: %[[FIRST:.*]] = arith.ceildivui %{{.*}}, %[[C32]]
// CHECK: %[[A:.*]] = arith.muli %[[FIRST]], %[[C32]]
// CHECK: %[[B:.*]] = arith.maxsi %{{.*}}, %[[A]]
// CHECK: %[[LEFT:.*]] = arith.minsi %[[A]], %[[HI:.*]] : index
// CHECK: %[[R0:.*]]:2 = scf.for %{{.*}} = %[[LO]] to %[[LEFT]] step %[[C32]]
// CHECK: attn.mask_scores
// CHECK: attn.mask_class = "masked"
// CHECK: %[[R1:.*]]:2 = scf.for %{{.*}} = %[[A]] to %[[B]] step %[[C32]] iter_args(%{{.*}} = %[[R0]]#0, %{{.*}} = %[[R0]]#1)
// CHECK-NOT: attn.mask_scores
// CHECK: attn.mask_class = "full"
// CHECK: %[[R2:.*]]:2 = scf.for %{{.*}} = %[[B]] to %[[HI]] step %[[C32]] iter_args(%{{.*}} = %[[R1]]#0, %{{.*}} = %[[R1]]#1)
// CHECK: attn.mask_scores
// CHECK: attn.mask_class = "masked"
// CHECK: attn.finalize %[[R2]]#0, %[[R2]]#1
!t = memref<?x?x8x64xf16>
func.func @window(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.window<127, 0, top_left>) schedule(<kv_tile = 32>)
  return
}

// -----

// Every pass over the keys is split.
// CHECK-LABEL: func @naive
// CHECK: {attn.kv_pass = 0 : i64, attn.mask_class = "full"}
// CHECK: {attn.kv_pass = 0 : i64, attn.mask_class = "masked"}
// CHECK: {attn.kv_pass = 1 : i64, attn.mask_class = "full"}
// CHECK: {attn.kv_pass = 1 : i64, attn.mask_class = "masked"}
// CHECK: {attn.kv_pass = 2 : i64, attn.mask_class = "full"}
// CHECK: {attn.kv_pass = 2 : i64, attn.mask_class = "masked"}
!t = memref<?x?x8x64xf16>
func.func @naive(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<bottom_right>) schedule(<algorithm = naive>)
  return
}

// -----

// A loop that tests no scores stays as it is.
// CHECK-LABEL: func @no_mask_scores
// CHECK: scf.for %
// CHECK: } {attn.kv_pass = 0 : i64}
// CHECK-NOT: attn.mask_class
func.func @no_mask_scores(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %x = arith.constant 0.0 : f32
  scf.for %j = %c0 to %n step %c64 {
    memref.store %x, %m[%j] : memref<?xf32>
  } {attn.kv_pass = 0 : i64}
  return
}
