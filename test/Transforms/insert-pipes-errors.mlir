// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-insert-pipes

func.func @no_load(%n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    // expected-error @below {{expected a loop over K/V tiles with one or two loads, as in the other loops of its pass, got 0}}
    scf.for %j = %c0 to %n step %c64 {
    } {attn.kv_pass = 0 : i64}
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @other_tensor(%k: memref<?x?x8x64xf16>, %v: memref<?x?x8x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %n step %c64 {
      %t = attn.load_tile %k[%i, %j, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    } {attn.kv_pass = 0 : i64}
    scf.for %j = %c0 to %n step %c64 {
      // expected-error @below {{expected the loops of one pass to load the same tensors in the same order}}
      %t = attn.load_tile %v[%i, %j, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    } {attn.kv_pass = 0 : i64}
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @no_alignment(%k: memref<?x?x8x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{'scf.forall' op has no attn.alignment, the bytes that addresses of tensors are multiples of}}
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %n step %c64 {
      %t = attn.load_tile %k[%i, %j, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    } {attn.kv_pass = 0 : i64}
  } {attn.schedule = #attn.schedule<>}
  return
}
