// DEFINE: %{pipes} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-insert-pipes),canonicalize,cse
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{pipes})" | FileCheck %s --check-prefix=BEFORE
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{pipes},func.func(attn-assign-layouts))" | FileCheck %s

// BEFORE-NOT: #attn.shared
// BEFORE-NOT: #attn.fragment

// Operands of products in shared memory, P as operand a, everything else as accumulators.
// CHECK-LABEL: func @rows
// CHECK: attn.fill {{.*}} : <64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
// CHECK: attn.softmax_init : <64, #attn.fragment<acc, warps = 4, split = rows>>
// CHECK: attn.pipe_create : <<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>, stages = 1>
// CHECK: attn.tile_mma {{.*}} transpose_b : <64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>, <32x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>, <64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>
// CHECK: attn.softmax_update {{.*}} -> <64xf32, #attn.fragment<acc, warps = 4, split = rows>>
// CHECK: attn.convert {{.*}} -> <64x32xf16, #attn.fragment<a, warps = 4, split = rows>>
// CHECK: attn.tile_mma {{.*}} : <64x32xf16, #attn.fragment<a, warps = 4, split = rows>>, <32x64xf16, #attn.shared
!t = memref<?x?x8x64xf16>
func.func @rows(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) schedule(<kv_tile = 32>)
  return
}

// -----

// A row of five chunks has an odd pitch already; one of ten would have an even one.
// CHECK-LABEL: func @pitch
// CHECK: attn.pipe_create : <<64x80xf16, #attn.shared<pitch = 176, xor_mask = 0>>, stages = 1>
!t = memref<?x?x8x80xf16>
func.func @pitch(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) schedule(<>)
  return
}

// -----

// CHECK-LABEL: func @q_in_registers
// CHECK: attn.local_load {{.*}} -> <64x64xf16, #attn.fragment<a, warps = 4, split = rows>>
!t = memref<?x?x8x64xf16>
func.func @q_in_registers(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<q_in_registers = true>)
  return
}

// -----

// Warps share out the keys: scores by columns, O and the state are partial until finalize.
// CHECK-LABEL: func @keys
// CHECK: attn.fill {{.*}} : <16x64xf32, #attn.fragment<acc, warps = 4, split = partial>>
// CHECK: attn.softmax_init : <16, #attn.fragment<acc, warps = 4, split = partial>>
// CHECK: attn.tile_mma {{.*}} transpose_b : {{.*}}, <16x64xf32, #attn.fragment<acc, warps = 4, split = cols>>
// CHECK: attn.convert {{.*}} -> <16x64xf16, #attn.fragment<a, warps = 4, split = cols>>
// CHECK: attn.finalize {{.*}} -> <16x64xf32, #attn.fragment<acc, warps = 4, split = cols>>, <16xf32, #attn.fragment<acc, warps = 4, split = cols>>
!t = memref<?x?x8x64xf16>
func.func @keys(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<q_tile = 16, warp_split = keys>)
  return
}

// -----

// Without tensor cores P goes through shared memory, rounded on the way.
// CHECK-LABEL: func @fma
// CHECK-NOT: attn.convert
// CHECK: %[[P:.*]] = attn.local_store {{.*}} : <64x64xf32, #attn.fragment<acc, warps = 4, split = rows>> -> <64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
// CHECK: attn.tile_mma %[[P]],
!t = memref<?x?x8x64xf16>
func.func @fma(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) schedule(<instruction = fma>)
  return
}
