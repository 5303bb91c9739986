// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=cpu}))"

// What the CPU has no use for cannot be pinned there, unless the pin says what it does anyway.
!t = memref<?x?x8x64xf32>
func.func @used(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    {attn.pins = {algorithm = "two_pass", q_tile = 5, kv_tile = 7, split_kv = 2, order = "linear",
                  warps = 1, instruction = "fma", lazy_rescale = false}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @stages(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{stages: 3 is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {stages = 3}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @warps(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{warps: 8 is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {warps = 8}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @warp_split(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{warp_split: keys is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {warp_split = "keys"}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @instruction(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{instruction: wgmma is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {instruction = "wgmma"}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @q_in_registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{q_in_registers: true is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {q_in_registers = true}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @kv_order(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{kv_order: descending is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {kv_order = "descending"}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @overlap(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{overlap: true is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {overlap = true}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @pingpong(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{pingpong: true is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {pingpong = true}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @persistent(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{persistent: static is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {persistent = "static"}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @q_stages(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{q_stages: 2 is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {q_stages = 2}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @producer_registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{producer_registers: 24 is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {producer_registers = 24}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @consumer_registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{consumer_registers: 240 is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {consumer_registers = 240}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @integer_max(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{integer_max: true is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {integer_max = true}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @lazy_rescale(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{lazy_rescale: true is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {lazy_rescale = true}}
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @producer(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{producer: cp_async is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {producer = "cp_async"}}
  return
}

// -----

// The same of a schedule, in which fields that are left out have values as well.
!t = memref<?x?x8x64xf32>
func.func @schedule_used(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    schedule(#attn.schedule<algorithm = two_pass, q_tile = 5, kv_tile = 7, split_kv = 2,
                            order = longest_first, instruction = fma, warps = 1>)
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @schedule_instruction(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{schedule does not fit cpu: instruction: wgmma is a choice of GPU kernels alone; leave it out, or choose what cpu takes: algorithm, q_tile, kv_tile, split_kv, order, pack_gqa}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    schedule(#attn.schedule<q_tile = 5, instruction = wgmma>)
  return
}

// -----

!t = memref<?x?x8x64xf32>
func.func @schedule_q_in_registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{schedule does not fit cpu: q_in_registers: true is a choice of GPU kernels alone; leave it out, or choose what cpu takes}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    schedule(#attn.schedule<q_in_registers = true>)
  return
}
