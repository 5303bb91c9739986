// Constraints of what runs beside other work: copies by tensor map, products in flight, stores through
// shared memory, softmax in two halves.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @barriers() {
  // expected-error @below {{'attn.pipe_create' op C1: expected barriers to be a multiple of 16 and not negative, got 24}}
  %p = attn.pipe_create readers(4) offset = 0 barriers = 24 : <<64x64xf16>, stages = 2>
  return
}

// -----

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!p = !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
func.func @rows_of_the_map(%k: !t, %p: !p, %i: index, %m: !attn.tensor_map<128 x 64 x f16>) {
  // expected-error @below {{'attn.copy_tile' op C5: expected a map of boxes of 64 rows of 'f16', got '!attn.tensor_map<128 x 64 x f16>'}}
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) map(%m : !attn.tensor_map<128 x 64 x f16>) : !t, !p
  return
}

// -----

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!p = !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
func.func @elements_of_the_map(%k: !t, %p: !p, %i: index, %m: !attn.tensor_map<64 x 64 x bf16>) {
  // expected-error @below {{C5: expected a map of boxes of 64 rows of 'f16', got '!attn.tensor_map<64 x 64 x bf16>'}}
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) map(%m : !attn.tensor_map<64 x 64 x bf16>) : !t, !p
  return
}

// -----

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!p = !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
func.func @copy_of_a_consumer(%k: !t, %p: !p, %n: index) {
  scf.forall (%i) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      // expected-error @below {{'attn.copy_tile' op C3: starts a copy into a pipe among the consumers, expected it in the producer}}
      attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : !t, !p
    }
  }
  return
}

// -----

func.func @tile_of_another_pipe(%p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %i: index) {
  // expected-error @below {{'attn.pipe_tile' op C1: expected a tile of the pipe's type '!attn.tile<64x64xf16>', got '!attn.tile<64x32xf16>'}}
  %t = attn.pipe_tile %p[%i] : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x32xf16>
  return
}

// -----

func.func @accumulators(%a: !attn.tile<64x64xf16>, %b: !attn.tile<32x64xf16>, %acc: !attn.tile<64x64xf32>) {
  // expected-error @below {{'attn.mma_start' op C1: expected acc to be '!attn.tile<64x32xf32>', got '!attn.tile<64x64xf32>'}}
  %s = attn.mma_start %a, %b, %acc : !attn.tile<64x64xf32> transpose_b : !attn.tile<64x64xf16>, !attn.tile<32x64xf16> -> !attn.in_flight<!attn.tile<64x32xf32>>
  return
}

// -----

func.func @accumulators_in_flight(%a: !attn.tile<64x64xf16>, %b: !attn.tile<32x64xf16>, %acc: !attn.in_flight<!attn.tile<64x64xf32>>) {
  // expected-error @below {{'attn.mma_start' op C1: expected acc to be '!attn.tile<64x32xf32>', got '!attn.tile<64x64xf32>'}}
  %s = attn.mma_start %a, %b, %acc : !attn.in_flight<!attn.tile<64x64xf32>> transpose_b : !attn.tile<64x64xf16>, !attn.tile<32x64xf16> -> !attn.in_flight<!attn.tile<64x32xf32>>
  return
}

// -----

func.func @shapes(%a: !attn.tile<64x64xf16>, %b: !attn.tile<32x64xf16>) {
  // expected-error @below {{'attn.mma_start' op C1: expected MxK times KxN into MxN, got 64x64 times 32x64 into 64x32}}
  %s = attn.mma_start %a, %b : !attn.tile<64x64xf16>, !attn.tile<32x64xf16> -> !attn.in_flight<!attn.tile<64x32xf32>>
  return
}

// -----

func.func @ranks(%a: !attn.tile<64xf16>, %b: !attn.tile<32x64xf16>) {
  // expected-error @below {{'attn.mma_start' op C1: expected rank-2 tiles, got '!attn.tile<64xf16>'}}
  %s = attn.mma_start %a, %b : !attn.tile<64xf16>, !attn.tile<32x64xf16> -> !attn.in_flight<!attn.tile<64x32xf32>>
  return
}

// -----

func.func @elements(%a: !attn.tile<64x64xf16>, %b: !attn.tile<32x64xbf16>) {
  // expected-error @below {{'attn.mma_start' op C2: expected a and b to have one element type, got 'f16' and 'bf16'}}
  %s = attn.mma_start %a, %b transpose_b : !attn.tile<64x64xf16>, !attn.tile<32x64xbf16> -> !attn.in_flight<!attn.tile<64x32xf32>>
  return
}

// -----

func.func @narrow_result(%a: !attn.tile<64x64xf16>, %b: !attn.tile<32x64xf16>) {
  // expected-error @below {{'attn.mma_start' op C2: expected an f32 accumulator, got 'f16'}}
  %s = attn.mma_start %a, %b transpose_b : !attn.tile<64x64xf16>, !attn.tile<32x64xf16> -> !attn.in_flight<!attn.tile<64x32xf16>>
  return
}

