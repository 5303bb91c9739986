// A problem whose last dim is not contiguous.
// ERROR: C7: expected the last dim of q to be contiguous
func.func @f(%q: memref<?x?x8x64xf16, strided<[?, ?, 1, 8]>>, %k: memref<?x?x8x64xf16>,
             %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16, strided<[?, ?, 1, 8]>>, memref<?x?x8x64xf16>,
                                memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: C5: expected heads_q to be a multiple of heads_kv, got heads_q = 7 and heads_kv = 2
func.func @f(%q: memref<?x?x7x64xf16>, %k: memref<?x?x2x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<?x?x7x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%q : memref<?x?x7x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: C3: expected the head dim of q to be a multiple of 8 in [8, 256], got 257
func.func @f(%q: memref<?x?x8x257xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x257xf16>, memref<?x?x8x257xf16>, memref<?x?x8x257xf16>)
               outs(%q : memref<?x?x8x257xf16>) scale(%scale)
  return
}

// -----
// ERROR: C2: expected q and v to have one element type, got 'f16' and 'bf16'
func.func @f(%q: memref<?x?x8x64xf16>, %v: memref<?x?x8x64xbf16>, %scale: f32) {
  attn.forward ins(%q, %q, %v : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xbf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: C2: expected element type f32, f16 or bf16 of q, got 'f8E4M3FN'
func.func @f(%q: memref<?x?x8x64xf8E4M3FN>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf8E4M3FN>, memref<?x?x8x64xf8E4M3FN>, memref<?x?x8x64xf8E4M3FN>)
               outs(%q : memref<?x?x8x64xf8E4M3FN>) scale(%scale)
  return
}

// -----
// ERROR: C6: expected q and k to agree in batch, got 4 and 2
func.func @f(%q: memref<4x?x8x64xf16>, %k: memref<2x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<4x?x8x64xf16>, memref<2x?x8x64xf16>, memref<2x?x8x64xf16>)
               outs(%q : memref<4x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: C8: expected 2 mask operands for #attn.window<?, ?>, got 1
func.func @f(%q: memref<?x?x8x64xf16>, %n: index, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale)
               mask(#attn.window<?, ?>) mask_args(%n : index)
  return
}

// -----
// ERROR: expected a mask attribute, got []
func.func private @f() attributes {m = #attn.all_of<[]>}

// -----
// ERROR: C10: expected alignment to be a power of two of at least 2 bytes, got 3
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) alignment(3)
  return
}

// -----
// Without a schedule there is no tile program.
// ERROR: has no schedule; run attn-select-schedule first or pin one with schedule(...)
// ARGS: --attn-lower-to-tiles
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: expected partial outputs for split_kv = 8; run attn-split-kv first
// ARGS: --attn-lower-to-tiles
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) schedule(<split_kv = 8>)
  return
}

// -----
// ERROR: fa1 keeps its running output in o and lse
// ARGS: --attn-pipeline=target=cpu
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) schedule(<algorithm = fa1>)
  return
}

// -----
// More registers than a thread has.
// ERROR: schedule does not fit sm_80: registers: expected at most 255 a thread
// ARGS: --attn-pipeline=target=sm_80
func.func @f(%q: memref<?x?x8x256xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x256xf16>, memref<?x?x8x256xf16>, memref<?x?x8x256xf16>)
               outs(%q : memref<?x?x8x256xf16>) scale(%scale)
               alignment(16) schedule(<q_tile = 128, kv_tile = 64, warps = 1>)
  return
}

// -----
// A tile that warps cannot share out in blocks of 16 rows.
// ERROR: schedule does not fit sm_80: q_tile: expected a multiple of 48 (16 rows for each of 3 warps), got 17
// ARGS: --attn-pipeline=target=sm_80
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale)
               alignment(16) schedule(<q_tile = 17, kv_tile = 33, warps = 3>)
  return
}

// -----
// ERROR: C9: expected the ops of the score region to write no memory
func.func @f(%q: memref<?x?x8x64xf16>, %m: memref<8xf32>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    memref.store %s, %m[%h] : memref<8xf32>
    attn.yield %s : f32
  }
  return
}

// -----
// ERROR: region with at most 1 blocks
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    attn.yield %s : f32
  ^bb1:
    attn.yield %scale : f32
  }
  return
}

// -----
// ERROR: 'attn.merge_states' op C3: expected partial_o and o to agree in head dim, got 64 and 32
func.func @f(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x32xf16>) {
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x32xf16>)
  return
}

// -----
// ERROR: invalid kind of type specified: expected builtin.memref
func.func @f(%q: tensor<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>)
               outs(%q : tensor<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: 'attn.pins': expected a dictionary of schedule fields
// ARGS: --attn-select-schedule=target=sm_80
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) {attn.pins = "fast"}
  return
}

// -----
// ERROR: 'attn.pins': expected q_tile in [1, 1024], got 0
// ARGS: --attn-select-schedule=target=sm_80
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) {attn.pins = {q_tile = 0}}
  return
}

// -----
// A problem inside a loop.
// ERROR: problem ops must stand directly in the body of their function
// ARGS: --attn-pipeline=target=cpu
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
                 outs(%q : memref<?x?x8x64xf16>) scale(%scale)
  }
  return
}
