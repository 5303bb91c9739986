// RUN: attn-opt %s -split-input-file -verify-diagnostics -convert-attn-to-nvvm

func.func @no_bytes(%n: index) {
  // expected-error @below {{'scf.forall' op has no attn.smem_bytes; run attn-allocate-smem first}}
  scf.forall (%i) in (%n) {
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @two_loops(%n: index) {
  // expected-error @below {{'scf.forall' op expected one loop over CTAs in a function; run attn-outline-kernels first}}
  scf.forall (%i) in (%n) {
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  scf.forall (%i) in (%n) {
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @no_layout(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.fill' op has a value without a layout: '!attn.tile<64x64xf32>'; run attn-assign-layouts first}}
    %t = attn.fill 0.0 : !attn.tile<64x64xf32>
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @no_layout_of_state(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.softmax_init' op has a value without a layout: '!attn.softmax_state<64>'; run attn-assign-layouts first}}
    %t = attn.softmax_init : !attn.softmax_state<64>
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @no_layout_of_pipe(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.pipe_create' op has a value without a layout: '!attn.pipe<<64x64xf16>, stages = 1>'; run attn-assign-layouts first}}
    %t = attn.pipe_create offset = 0 : !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @other_warps(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.fill' op is laid out for 4 warps, expected the 2 of the schedule}}
    %t = attn.fill 0.0 : !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
  } {attn.schedule = #attn.schedule<warps = 2>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @no_roles(%n: index) {
  // expected-error @below {{'scf.forall' op expected one attn.roles with instruction = wgmma, got 0; run attn-assign-roles once, with the schedule that is converted}}
  scf.forall (%i) in (%n) {
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @other_warps(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.roles' op has 4 consumer warps, expected the 8 of the schedule}}
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @boxes_without_wgmma(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.pipe_create' op has a value in shared memory that instruction = mma cannot read}}
    %p = attn.pipe_create offset = 0 : <<64x64xf16, #attn.boxed>, stages = 2>
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = mma>, attn.smem_bytes = 0 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
!p = !attn.pipe<!t, stages = 1>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @store_of_shared_memory(%n: index, %i: index, %o: !m) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create offset = 0 : !p
    %t = attn.pipe_wait %p[%i] pending(0) : !p -> !t
    // expected-error @below {{'attn.store_tile' op expected a tile in registers, got '!attn.tile<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>'}}
    attn.store_tile %t, %o[%b, %i, %i] : !t, !m
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 8192 : i64}
  return
}

// -----

func.func @other_producer(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.roles' op has 1 producer warps, expected 4 with producer = cp_async}}
    attn.roles producer registers(40) {
    } consumer warps(8) registers(232) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, producer = cp_async>, attn.smem_bytes = 0 : i64}
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<24x64xf16, #attn.boxed>, stages = 1>
func.func @rows_of_copies(%n: index, %k: memref<?x?x8x64xf16>) {
  scf.forall (%i) in (%n) {
    %p = attn.pipe_create readers(8) writers(4 from 0) offset = 0 barriers = 4096 : !pipe
    attn.roles producer warps(4) registers(40) {
      // expected-error @below {{'attn.copy_tile' op expected tiles of a multiple of 16 rows, which the writers of the pipe copy at once, got 24}}
      // expected-error @below {{failed to legalize operation 'attn.copy_tile'}}
      attn.copy_tile %k[%i, %i, %i] limit(%n) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
    } consumer warps(8) registers(232) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma, producer = cp_async>, attn.smem_bytes = 4112 : i64}
  return
}