// -----

!s = !attn.tile<64x32xf32>
func.func @fewer_results(%f: !attn.in_flight<!s>) {
  // expected-error @below {{'attn.mma_wait' op C1: expected as many results as operands, got 1 for 2}}
  %s = attn.mma_wait %f, %f pending(0) : !attn.in_flight<!s>, !attn.in_flight<!s> -> !s
  return
}

// -----

func.func @another_result(%f: !attn.in_flight<!attn.tile<64x32xf32>>) {
  // expected-error @below {{'attn.mma_wait' op C1: expected a result of '!attn.tile<64x32xf32>', got '!attn.tile<64x64xf32>'}}
  %s = attn.mma_wait %f pending(0) : !attn.in_flight<!attn.tile<64x32xf32>> -> !attn.tile<64x64xf32>
  return
}

// -----

!s = !attn.tile<64x32xf32>
func.func @pending(%f: !attn.in_flight<!s>) {
  // expected-error @below {{'attn.mma_wait' op C2: expected pending in [0, 7], got 8}}
  %s = attn.mma_wait %f pending(8) : !attn.in_flight<!s> -> !s
  return
}

// -----

!s = !attn.tile<64x32xf32>
func.func @negative(%f: !attn.in_flight<!s>) {
  // expected-error @below {{'attn.mma_wait' op C2: expected pending in [0, 7], got -1}}
  %s = attn.mma_wait %f pending(-1) : !attn.in_flight<!s> -> !s
  return
}

// -----

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @narrow_buffer(%o: !attn.tile<64x64xf32>, %q: !attn.tile<64x32xf16>, %t: !t, %i: index) {
  // expected-error @below {{'attn.bulk_store' op C1: expected a buffer of 64 rows and at least the tile's columns, got '!attn.tile<64x32xf16>' for '!attn.tile<64x64xf32>'}}
  attn.bulk_store %o via %q, %t[%i, %i, %i] : !attn.tile<64x64xf32>, !attn.tile<64x32xf16>, !t
  return
}

// -----

!t = memref<?x?x8x64xbf16, strided<[?, ?, ?, 1]>>
func.func @rounded_otherwise(%o: !attn.tile<64x64xf32>, %q: !attn.tile<64x64xf16>, %t: !t, %i: index) {
  // expected-error @below {{'attn.bulk_store' op C2: expected buffer and tensor to have one 16-bit element type, got 'f16' and 'bf16'}}
  attn.bulk_store %o via %q, %t[%i, %i, %i] : !attn.tile<64x64xf32>, !attn.tile<64x64xf16>, !t
  return
}

// -----

!t = memref<?x?x8x64xf32, strided<[?, ?, ?, 1]>>
func.func @not_rounded(%o: !attn.tile<64x64xf32>, %q: !attn.tile<64x64xf32>, %t: !t, %i: index) {
  // expected-error @below {{'attn.bulk_store' op C2: expected buffer and tensor to have one 16-bit element type, got 'f32' and 'f32'}}
  attn.bulk_store %o via %q, %t[%i, %i, %i] : !attn.tile<64x64xf32>, !attn.tile<64x64xf32>, !t
  return
}

// -----

func.func @rebased_rows(%st: !attn.softmax_state<32>, %s: !attn.tile<64x32xf32>, %c: f32) {
  // expected-error @below {{'attn.softmax_rebase' op C1: expected state and scores to agree in rows, got 32 and 64}}
  %a, %b, %alpha = attn.softmax_rebase %st, %s scale(%c) : !attn.softmax_state<32>, !attn.tile<64x32xf32> -> !attn.tile<32xf32>
  return
}

// -----

func.func @factors(%st: !attn.softmax_state<64>, %s: !attn.tile<64x32xf32>, %c: f32) {
  // expected-error @below {{'attn.softmax_rebase' op C1: expected alpha to be a rank-1 f32 tile of 64 rows, got '!attn.tile<32xf32>'}}
  %a, %b, %alpha = attn.softmax_rebase %st, %s scale(%c) : !attn.softmax_state<64>, !attn.tile<64x32xf32> -> !attn.tile<32xf32>
  return
}

// -----

func.func @added_rows(%st: !attn.softmax_state<32>, %s: !attn.tile<64x32xf32>, %c: f32) {
  // expected-error @below {{'attn.softmax_add' op C1: expected state and scores to agree in rows, got 32 and 64}}
  %a, %p = attn.softmax_add %st, %s scale(%c) : !attn.softmax_state<32>, !attn.tile<64x32xf32>
  return
}

// -----

func.func @nothing_to_wait_for() {
  // expected-error @below {{'attn.mma_wait' op C1: expected at least one product to wait for, got 0}}
  "attn.mma_wait"() {pending = 0 : i64} : () -> ()
  return
}
