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

// Sequences that are promised to be short have rows of their own, and the promise ends there: what
// has the same schedule is the same kernel.
// CHECK-LABEL: func @short
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 128, {{.*}}, warps = 8,
// CHECK-LABEL: func @not_short
// CHECK-COUNT-3: alignment(16) schedule(<q_tile = 192, kv_tile = 128,
// CHECK-LABEL: func @short_d192
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 80, {{.*}} persistent = dynamic, q_stages = 2
// CHECK: alignment(16) schedule(<q_tile = 128, stages = 2, {{.*}} persistent = dynamic, q_stages = 2
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 96, {{.*}} persistent = dynamic, q_stages = 3, q_by_warpgroup = true
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 96, {{.*}} persistent = dynamic, q_stages = 3, q_by_warpgroup = true
// Windows make all sequences short, so that no promise is asked for.
// CHECK-LABEL: func @lengths_of_d128
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 128, {{.*}} q_in_registers = true, {{.*}} persistent = static
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 176, {{.*}} persistent = dynamic, q_stages = 3, q_by_warpgroup = true
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 128, {{.*}} q_in_registers = true, {{.*}} persistent = dynamic
// CHECK: alignment(16) schedule(<q_tile = 128, kv_tile = 176, {{.*}} persistent = dynamic, q_stages = 3, q_by_warpgroup = true
// CHECK: window<1023, 0>{{.*}} schedule(<q_tile = 128, kv_tile = 128, {{.*}} q_in_registers = true
func.func @short(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) max_seq_len(1024)
  return
}
func.func @not_short(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16)
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) max_seq_len(1025)
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16) max_seq_len(1024)
  return
}
!w = memref<?x?x8x192xbf16>
func.func @short_d192(%q: !w, %k: !w, %v: !w, %o: !w, %s: f32) {
  attn.forward ins(%q, %k, %v : !w, !w, !w) outs(%o : !w) scale(%s) alignment(16) max_seq_len(2048)
  attn.forward ins(%q, %k, %v : !w, !w, !w) outs(%o : !w) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) max_seq_len(2048)
  attn.forward ins(%q, %k, %v : !w, !w, !w) outs(%o : !w) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) max_seq_len(2049)
  attn.forward ins(%q, %k, %v : !w, !w, !w) outs(%o : !w) scale(%s) alignment(16) max_seq_len(4097)
  return
}

func.func @lengths_of_d128(%q: !q, %k: !q, %v: !q, %o: !q, %s: f32) {
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(16) max_seq_len(4096)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(16) max_seq_len(4097)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) max_seq_len(8192)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) max_seq_len(8193)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s)
               mask(#attn.window<1023, 0>) alignment(16)
  return
}

// Rows under causal and window masks differ in length, and the longest start first.
// CHECK-LABEL: func @orders
// CHECK: order = longest_first
// CHECK-NEXT: window<2047, 0>{{.*}} order = longest_first
// CHECK-NEXT: all_of<{{.*}}window<5, 0>{{.*}} order = longest_first
// CHECK-NEXT: window<-1, 5>{{.*}} order = longest_first
// CHECK-NEXT: return
func.func @orders(%q: !q, %k: !q, %v: !q, %o: !q, %s: f32) {
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s)
               mask(#attn.window<2047, 0>) alignment(16)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s)
               mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<5, 0>>) alignment(16)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s)
               mask(#attn.window<-1, 5>) alignment(16)
  return
}

// Q in registers is a pin like any other.
// CHECK-LABEL: func @q_in_shared_memory
// CHECK: schedule(<{{.*}} instruction = wgmma, kv_order = descending,
func.func @q_in_shared_memory(%q: !q, %k: !q, %v: !q, %o: !q, %s: f32) {
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(16)
               {attn.pins = {q_in_registers = false}}
  return
}

// Tensor maps want 16 bytes; below that threads copy, whatever the phase.
// CHECK-LABEL: func @alignments
// CHECK-NOT: producer =
// CHECK: alignment(16)
// CHECK: alignment(8) schedule(<{{.*}}instruction = wgmma{{.*}} producer = cp_async, producer_registers = 56, consumer_registers = 224
// CHECK: alignment(2) schedule(<{{.*}}instruction = wgmma{{.*}} producer = cp_async
// CHECK: alignment(16) schedule(<{{.*}}instruction = wgmma{{.*}} producer = cp_async
// CHECK-LABEL: func @one_query
// CHECK: alignment(4) schedule(<{{.*}}instruction = wgmma{{.*}} producer = cp_async
!one = memref<?x1x8x128xbf16>
func.func @alignments(%q: !q, %k: !q, %v: !q, %o: !q, %s: f32) {
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(16)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(8)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(2)
  attn.forward ins(%q, %k, %v : !q, !q, !q) outs(%o : !q) scale(%s) alignment(16)
               {attn.pins = {producer = "cp_async"}}
  return
}
func.func @one_query(%q: !one, %k: !q, %v: !q, %o: !one, %s: f32) {
  attn.forward ins(%q, %k, %v : !one, !q, !q) outs(%o : !one) scale(%s) alignment(4)
  return
}
