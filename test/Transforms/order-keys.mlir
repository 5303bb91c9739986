// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles})" | FileCheck %s --check-prefix=BEFORE
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles},func.func(attn-order-keys),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// The masked loop comes first, and each loop counts from its last tile down.
// BEFORE-LABEL: func @descending
// BEFORE: attn.mask_class = "full"
// BEFORE: attn.mask_class = "masked"
// CHECK-LABEL: func @descending
// CHECK: %[[O:.*]] = attn.fill
// CHECK: %[[MASKED:.*]]:2 = scf.for %[[I:.*]] = %[[B:[^ ]*]] to %[[HI:.*]] step %{{.*}} iter_args(%{{.*}} = %[[O]],
// CHECK:   %[[KEY:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:   attn.load_tile %arg1[%{{.*}}, %[[KEY]], %{{.*}}]
// CHECK:   attn.mask_scores %{{.*}} rows(%{{.*}}) keys(%[[KEY]])
// CHECK:   attn.load_tile %arg2[%{{.*}}, %[[KEY]], %{{.*}}]
// CHECK: attn.mask_class = "masked"
// CHECK: %[[FULL:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %[[B]] step %{{.*}} iter_args(%{{.*}} = %[[MASKED]]#0,
// CHECK:   %[[KEY:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK:   attn.load_tile %arg1[%{{.*}}, %[[KEY]], %{{.*}}]
// CHECK-NOT: attn.mask_scores
// CHECK: attn.mask_class = "full"
// CHECK: attn.finalize %[[FULL]]#0
func.func @descending(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, kv_order = descending>)
  return
}

// -----

// Ascending, and any order of a kernel that is not made of wgmma, stays.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @ascending
// CHECK: attn.mask_class = "full"
// CHECK: attn.mask_class = "masked"
func.func @ascending(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma>)
  return
}
// CHECK-LABEL: func @not_wgmma
// CHECK: attn.mask_class = "full"
// CHECK: attn.mask_class = "masked"
func.func @not_wgmma(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<kv_order = descending>)
  return
}
