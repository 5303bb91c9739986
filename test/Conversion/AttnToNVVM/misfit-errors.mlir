// Tiles that do not fit the fragments that the schedule's warps ask for.
// RUN: attn-opt %s -split-input-file -verify-diagnostics --pass-pipeline="builtin.module(func.func(attn-assign-layouts,attn-allocate-smem),convert-attn-to-nvvm)"

func.func @rows_of_warps(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.fill' op does not fit mma fragments: expected a multiple of 64 rows (16 for each of 4 warps), got 32; change q_tile, kv_tile or warps of the schedule}}
    %t = attn.fill 0.0 : !attn.tile<32x64xf32>
  } {attn.schedule = #attn.schedule<q_tile = 32>}
  return
}

// -----

func.func @columns(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.fill' op does not fit mma fragments: expected a multiple of 8 columns, got 12; change q_tile, kv_tile or warps of the schedule}}
    %t = attn.fill 0.0 : !attn.tile<64x12xf32>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
!p = !attn.pipe<!t, stages = 2, parts = 2>
func.func @parts_for_warps(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op expected whole tiles with instruction = mma, got 2 parts, of which warpgroups read one each}}
    %p = attn.pipe_create offset = 0 : !p
    attn.pipe_acquire %p[%i] : !p
  } {attn.schedule = #attn.schedule<q_tile = 64>, attn.smem_bytes = 16384 : i64}
  return
}
