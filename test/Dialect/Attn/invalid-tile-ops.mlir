// Constraints of the tile ops; those of attn.map_scores are in invalid-score-region.mlir.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @f(%K: memref<?x8x64xf16>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{'attn.load_tile' op C1: expected a rank-2 tile to read a memref of rank 4, got 'memref<?x8x64xf16>'}}
  %t = attn.load_tile %K[%b, %i, %h] : memref<?x8x64xf16> -> !attn.tile<64x64xf16>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf32>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C1: expected a rank-1 tile to read a memref of rank 3, got 'memref<?x?x8x64xf32>'}}
  %t = attn.load_tile %K[%b, %i, %h] : memref<?x?x8x64xf32> -> !attn.tile<64xf32>
  return
}

// -----

func.func @f(%K: memref<*xf32>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xf32>'}}
  %t = attn.load_tile %K[%b, %i, %h] : memref<*xf32> -> !attn.tile<64xf32>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C2: expected tile and source to have one element type, got 'f32' and 'f16'}}
  %t = attn.load_tile %K[%b, %i, %h] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf32>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16, strided<[?, ?, ?, 2]>>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C3: expected the last dim of source to be contiguous (stride 1), got stride 2}}
  %t = attn.load_tile %K[%b, %i, %h] : memref<?x?x8x64xf16, strided<[?, ?, ?, 2]>> -> !attn.tile<64x64xf16>
  return
}

// -----

func.func @f(%K: memref<?x8x?xf32, affine_map<(d0, d1, d2) -> (d0, d2 mod 8, d1)>>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C3: expected source to have a strided layout}}
  %t = attn.load_tile %K[%b, %i, %h] : memref<?x8x?xf32, affine_map<(d0, d1, d2) -> (d0, d2 mod 8, d1)>> -> !attn.tile<64xf32>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{invalid kind of attribute specified}}
  %t = attn.load_tile %K[%b, %i, %h] pad("zero") : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
  return
}

// -----

func.func @f(%K: memref<64xf16>, %t: !attn.tile<64x64xf32>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{'attn.store_tile' op C1: expected a rank-2 tile to write a memref of rank 4, got 'memref<64xf16>'}}
  attn.store_tile %t, %K[%b, %i, %h] : !attn.tile<64x64xf32>, memref<64xf16>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xi8>, %t: !attn.tile<64x64xf32>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C2: expected element type f32, f16 or bf16 of the tensor, got 'i8'}}
  attn.store_tile %t, %K[%b, %i, %h] : !attn.tile<64x64xf32>, memref<?x?x8x64xi8>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16, strided<[?, ?, ?, ?]>>, %t: !attn.tile<64x64xf32>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C3: expected the last dim of the tensor to be contiguous (stride 1), got stride ?}}
  attn.store_tile %t, %K[%b, %i, %h] : !attn.tile<64x64xf32>, memref<?x?x8x64xf16, strided<[?, ?, ?, ?]>>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{attribute 'value' failed to satisfy constraint: 32-bit float attribute}}
  %t = "attn.fill"() <{value = 1.0 : f64}> : () -> !attn.tile<16x16xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{requires attribute 'value'}}
  %t = "attn.fill"() : () -> !attn.tile<16x16xf32>
  return
}

// -----

func.func @f(%a: !attn.tile<16xf16>, %b: !attn.tile<16x8xf16>, %c: !attn.tile<16x8xf32>) {
  // expected-error@+1 {{'attn.tile_mma' op C1: expected rank-2 tiles, got '!attn.tile<16xf16>'}}
  %t = attn.tile_mma %a, %b, %c : !attn.tile<16xf16>, !attn.tile<16x8xf16>, !attn.tile<16x8xf32>
  return
}

// -----

func.func @f(%a: !attn.tile<16x16xf16>, %b: !attn.tile<16x8xf16>, %c: !attn.tile<16xf32>) {
  // expected-error@+1 {{C1: expected rank-2 tiles, got '!attn.tile<16xf32>'}}
  %t = attn.tile_mma %a, %b, %c : !attn.tile<16x16xf16>, !attn.tile<16x8xf16>, !attn.tile<16xf32>
  return
}

// -----

