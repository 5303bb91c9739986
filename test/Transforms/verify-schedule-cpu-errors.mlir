// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(attn-verify-schedule{target=cpu}))"

!t = memref<?x?x8x128xf32>
!l = memref<?x8x?xf32>
func.func @fa1_needs_lse(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.forward' op schedule does not fit cpu: algorithm: fa1 keeps its running output in o and lse, expected an f32 o and an lse; choose algorithm = fa2}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    schedule(#attn.schedule<algorithm = fa1>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
!l = memref<?x8x?xf32>
func.func @fa1_needs_f32(%q: !t, %k: !t, %v: !t, %o: !t, %l: !l, %s: f32) {
  // expected-error @below {{algorithm: fa1 keeps its running output in o and lse}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o, %l : !t, !l) scale(%s)
    schedule(#attn.schedule<algorithm = fa1>)
  return
}

// -----

// Fields that kernels of GPUs alone have mean nothing here.
!t = memref<?x?x8x128xf32>
!l = memref<?x8x?xf32>
func.func @stages(%q: !t, %k: !t, %v: !t, %o: !t, %l: !l, %s: f32) {
  // expected-error @below {{'attn.forward' op schedule does not fit cpu: stages: 8 is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o, %l : !t, !l) scale(%s)
    schedule(#attn.schedule<algorithm = fa1, q_tile = 5, kv_tile = 7, stages = 8>)
  return
}

// -----

!t = memref<?x?x8x128xf32>
!l = memref<?x8x?xf32>
func.func @no_error(%q: !t, %k: !t, %v: !t, %o: !t, %l: !l, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o, %l : !t, !l) scale(%s)
    schedule(#attn.schedule<algorithm = fa1, q_tile = 5, kv_tile = 7>)
  return
}
