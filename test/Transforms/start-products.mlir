// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles},func.func(attn-overlap-softmax,attn-start-products),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// Without overlap each product is awaited before what follows it.
// CHECK-LABEL: func @one_by_one
// CHECK: scf.for %
// CHECK:   %[[SF:.*]] = attn.mma_start %{{.*}}, %{{.*}} transpose_b : <128x64xf16>, <64x64xf16> -> <<128x64xf32>>
// CHECK:   %[[S:.*]] = attn.mma_wait %[[SF]] pending(0)
// CHECK:   attn.softmax_update %{{.*}}, %[[S]]
// CHECK:   %[[O:.*]] = attn.rescale
// CHECK:   %[[OF:.*]] = attn.mma_start %{{.*}}, %{{.*}}, %[[O]] : !attn.tile<128x64xf32> :
// CHECK:   %[[OV:.*]] = attn.mma_wait %[[OF]] pending(0)
// CHECK:   scf.yield %[[OV]]
func.func @one_by_one(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma>)
  return
}

// -----

// With overlap both are in flight; the wait for the scores leaves the other running, and the scores
// pass through the second wait, so that the exponentials stay below it.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @side_by_side
// CHECK: scf.for %
// CHECK:   %[[SF:.*]] = attn.mma_start {{.*}} transpose_b
// CHECK:   %[[OF:.*]] = attn.mma_start
// CHECK:   %[[S:.*]] = attn.mma_wait %[[SF]] pending(1)
// CHECK:   %{{.*}}, %[[R:.*]], %[[ALPHA:.*]] = attn.softmax_rebase %{{.*}}, %[[S]]
// CHECK:   %[[OV:.*]]:2 = attn.mma_wait %[[OF]], %[[R]] pending(0)
// CHECK:   attn.rescale %[[OV]]#0, %[[ALPHA]]
// CHECK:   attn.softmax_add %{{.*}}, %[[OV]]#1
// CHECK: attn.mask_class = "full"
// CHECK: scf.for %
// CHECK:   %[[M:.*]] = attn.mask_scores
// CHECK:   %{{.*}}, %[[RM:.*]], %{{.*}} = attn.softmax_rebase %{{.*}}, %[[M]]
// CHECK:   %[[OM:.*]]:2 = attn.mma_wait %{{.*}}, %[[RM]] pending(0)
// CHECK:   attn.softmax_add %{{.*}}, %[[OM]]#1
func.func @side_by_side(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, overlap = true>)
  return
}

// -----

// Other instructions are not asynchronous.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @mma
// CHECK-NOT: attn.mma_start
// CHECK: attn.tile_mma
func.func @mma(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16) schedule(<kv_tile = 64>)
  return
}
