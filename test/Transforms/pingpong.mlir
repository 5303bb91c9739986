// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},func.func(attn-overlap-softmax,attn-start-products,attn-pingpong))" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// A turn holds the starts of both products of a step.
// CHECK-LABEL: func @turns
// CHECK: scf.forall
// CHECK: attn.turns_begin of(3)
// CHECK: scf.for %
// CHECK-NOT: attn.mma_start
// CHECK:   attn.turn_wait of(3)
// CHECK-NEXT: attn.mma_start
// CHECK-NEXT: attn.mma_start
// CHECK-NEXT: attn.turn_pass of(3)
// CHECK-NEXT: attn.mma_wait
// CHECK: attn.mask_class = "full"
// CHECK: scf.for %
// CHECK:   attn.turn_wait of(3)
// CHECK:   attn.turn_pass of(3)
// CHECK: attn.store_tile
// CHECK: attn.turns_end of(3)
func.func @turns(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 192, warps = 12, instruction = wgmma, overlap = true, pingpong = true>)
  return
}

// One warpgroup has nobody to take turns with.
// CHECK-LABEL: func @alone
// CHECK-NOT: attn.turn
func.func @alone(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 64, warps = 4, instruction = wgmma, overlap = true, pingpong = true>)
  return
}

// CHECK-LABEL: func @off
// CHECK-NOT: attn.turn
func.func @off(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, overlap = true>)
  return
}
