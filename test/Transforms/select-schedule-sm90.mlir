// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=sm_90a},attn-verify-schedule{target=sm_90a}))" | FileCheck %s

// The row's overlap goes where the algorithm has no products to overlap.
// CHECK-LABEL: func @fa2
// CHECK: schedule(<{{.*}} overlap = true
// CHECK-LABEL: func @two_pass
// CHECK: schedule(<algorithm = two_pass
// CHECK-NOT: overlap
// CHECK: return
!t = memref<?x?x8x64xbf16>
func.func @fa2(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
  return
}
func.func @two_pass(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
               {attn.pins = {algorithm = "two_pass"}}
  return
}
