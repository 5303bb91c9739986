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
