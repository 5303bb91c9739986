// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=sm_80}))"
// RUN: not attn-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=sm_70}))" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not attn-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(attn-verify-schedule))" 2>&1 | FileCheck %s --check-prefix=NOCHIP

// CHIP: error: attn-select-schedule: unknown target 'sm_70': expected one of cpu, sm_80, sm_86, sm_89, sm_90, sm_90a
// NOCHIP: error: attn-verify-schedule: unknown target '': expected one of cpu, sm_80, sm_86, sm_89, sm_90, sm_90a

!t = memref<?x?x8x128xbf16>
func.func @whole(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.forward' op schedule does not fit sm_80: shared memory: expected at most 166912 bytes, got 278528}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<stages = 8>)
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @both(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{expected a schedule or 'attn.pins', got both; a schedule leaves no field to choose}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(#attn.schedule<stages = 2>) {attn.pins = {warps = 4}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @not_a_dictionary(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': expected a dictionary of schedule fields}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = 64}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @unknown_field(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': unknown field 'qtile': expected one of algorithm, q_tile, kv_tile, stages, warps, warp_split, split_kv, instruction, q_in_registers, order}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {qtile = 64}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @not_an_integer(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': expected q_tile to be an integer, got "64"}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {q_tile = "64"}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @too_wide(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': expected q_tile to be an integer, got 170141183460469231731687303715884105727 : i128}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    {attn.pins = {q_tile = 170141183460469231731687303715884105727 : i128}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @not_a_name(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': expected algorithm to be "naive", "two_pass", "fa1" or "fa2", got "fa3"}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {algorithm = "fa3"}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @not_a_bool(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': expected q_in_registers to be true or false, got 1 : i64}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {q_in_registers = 1}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @out_of_range(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': expected kv_tile in [1, 1024], got 2048}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) {attn.pins = {kv_tile = 2048}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @contradiction(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{'attn.pins': expected split_kv = 1 with algorithm = fa1, got 2}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    {attn.pins = {algorithm = "fa1", split_kv = 2}}
  return
}

// -----

!t = memref<?x?x8x128xbf16>
func.func @no_row(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{no row of the schedule table of sm_80 takes this problem with the pinned fields q_tile = 40; the closest, mma_d128, says q_tile: expected a multiple of 64 (16 rows for each of 4 warps), got 40; change q_tile or warps}}
  // expected-note @below {{decode_d128 phase: takes decode (one query, known at compile time), the problem has prefill}}
  // expected-note @below {{decode_d128_pair phase: takes decode (one query, known at compile time), the problem has prefill}}
  // expected-note @below {{decode_d256 phase: takes}}
  // expected-note @below {{decode_d256_pair phase: takes}}
  // expected-note @below {{mma_d64 head_dim: takes 8 to 64, the problem has 128}}
  // expected-note @below {{mma_d96 head_dim: takes 8 to 96, the problem has 128}}
  // expected-note @below {{mma_d128 q_tile: expected a multiple of 64}}
  // expected-note @below {{mma_d128_small q_tile: expected a multiple of 64}}
  // expected-note @below {{mma_d256 q_tile: expected a multiple of 64}}
  // expected-note @below {{mma_wide q_tile: expected a multiple of 64}}
  // expected-note @below {{generic q_tile: expected a multiple of 64}}
  // expected-note @below {{generic_small q_tile: expected a multiple of 32}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    {attn.pins = {q_tile = 40}}
  return
}

// -----

// No row has the instruction.
!t = memref<?x?x8x128xbf16>
func.func @no_instruction(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{no row of the schedule table of sm_80 takes this problem with the pinned fields instruction = wgmma: none computes with wgmma}}
  // expected-note @below {{decode_d128 instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{decode_d128_pair instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{decode_d256 instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{decode_d256_pair instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{mma_d64 instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{mma_d96 instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{mma_d128 instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{mma_d128_small instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{mma_d256 instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{mma_wide instruction: the row computes with mma, pinned is wgmma}}
  // expected-note @below {{generic instruction: the row computes with fma, pinned is wgmma}}
  // expected-note @below {{generic_small instruction: the row computes with fma, pinned is wgmma}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    {attn.pins = {instruction = "wgmma"}}
  return
}

// -----

// Of rows with the instruction the closest says most, of f32 problems the generic ones.
!t = memref<?x?x8x128xf32>
func.func @generic(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  // expected-error @below {{the closest, generic, says q_tile: expected a multiple of 64}}
  // expected-note @below {{decode_d128 element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{decode_d128_pair element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{decode_d256 element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{decode_d256_pair element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{mma_d64 element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{mma_d96 element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{mma_d128 element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{mma_d128_small element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{mma_d256 element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{mma_wide element type: takes f16, bf16, the problem has f32}}
  // expected-note @below {{generic q_tile: expected a multiple of 64}}
  // expected-note @below {{generic_small q_tile: expected a multiple of 32}}
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    {attn.pins = {q_tile = 40}}
  return
}

// -----

func.func @merge(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x64xf32>) {
  // expected-error @below {{'attn.merge_states' op schedule does not fit sm_80: q_tile: expected a multiple of 64}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf32>) schedule(#attn.schedule<q_tile = 32>)
  return
}
