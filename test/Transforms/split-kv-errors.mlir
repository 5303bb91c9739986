// RUN: attn-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(func.func(attn-split-kv,attn-verify-no-problem-ops))'

func.func @local_output(%q: memref<?x?x8x64xf32>, %n: index, %scale: f32) {
  %o = memref.alloc(%n, %n) : memref<?x?x8x64xf32>
  // expected-error @below {{expected o to be an argument of the function for split_kv = 3: the workspace takes its shape from it}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf32>, memref<?x?x8x64xf32>, memref<?x?x8x64xf32>)
               outs(%o : memref<?x?x8x64xf32>) scale(%scale) schedule(#attn.schedule<split_kv = 3>)
  return
}

// -----

func.func @left_over(%q: memref<?x?x8x64xf32>, %o: memref<?x?x8x64xf32>, %scale: f32) {
  // expected-error @below {{is left after attn-lower-to-tiles; problem ops must stand directly in the body of their function}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf32>, memref<?x?x8x64xf32>, memref<?x?x8x64xf32>)
               outs(%o : memref<?x?x8x64xf32>) scale(%scale)
  return
}
