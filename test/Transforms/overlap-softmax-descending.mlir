// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},func.func(attn-order-keys,attn-overlap-softmax),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// From the last tile on, the ragged end comes first. It is one tile, so that its loop has no other.
// CHECK-LABEL: func @full
// CHECK: attn.mask_scores
// CHECK: scf.for
// CHECK-NOT: attn.mask_scores
// CHECK: attn.mask_class = "full"
// CHECK-NOT: attn.mask_class
func.func @full(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, kv_order = descending, overlap = true>)
  return
}

// The diagonal may have several.
// CHECK-LABEL: func @causal
// CHECK: attn.mask_scores
// CHECK: attn.mask_class = "masked"
// CHECK: attn.mask_class = "full"
func.func @causal(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) mask(#attn.causal<bottom_right>) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, kv_order = descending, overlap = true>)
  return
}
