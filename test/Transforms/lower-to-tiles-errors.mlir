// RUN: attn-opt %s -attn-lower-to-tiles -split-input-file -verify-diagnostics -o /dev/null

func.func @no_schedule(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{'attn.forward' op has no schedule; run attn-select-schedule first or pin one with schedule(...)}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @merge_without_schedule(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                                  %o: memref<?x?x8x64xbf16>) {
  // expected-error@+1 {{'attn.merge_states' op has no schedule; run attn-select-schedule first or pin one with schedule(...)}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xbf16>)
  return
}

// -----

func.func @fa1_without_lse(%q: memref<?x?x8x64xf32>, %o: memref<?x?x8x64xf32>, %scale: f32) {
  // expected-error@+1 {{algorithm = fa1 keeps its running output in o and lse: expected an f32 o and an lse output; choose algorithm = fa2 instead}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf32>, memref<?x?x8x64xf32>, memref<?x?x8x64xf32>)
               outs(%o : memref<?x?x8x64xf32>) scale(%scale) schedule(<algorithm = fa1>)
  return
}

// -----

func.func @fa1_with_narrow_output(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>,
                                  %lse: memref<?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{algorithm = fa1 keeps its running output in o and lse}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8x?xf32>) scale(%scale)
               schedule(<algorithm = fa1>)
  return
}

// -----

func.func @split_without_partial_outputs(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>,
                                         %scale: f32) {
  // expected-error@+1 {{expected partial outputs for split_kv = 2; run attn-split-kv first}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) schedule(<split_kv = 2>)
  return
}

// -----

func.func @packed_prefill(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %scale: f32) {
  // expected-error@+1 {{expected one query (known at compile time) that sees all keys, more query heads than key/value heads and an algorithm other than fa1 for pack_gqa = true}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%q : memref<?x?x8x64xf16>) scale(%scale) schedule(<pack_gqa = true>)
  return
}
