// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-assign-layouts

func.func @no_pipe(%q: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.load_tile' op expected a pipe in its place: operands of products come through shared memory; run attn-insert-pipes first}}
    %t = attn.load_tile %q[%i, %i, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @fma_by_keys(%n: index) {
  // expected-error @below {{expected warp_split = rows with instruction = fma}}
  scf.forall (%i) in (%n) {
  } {attn.schedule = #attn.schedule<instruction = fma, warp_split = keys>}
  return
}