func.func @f(%a: !attn.tile<16x32xf16>, %b: !attn.tile<16x8xf16>, %c: !attn.tile<16x8xf32>) {
  // expected-error@+1 {{C1: expected MxK times KxN into MxN, got 16x32 times 16x8 into 16x8}}
  %t = attn.tile_mma %a, %b, %c : !attn.tile<16x32xf16>, !attn.tile<16x8xf16>, !attn.tile<16x8xf32>
  return
}

// -----

func.func @f(%a: !attn.tile<16x32xf16>, %b: !attn.tile<32x8xf16>, %c: !attn.tile<32x8xf32>) {
  // expected-error@+1 {{C1: expected MxK times KxN into MxN, got 16x32 times 32x8 into 32x8}}
  %t = attn.tile_mma %a, %b, %c : !attn.tile<16x32xf16>, !attn.tile<32x8xf16>, !attn.tile<32x8xf32>
  return
}

// -----

func.func @f(%a: !attn.tile<16x32xf16>, %b: !attn.tile<32x8xf16>, %c: !attn.tile<16x32xf32>) {
  // expected-error@+1 {{C1: expected MxK times KxN into MxN, got 16x32 times 8x32 into 16x32}}
  %t = attn.tile_mma %a, %b, %c transpose_b : !attn.tile<16x32xf16>, !attn.tile<32x8xf16>, !attn.tile<16x32xf32>
  return
}

// -----

func.func @f(%a: !attn.tile<16x32xf16>, %b: !attn.tile<32x8xbf16>, %c: !attn.tile<16x8xf32>) {
  // expected-error@+1 {{C2: expected a and b to have one element type, got 'f16' and 'bf16'}}
  %t = attn.tile_mma %a, %b, %c : !attn.tile<16x32xf16>, !attn.tile<32x8xbf16>, !attn.tile<16x8xf32>
  return
}

// -----

func.func @f(%a: !attn.tile<16x32xf16>, %b: !attn.tile<32x8xf16>, %c: !attn.tile<16x8xf16>) {
  // expected-error@+1 {{C2: expected an f32 accumulator, got 'f16'}}
  %t = attn.tile_mma %a, %b, %c : !attn.tile<16x32xf16>, !attn.tile<32x8xf16>, !attn.tile<16x8xf16>
  return
}

// -----

func.func @f(%a: !attn.tile<16x16xf32>, %b: !attn.tile<16x8xf32>) {
  // expected-error@+1 {{failed to verify that all of {acc, result} have same type}}
  %t = "attn.tile_mma"(%a, %b, %b) : (!attn.tile<16x16xf32>, !attn.tile<16x8xf32>, !attn.tile<16x8xf32>) -> !attn.tile<8x8xf32>
  return
}

// -----

