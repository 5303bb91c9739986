// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(attn-verify-schedule{target=sm_90a}))"

!t = memref<?x?x8x128xbf16>
func.func @warps(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{warps: expected a multiple of 4 up to 28 with instruction = wgmma, got 6}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 96, kv_tile = 128, warps = 6, instruction = wgmma>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @rows(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{q_tile: expected 128 (64 rows for each of 2 warpgroups) with instruction = wgmma, got 64}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 64, kv_tile = 128, warps = 8, instruction = wgmma>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @columns(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{kv_tile: a product of wgmma has at most 256 columns, got kv_tile = 272}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 272, warps = 8, instruction = wgmma>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @split_too_large(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{consumer_registers: 8 warps of 240 and 4 of 40 registers take 66560 of the CTA's 64512; reduce either}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 128, warps = 8, instruction = wgmma, producer_registers = 40,
              consumer_registers = 240>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{producer_registers: expected a multiple of 8 in [24, 168], got 20}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 128, warps = 8, instruction = wgmma, producer_registers = 20,
              consumer_registers = 240>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @no_roles(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{persistent: expected none with instruction = mma, got static; choose instruction = wgmma on a target that has it}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 64, kv_tile = 64, warps = 4, instruction = mma, persistent = static>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @pingpong(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{pingpong: expected false with instruction = mma, got true}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 64, kv_tile = 64, warps = 4, instruction = mma, pingpong = true>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @overlap(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{overlap: expected false with algorithm = two_pass, got true; choose algorithm = fa2 or overlap = false}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<algorithm = two_pass, q_tile = 128, kv_tile = 128, warps = 8, instruction = wgmma,
              overlap = true>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @integer_max(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{integer_max: expected false with lazy_rescale = false, where no score is compared with a reference, got true; choose lazy_rescale = true or integer_max = false}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 128, warps = 8, instruction = wgmma, integer_max = true,
              lazy_rescale = false>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @alignment(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{producer: tma expects an alignment of at least 16 bytes, got 8; promise alignment(16) on the op or choose producer = cp_async}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(8)
    schedule(<q_tile = 128, kv_tile = 128, warps = 8, instruction = wgmma>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @producer(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{producer: expected it left out with instruction = mma, got cp_async; choose instruction = wgmma on a target that has it}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 64, kv_tile = 64, warps = 4, instruction = mma, producer = cp_async>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @drawn_by_threads(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{persistent: expected none or static with producer = cp_async, whose warps do not tell each other which tile was drawn, got dynamic; choose persistent = static}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(8)
    schedule(<q_tile = 128, kv_tile = 128, warps = 8, instruction = wgmma, persistent = dynamic,
              producer = cp_async>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @drawn_without_roles(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{persistent: expected none with instruction = mma, got dynamic; choose instruction = wgmma on a target that has it}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 64, kv_tile = 64, warps = 4, instruction = mma, persistent = dynamic>)
  return
}

// -----

// By tensor map, tiles may be drawn; by threads, they may be shared out.
!t = memref<?x?x8x128xbf16>
func.func @accepted(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 64, warps = 8, instruction = wgmma, persistent = dynamic>)
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(8)
    schedule(<q_tile = 128, kv_tile = 64, warps = 8, instruction = wgmma, persistent = static,
              producer = cp_async>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @stages_of_parts(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{q_stages: expected at least 2, one for each warpgroup, with q_by_warpgroup = true, got 1}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 128, warps = 8, instruction = wgmma, q_by_warpgroup = true>)
  return
}

// -----

!t = memref<?x?x8x64xbf16>
func.func @rows_of_a_box(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{q_tile: a tensor map copies at most 256 rows at once, got 320; change q_tile and warps, or choose q_by_warpgroup = true}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 320, kv_tile = 16, warps = 20, instruction = wgmma>)
  return
}
