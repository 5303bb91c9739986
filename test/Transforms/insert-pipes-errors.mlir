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

// -----

// Copies fill with zeros what lies outside of the tensor.
func.func @padding(%k: memref<?x?x8x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %n step %c64 {
      // expected-error @below {{'attn.load_tile' op expected pad(0.0), which copies into pipes fill tiles with outside of the tensor, got 0xFF800000 : f32}}
      %t = attn.load_tile %k[%i, %j, %i] pad(0xFF800000) : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    } {attn.kv_pass = 0 : i64}
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @padding_of_q(%q: memref<?x?x8x64xf16>, %k: memref<?x?x8x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    // expected-error @below {{expected pad(0.0), which copies into pipes fill tiles with outside of the tensor, got 1.000000e+00 : f32}}
    %a = attn.load_tile %q[%i, %i, %i] pad(1.0) : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    scf.for %j = %c0 to %n step %c64 {
      %t = attn.load_tile %k[%i, %j, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
      %z = attn.fill 0.0 : !attn.tile<64x64xf32>
      %s = attn.tile_mma %a, %t, %z transpose_b : !attn.tile<64x64xf16>, !attn.tile<64x64xf16>, !attn.tile<64x64xf32>
    } {attn.kv_pass = 0 : i64}
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @padding_with_roles(%q: memref<?x?x8x64xf16>, %k: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    %a = attn.load_tile %q[%i, %i, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    // expected-error @below {{expected pad(0.0), which copies into pipes fill tiles with outside of the tensor, got -2.000000e+00 : f32}}
    %t = attn.load_tile %k[%i, %i, %i] pad(-2.0) : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    %s = attn.mma_start %a, %t transpose_b : !attn.tile<64x64xf16>, !attn.tile<64x64xf16> -> !attn.in_flight<!attn.tile<64x64xf32>>
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<instruction = wgmma>}
  return
}

// -----

// A zero that is written out is none of it.
func.func @padding_with_zeros(%k: memref<?x?x8x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %n step %c64 {
      %t = attn.load_tile %k[%i, %j, %i] pad(0.0) : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
    } {attn.kv_pass = 0 : i64}
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @warps_of_no_warpgroup(%n: index) {
  // expected-error @below {{expected warps to be a multiple of 4 with instruction = wgmma, got 2}}
  scf.forall (%i) in (%n) {
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<q_tile = 32, warps = 2, instruction = wgmma, q_by_warpgroup = true>}
  return
}

// -----

func.func @stages_of_parts(%n: index) {
  // expected-error @below {{expected q_stages to be at least 2, one for each warpgroup, with q_by_warpgroup = true, got 1}}
  scf.forall (%i) in (%n) {
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, q_by_warpgroup = true>}
  return
}
