// RUN: attn-opt %s -split-input-file -verify-diagnostics --pass-pipeline="builtin.module(func.func(attn-allocate-smem))"

func.func @pipe_without_layout(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.pipe_create' op has a tile without a layout: '!attn.pipe<<64x64xf16>, stages = 1>'; run attn-assign-layouts first}}
    %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @tile_without_layout(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.fill' op has a tile without a layout: '!attn.tile<64x64xf32>'; run attn-assign-layouts first}}
    %t = attn.fill 0.0 : !attn.tile<64x64xf32>
  } {attn.schedule = #attn.schedule<>}
  return
}
