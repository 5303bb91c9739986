// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(attn-verify-schedule{target=sm_86}))"

!t = memref<?x?x8x128xbf16>
func.func @none(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.forward' op has no schedule; run attn-select-schedule first}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @shared_memory(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{schedule does not fit sm_86: shared memory: expected at most 101376 bytes, got 114688 (Q 16384, K 49152, V 49152, epilogue 16384); reduce q_tile, kv_tile or stages}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<stages = 3>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @passes_have_their_own_buffers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{shared memory: expected at most 101376 bytes, got 114688 (Q 49152, K 49152, V 16384, epilogue 16384)}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<algorithm = naive>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{registers: expected at most 255 a thread, got 296 (O 128, S 64, Q 64, other 40); reduce q_tile, kv_tile or q_in_registers, or use more warps}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<q_tile = 128, q_in_registers = true>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @registers_of_many_warps(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{registers: expected at most 128 a thread, got 136 (O 64, S 32, Q 0, other 40); reduce q_tile or kv_tile, or use more warps}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<q_tile = 256, warps = 16>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @rows_of_a_warp(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{q_tile: expected a multiple of 64 (16 rows for each of 4 warps), got 96; change q_tile or warps}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<q_tile = 96>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @keys_of_a_step(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{kv_tile: expected a multiple of 16 (16 keys for each of 1 warps), got 24; change kv_tile or warps}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<kv_tile = 24>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @keys_of_a_warp(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{kv_tile: expected a multiple of 64 (16 keys for each of 4 warps), got 32; change kv_tile or warps}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<q_tile = 16, kv_tile = 32, warp_split = keys>)
  return
}

// -----

!t = memref<?x?x8x72xbf16>
func.func @columns_of_a_warp(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{warp_split: keys expects a padded head_dim_v of a multiple of 32 (8 columns for each of 4 warps), got 80; choose warp_split = rows or change warps}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<q_tile = 16, warp_split = keys>)
  return
}

// -----

!t = memref<?x?x8x128xf32>
func.func @mma_of_f32(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{instruction: mma expects f16 or bf16 tensors, got f32; choose instruction = fma}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<kv_tile = 16>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @mma_unaligned(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{instruction: mma expects an alignment of at least 16 bytes, got 8; promise alignment(16) on the op or choose instruction = fma}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(8)
    schedule(#attn.schedule<kv_tile = 16>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @fma_fragments(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{q_in_registers: expected false with instruction = fma, got true}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<instruction = fma, q_in_registers = true>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @fa1(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{algorithm: fa1 runs on the cpu alone, got it on sm_86; choose algorithm = fa2, two_pass or naive}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<algorithm = fa1>)
  return
}

// -----

func.func @merge_rows(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x64xf32>) {
  // expected-error @below {{'attn.merge_states' op schedule does not fit sm_86: q_tile: expected a multiple of 64 (16 rows for each of 4 warps), got 32}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf32>) schedule(#attn.schedule<q_tile = 32>)
  return
}

// -----

func.func @merge_keys(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x64xf32>) {
  // expected-error @below {{warp_split: a merge has no keys to share out, expected rows, got keys}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf32>) schedule(#attn.schedule<warp_split = keys>)
  return
}

// -----

func.func @merge_shared(%po: memref<4x?x?x8x512xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x512xf16>) {
  // expected-error @below {{shared memory: expected at most 101376 bytes, got 131072 (Q 0, K 0, V 0, epilogue 131072)}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x512xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x512xf16>) schedule(#attn.schedule<q_tile = 128>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @fma_spills(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{registers: expected at most 510 a thread, got 1192 (O 1024, S 128, Q 0, other 40); reduce q_tile or kv_tile, or use more warps}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<instruction = fma, q_tile = 256, kv_tile = 16, warps = 1, stages = 1>)
  return
}

// -----

func.func @merge_spills(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x64xf32>) {
  // expected-error @below {{registers: expected at most 510 a thread, got 552 (O 512, S 0, Q 0, other 40); reduce q_tile or kv_tile, or use more warps}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf32>) schedule(#attn.schedule<q_tile = 256, warps = 1>)
  return
}

// -----

func.func @merge_none(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x64xf32>) {
  // expected-error @below {{'attn.merge_states' op has no schedule; run attn-select-schedule first}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf32>)
  return
}
