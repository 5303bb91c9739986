// Products, copies, stores and turns that no wgmma kernel has: what would drop columns, read registers
// as addresses, or wait for ever is refused.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -convert-attn-to-nvvm

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
func.func @in_flight_without_layout(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.mma_start' op has a value without a layout: '!attn.in_flight<<64x64xf32>>'; run attn-assign-layouts first}}
      %f = attn.mma_start %t, %t transpose_b : !t, !t -> !attn.in_flight<!attn.tile<64x64xf32>>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!a = !attn.tile<64x64xf32, #attn.fragment<a, warps = 4, split = rows>>
func.func @operand_as_result(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.mma_start' op expected accumulators of 64 rows for each warpgroup, got '!attn.tile<64x64xf32, #attn.fragment<a,}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %t, %t transpose_b : !t, !t -> !attn.in_flight<!a>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!q = !attn.tile<16x64xf16, #attn.boxed>
!p = !attn.pipe<!q, stages = 1>
!s = !attn.tile<16x32xf32, #attn.fragment<acc, warps = 4, split = cols>>
!k = !attn.tile<32x64xf16, #attn.boxed>
!pk = !attn.pipe<!k, stages = 1>
func.func @columns_shared_out(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    %pk = attn.pipe_create readers(4) offset = 8192 barriers = 65552 : !pk
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %q = attn.pipe_tile %p[%i] : !p -> !q
      %k = attn.pipe_tile %pk[%i] : !pk -> !k
      // expected-error @below {{'attn.mma_start' op expected accumulators of 64 rows for each warpgroup, got '!attn.tile<16x32xf32}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %q, %k transpose_b : !q, !k -> !attn.in_flight<!s>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x128xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!o = !attn.tile<64x72xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @store_of_odd_blocks(%n: index, %i: index, %o: !m, %m: !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 2 : i64}) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      %z = attn.fill 0.0 : !o
      // expected-error @below {{'attn.bulk_store' op expected a multiple of 16 columns, which a warp writes at a time, got 72}}
      // expected-error @below {{failed to legalize operation 'attn.bulk_store'}}
      attn.bulk_store %z via %t, %o[%b, %i, %i] map(%m : !attn.tensor_map<64 x 64 x f16>) : !o, !t, !m
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!o = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!a = !attn.tile<64x64xf16, #attn.fragment<a, warps = 4, split = rows>>
func.func @store_through_registers(%n: index, %i: index, %o: !m, %m: !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 2 : i64}) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %z = attn.fill 0.0 : !o
      %a = attn.convert %z : !o -> !a
      // expected-error @below {{'attn.bulk_store' op expected a buffer of shared memory boxes, got '!attn.tile<64x64xf16, #attn.fragment<a,}}
      // expected-error @below {{failed to legalize operation 'attn.bulk_store'}}
      attn.bulk_store %z via %a, %o[%b, %i, %i] map(%m : !attn.tensor_map<64 x 64 x f16>) : !o, !a, !m
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @narrow_map(%n: index, %i: index, %k: !m, %m: !attn.tensor_map<64 x 32 x f16> {attn.tensor_map_of = 2 : i64}) {
  %c1 = arith.constant 1 : index
  %keys = memref.dim %k, %c1 : !m
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.copy_tile' op expected a map of boxes of 64 columns, whose bytes the barrier counts, got 32}}
      // expected-error @below {{failed to legalize operation 'attn.copy_tile'}}
      attn.copy_tile %k[%b, %i, %i] limit(%keys) into %p[%i] alignment(16) map(%m : !attn.tensor_map<64 x 32 x f16>) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

func.func @turns(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      // expected-error @below {{'attn.turn_wait' op is of 2 warpgroups, expected the 1 of the schedule}}
      attn.turn_wait of(2)
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @store_of_shared_memory(%n: index, %i: index, %o: !m) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.store_tile' op expected a tile in registers, got '!attn.tile<64x64xf16, #attn.boxed>'}}
      attn.store_tile %t, %o[%b, %i, %i] : !t, !m
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @bulk_store_of_shared_memory(%n: index, %i: index, %o: !m, %m: !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 2 : i64}) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.bulk_store' op expected a tile in registers, got '!attn.tile<64x64xf16, #attn.boxed>'}}
      attn.bulk_store %t via %t, %o[%b, %i, %i] map(%m : !attn.tensor_map<64 x 64 x f16>) : !t, !t, !m
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!r = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @rescaled_shared_memory(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      %f = attn.fill 1.0 : !r
      // expected-error @below {{'attn.rescale' op expected a tile in registers, got '!attn.tile<64x64xf16, #attn.boxed>'}}
      %s = attn.rescale %t, %f : !t, !r
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
func.func @filled_shared_memory(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      // expected-error @below {{'attn.fill' op makes a tile in shared memory, expected one in registers: '!attn.tile<64x64xf16, #attn.boxed>'}}
      %t = attn.fill 1.0 : !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}
