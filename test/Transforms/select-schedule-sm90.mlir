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

// Without lazy rescaling, which f32 output turns off, no score is compared with a reference.
// CHECK-LABEL: func @f32_output
// CHECK: consumer_registers = 240, lazy_rescale = false>
// CHECK: consumer_registers = 240, integer_max = true>
// CHECK-LABEL: func @not_lazy
// CHECK-NOT: integer_max
// CHECK: lazy_rescale = false
!q = memref<?x?x8x128xbf16>
!f = memref<?x?x8x128xf32>
func.func @f32_output(%q: !q, %k: !q, %v: !q, %o: !f, %s: f32) {
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !f) scale(%s) alignment(16)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !f) scale(%s) alignment(16)
               {attn.pins = {lazy_rescale = true}}
  return
}
func.func @not_lazy(%q: !q, %k: !q, %v: !q, %o: !q, %s: f32) {
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(16)
               {attn.pins = {lazy_rescale = false}}
  return
}
