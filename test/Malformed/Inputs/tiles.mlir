// Tile programs (L1).
// ERROR: C1: expected MxK times KxN into MxN
func.func @f(%a: !attn.tile<64x32xf16>, %b: !attn.tile<64x32xf16>, %c: !attn.tile<64x64xf32>) {
  %r = attn.tile_mma %a, %b, %c : !attn.tile<64x32xf16>, !attn.tile<64x32xf16>, !attn.tile<64x64xf32>
  return
}

// -----
// ERROR: C2: expected an f32 accumulator
func.func @f(%a: !attn.tile<64x64xf16>, %c: !attn.tile<64x64xf16>) {
  %r = attn.tile_mma %a, %a, %c : !attn.tile<64x64xf16>, !attn.tile<64x64xf16>, !attn.tile<64x64xf16>
  return
}

// -----
// ERROR: expected tile sizes in [1, 65536], got 0
func.func @f() {
  %z = attn.fill 0.0 : !attn.tile<0x64xf32>
  return
}

// -----
// ERROR: expected a tile of at most 1048576 elements
func.func @f() {
  %z = attn.fill 0.0 : !attn.tile<65536x65536xf32>
  return
}

// -----
// ERROR: C1: expected state and scores to agree in rows, got 32 and 64
func.func @f(%s: !attn.tile<64x64xf32>, %scale: f32) {
  %m = attn.softmax_init : !attn.softmax_state<32>
  %n, %p, %a = attn.softmax_update %m, %s scale(%scale)
     : !attn.softmax_state<32>, !attn.tile<64x64xf32> -> !attn.tile<32xf32>
  return
}

// -----
// ERROR: C3: expected the last dim of source to be contiguous
func.func @f(%K: memref<?x?x8x64xf16, strided<[?, ?, ?, ?]>>, %i: index) {
  %k = attn.load_tile %K[%i, %i, %i]
     : memref<?x?x8x64xf16, strided<[?, ?, ?, ?]>> -> !attn.tile<64x64xf16>
  return
}

// -----
// ERROR: iter_arg and 0-th yielded value have different type
func.func @f(%n: index, %o: !attn.tile<64x64xf32>, %p: !attn.tile<64x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %j = %c0 to %n step %c64 iter_args(%a = %o) -> (!attn.tile<64x64xf32>) {
    scf.yield %p : !attn.tile<64x32xf32>
  }
  return
}

// -----
// ERROR: expected 'attn.kv_pass' to be an i64 that is not negative
func.func @f(%n: index) {
  scf.for %j = %n to %n step %n {
  } {attn.kv_pass = "first"}
  return
}

// -----
// ERROR: expected 'attn.schedule' to be a schedule
func.func @f(%n: index) {
  scf.forall (%i) in (%n) {
  } {attn.schedule = {q_tile = 64}}
  return
}

// -----
// ERROR: expected 'lengths'
func.func @f(%s: !attn.tile<64x64xf32>, %i: index, %scale: f32) {
  %t = attn.map_scores %s rows(%i) keys(%i) scale(%scale) : !attn.tile<64x64xf32> {
  ^bb0(%x: f32, %r: index, %k: index):
    attn.yield %x : f32
  }
  return
}

// -----
// ERROR: C2: expected a score region of (f32, index, index), got ('f32')
func.func @f(%s: !attn.tile<64x64xf32>, %i: index, %scale: f32) {
  %t = attn.map_scores %s rows(%i) keys(%i) lengths(%i, %i) scale(%scale) : !attn.tile<64x64xf32> {
  ^bb0(%x: f32):
    attn.yield %x : f32
  }
  return
}

// -----
// ERROR: empty block: expect at least a terminator
func.func @f(%s: !attn.tile<64x64xf32>, %i: index, %scale: f32) {
  %t = attn.map_scores %s rows(%i) keys(%i) lengths(%i, %i) scale(%scale) : !attn.tile<64x64xf32> {
  ^bb0(%x: f32, %r: index, %k: index):
  }
  return
}

// -----
// ERROR: 'attn.yield' op expects parent op to be one of
func.func @f(%x: f32) {
  attn.yield %x : f32
}

// -----
// ERROR: C2: expected to stand in the score region of an attn.forward
func.func @f(%x: f32, %m: memref<8xf32>, %i: index) {
  %y = attn.alibi %x, %m[%i], %i, %i : memref<8xf32>
  return
}

// -----
// ERROR: does not dominate this use
func.func @f(%K: memref<?x?x8x64xf16>, %i: index) {
  attn.store_tile %k, %K[%i, %i, %i] : !attn.tile<64x64xf16>, memref<?x?x8x64xf16>
  %k = attn.load_tile %K[%i, %i, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
  return
}

// -----
// A problem op is left.
// ERROR: 'attn.forward' op is left after attn-lower-to-tiles
// ARGS: --attn-verify-no-problem-ops
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// A tile op is left.
// ERROR: 'attn.fill' op is left after the conversion out of the attn dialect
// ARGS: --attn-verify-no-attn-ops
func.func @f() {
  %z = attn.fill 0.0 : !attn.tile<64x64xf32>
  return
}

// -----
// A type of the dialect is left.
// ERROR: still has the type '!attn.tile<64x64xf32>'
// ARGS: --attn-verify-no-attn-ops
func.func @f(%t: !attn.tile<64x64xf32>) {
  return
}