func.func @f(%s: !attn.tile<64x32xf16>, %i: index) {
  // expected-error@+1 {{'attn.mask_scores' op C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64x32xf16>'}}
  %t = attn.mask_scores %s rows(%i) keys(%i) lengths(%i, %i) mask(#attn.none) : !attn.tile<64x32xf16>
  return
}

// -----

func.func @f(%s: !attn.tile<64xf32>, %i: index) {
  // expected-error@+1 {{C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64xf32>'}}
  %t = attn.mask_scores %s rows(%i) keys(%i) lengths(%i, %i) mask(#attn.none) : !attn.tile<64xf32>
  return
}

// -----

func.func @f(%s: !attn.tile<64x32xf32>, %i: index) {
  // expected-error@+1 {{C2: expected 2 mask operands for #attn.window<?, ?>, got 1}}
  %t = attn.mask_scores %s rows(%i) keys(%i) lengths(%i, %i) mask(#attn.window<?, ?>) mask_args(%i : index) : !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%s: !attn.tile<64x32xf32>, %i: index, %n: i64) {
  // expected-error@+1 {{C2: expected a window bound of type 'index', got 'i64'}}
  %t = attn.mask_scores %s rows(%i) keys(%i) lengths(%i, %i) mask(#attn.window<?, 0>) mask_args(%n : i64) : !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%s: !attn.tile<64x32xf32>, %i: index) {
  // expected-error@+1 {{invalid kind of attribute specified}}
  %t = attn.mask_scores %s rows(%i) keys(%i) lengths(%i, %i) mask(#attn.dense) : !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%s: !attn.tile<64x32xf32>, %i: index) {
  // expected-error@+1 {{Invalid attribute `mask` in property conversion: 3 : i32}}
  %t = "attn.mask_scores"(%s, %i, %i, %i, %i) <{mask = 3 : i32}> : (!attn.tile<64x32xf32>, index, index, index, index) -> !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%s: !attn.tile<64x32xf32>, %i: index) {
  // expected-error@+1 {{requires attribute 'mask'}}
  %t = "attn.mask_scores"(%s, %i, %i, %i, %i) : (!attn.tile<64x32xf32>, index, index, index, index) -> !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<32>, %s: !attn.tile<64x32xf32>, %x: f32) {
  // expected-error@+1 {{'attn.softmax_max' op C1: expected state and scores to agree in rows, got 32 and 64}}
  %t = attn.softmax_max %m, %s scale(%x) : !attn.softmax_state<32>, !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<64>, %s: !attn.tile<64x32xbf16>, %x: f32) {
  // expected-error@+1 {{'attn.softmax_max' op C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64x32xbf16>'}}
  %t = attn.softmax_max %m, %s scale(%x) : !attn.softmax_state<64>, !attn.tile<64x32xbf16>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<32>, %s: !attn.tile<64x32xf32>, %x: f32) {
  // expected-error@+1 {{'attn.softmax_sum' op C1: expected state and scores to agree in rows, got 32 and 64}}
  %t = attn.softmax_sum %m, %s scale(%x) : !attn.softmax_state<32>, !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<64>, %s: !attn.tile<64x32xbf16>, %x: f32) {
  // expected-error@+1 {{'attn.softmax_sum' op C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64x32xbf16>'}}
  %t = attn.softmax_sum %m, %s scale(%x) : !attn.softmax_state<64>, !attn.tile<64x32xbf16>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<32>, %s: !attn.tile<64x32xf32>, %x: f32) {
  // expected-error@+1 {{'attn.softmax_apply' op C1: expected state and scores to agree in rows, got 32 and 64}}
  %t = attn.softmax_apply %m, %s scale(%x) : !attn.softmax_state<32>, !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<64>, %s: !attn.tile<64x32xbf16>, %x: f32) {
  // expected-error@+1 {{'attn.softmax_apply' op C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64x32xbf16>'}}
  %t = attn.softmax_apply %m, %s scale(%x) : !attn.softmax_state<64>, !attn.tile<64x32xbf16>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<32>, %s: !attn.tile<64x32xf32>, %x: f32) {
  // expected-error@+1 {{'attn.softmax_update' op C1: expected state and scores to agree in rows, got 32 and 64}}
  %n, %p, %al = attn.softmax_update %m, %s scale(%x) : !attn.softmax_state<32>, !attn.tile<64x32xf32> -> !attn.tile<64xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<64>, %s: !attn.tile<64xf32>, %x: f32) {
  // expected-error@+1 {{C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64xf32>'}}
  %n, %p, %al = attn.softmax_update %m, %s scale(%x) : !attn.softmax_state<64>, !attn.tile<64xf32> -> !attn.tile<64xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<64>, %s: !attn.tile<64x32xf32>, %x: f32) {
  // expected-error@+1 {{C1: expected alpha to be a rank-1 f32 tile of 64 rows, got '!attn.tile<32xf32>'}}
  %n, %p, %al = attn.softmax_update %m, %s scale(%x) : !attn.softmax_state<64>, !attn.tile<64x32xf32> -> !attn.tile<32xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<64>, %s: !attn.tile<64x32xf32>, %x: f32) {
  // expected-error@+1 {{C1: expected alpha to be a rank-1 f32 tile of 64 rows, got '!attn.tile<64x1xf32>'}}
  %n, %p, %al = attn.softmax_update %m, %s scale(%x) : !attn.softmax_state<64>, !attn.tile<64x32xf32> -> !attn.tile<64x1xf32>
  return
}

// -----

func.func @f(%m: !attn.softmax_state<64>, %s: !attn.tile<64x32xf32>, %x: f32) {
  // expected-error@+1 {{C1: expected alpha to be a rank-1 f32 tile of 64 rows, got '!attn.tile<64xf16>'}}
  %n, %p, %al = attn.softmax_update %m, %s scale(%x) : !attn.softmax_state<64>, !attn.tile<64x32xf32> -> !attn.tile<64xf16>
  return
}

// -----

func.func @f(%o: !attn.tile<64xf32>, %a: !attn.tile<64xf32>) {
  // expected-error@+1 {{'attn.rescale' op C1: expected a rank-2 tile, got '!attn.tile<64xf32>'}}
  %t = attn.rescale %o, %a : !attn.tile<64xf32>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %a: !attn.tile<8xf32>) {
  // expected-error@+1 {{C1: expected factors to be a rank-1 f32 tile of 64 rows, got '!attn.tile<8xf32>'}}
  %t = attn.rescale %o, %a : !attn.tile<64x8xf32>, !attn.tile<8xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>) {
  // expected-error@+1 {{'attn.convert' op C1: expected operand and result to agree in shape, got '!attn.tile<64x8xf32>' and '!attn.tile<8x64xf16>'}}
  %t = attn.convert %o : !attn.tile<64x8xf32> -> !attn.tile<8x64xf16>
  return
}

// -----

func.func @f(%o: !attn.tile<64xf32>, %m: !attn.softmax_state<64>, %x: f32) {
  // expected-error@+1 {{'attn.finalize' op C1: expected a rank-2 acc and a state that agree in rows, got '!attn.tile<64xf32>' and '!attn.softmax_state<64>'}}
  %r, %l = attn.finalize %o, %m scale(%x) : !attn.tile<64xf32>, !attn.softmax_state<64> -> !attn.tile<64xf32>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %m: !attn.softmax_state<32>, %x: f32) {
  // expected-error@+1 {{C1: expected a rank-2 acc and a state that agree in rows, got '!attn.tile<64x8xf32>' and '!attn.softmax_state<32>'}}
  %r, %l = attn.finalize %o, %m scale(%x) : !attn.tile<64x8xf32>, !attn.softmax_state<32> -> !attn.tile<64x8xf32>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %m: !attn.softmax_state<64>, %x: f32) {
  // expected-error@+1 {{C1: expected lse to be a rank-1 f32 tile of 64 rows, got '!attn.tile<32xf32>'}}
  %r, %l = attn.finalize %o, %m scale(%x) : !attn.tile<64x8xf32>, !attn.softmax_state<64> -> !attn.tile<64x8xf32>, !attn.tile<32xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %m: !attn.softmax_state<64>, %x: f32) {
  // expected-error@+1 {{C2: expected acc and out to be f32 tiles of one shape, got '!attn.tile<64x8xf32>' and '!attn.tile<64x16xf32>'}}
  %r, %l = attn.finalize %o, %m scale(%x) : !attn.tile<64x8xf32>, !attn.softmax_state<64> -> !attn.tile<64x16xf32>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %m: !attn.softmax_state<64>, %x: f32) {
  // expected-error@+1 {{C2: expected acc and out to be f32 tiles of one shape, got '!attn.tile<64x8xf32>' and '!attn.tile<64x8xf16>'}}
  %r, %l = attn.finalize %o, %m scale(%x) : !attn.tile<64x8xf32>, !attn.softmax_state<64> -> !attn.tile<64x8xf16>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf16>, %m: !attn.softmax_state<64>, %x: f32) {
  // expected-error@+1 {{C2: expected acc and out to be f32 tiles of one shape, got '!attn.tile<64x8xf16>' and '!attn.tile<64x8xf16>'}}
  %r, %l = attn.finalize %o, %m scale(%x) : !attn.tile<64x8xf16>, !attn.softmax_state<64> -> !attn.tile<64x8xf16>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64xf32>, %l: !attn.tile<64xf32>) {
  // expected-error@+1 {{'attn.merge' op C1: expected outputs to be rank-2 f32 tiles, got '!attn.tile<64xf32>'}}
  %r, %s = attn.merge %o, %l with %o, %l : !attn.tile<64xf32>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf16>, %l: !attn.tile<64xf32>) {
  // expected-error@+1 {{C1: expected outputs to be rank-2 f32 tiles, got '!attn.tile<64x8xf16>'}}
  %r, %s = attn.merge %o, %l with %o, %l : !attn.tile<64x8xf16>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %l: !attn.tile<32xf32>) {
  // expected-error@+1 {{C1: expected lse to be a rank-1 f32 tile of 64 rows, got '!attn.tile<32xf32>'}}
  %r, %s = attn.merge %o, %l with %o, %l : !attn.tile<64x8xf32>, !attn.tile<32xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %m: !attn.softmax_state<64>, %x: f32) {
  // expected-error@+1 {{C1: expected lse_tail to be a rank-1 f32 tile of 64 rows, got '!attn.tile<32xf32>'}}
  %r, %l, %t = attn.finalize %o, %m scale(%x) : !attn.tile<64x8xf32>, !attn.softmax_state<64> -> !attn.tile<64x8xf32>, !attn.tile<64xf32>, !attn.tile<32xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %l: !attn.tile<64xf32>) {
  // expected-error@+1 {{C2: expected two tails and one among the results, or none, got 1 and 1}}
  %r, %s, %t = attn.merge %o, %l with %o, %l tails(%l : !attn.tile<64xf32>) : !attn.tile<64x8xf32>, !attn.tile<64xf32>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %l: !attn.tile<64xf32>) {
  // expected-error@+1 {{C2: expected two tails and one among the results, or none, got 2 and 0}}
  %r, %s = attn.merge %o, %l with %o, %l tails(%l, %l : !attn.tile<64xf32>, !attn.tile<64xf32>) : !attn.tile<64x8xf32>, !attn.tile<64xf32>
  return
}

// -----

func.func @f(%o: !attn.tile<64x8xf32>, %l: !attn.tile<64xf32>, %m: !attn.tile<32xf32>) {
  // expected-error@+1 {{C2: expected tails of the type of lse, '!attn.tile<64xf32>', got '!attn.tile<32xf32>'}}
  %r, %s, %t = attn.merge %o, %l with %o, %l tails(%l, %m : !attn.tile<64xf32>, !attn.tile<32xf32>) : !attn.tile<64x8xf32>, !attn.tile<64xf32>, !attn.tile<64xf32>
  return
}

// -----

!rows = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!cols = !attn.tile<64x64xf16, #attn.fragment<a, warps = 4, split = cols>>
func.func @f(%s: !rows) {
  // expected-error@+1 {{'attn.convert' op C2: expected a result of 4 warps, split = rows, as the operand's elements are, got 4 warps, split = cols}}
  %p = attn.convert %s : !rows -> !cols
  return
}

// -----

!four = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = cols>>
!two = !attn.tile<64x64xf16, #attn.fragment<a, warps = 2, split = cols>>
func.func @f(%s: !four) {
  // expected-error@+1 {{C2: expected a result of 4 warps, split = cols, as the operand's elements are, got 2 warps, split = cols}}
  %p = attn.convert %s : !four -> !two
  return
}

// -----

!acc = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!out = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = cols>>
!lse = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!state = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = rows>>
func.func @f(%o: !acc, %m: !state, %x: f32) {
  // expected-error@+1 {{'attn.finalize' op C3: expected out of 4 warps, split = rows for acc of 4 warps, split = rows, got 4 warps, split = cols}}
  %r, %l = attn.finalize %o, %m scale(%x) : !acc, !state -> !out, !lse
  return
}

// -----

// Warps that merge partial results get a share of the columns each.
!acc = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = partial>>
!lse = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = cols>>
!state = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = partial>>
func.func @f(%o: !acc, %m: !state, %x: f32) {
  // expected-error@+1 {{C3: expected out of 4 warps, split = cols for acc of 4 warps, split = partial, got 4 warps, split = partial}}
  %r, %l = attn.finalize %o, %m scale(%x) : !acc, !state -> !acc, !lse
  return
}

// -----

!acc = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!lse = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!state = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = partial>>
func.func @f(%o: !acc, %m: !state, %x: f32) {
  // expected-error@+1 {{C3: expected state of 4 warps, split = rows for acc of 4 warps, split = rows, got 4 warps, split = partial}}
  %r, %l = attn.finalize %o, %m scale(%x) : !acc, !state -> !acc, !lse
  return
}

// -----

!acc = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = cols>>
!lse = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = cols>>
!state = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = cols>>
func.func @f(%o: !acc, %m: !state, %x: f32) {
  // expected-error@+1 {{C3: expected acc by rows or as partial results of warps, got 4 warps, split = cols}}
  %r, %l = attn.finalize %o, %m scale(%x) : !acc, !state -> !acc, !lse
  return
}

// -----

!acc = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!lse = !attn.tile<64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!tail = !attn.tile<64xf32, #attn.fragment<acc, warps = 2, split = rows>>
!state = !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = rows>>
func.func @f(%o: !acc, %m: !state, %x: f32) {
  // expected-error@+1 {{C3: expected lse_tail of 4 warps, split = rows for acc of 4 warps, split = rows, got 2 warps, split = rows}}
  %r, %l, %t = attn.finalize %o, %m scale(%x) : !acc, !state -> !acc, !lse, !tail
  return
}
