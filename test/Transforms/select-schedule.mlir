// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=sm_80}))" 2>&1 | FileCheck %s
// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=sm_90},attn-verify-schedule{target=sm_90}))" 2>&1 | FileCheck %s
// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=sm_86},attn-verify-schedule{target=sm_86}))" 2>&1 | FileCheck %s --check-prefix=SM86
// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-select-schedule{target=cpu},attn-verify-schedule{target=cpu}))" 2>&1 | FileCheck %s --check-prefix=CPU

// The generic path is a fallback on a GPU, and says so; it is the only path of the CPU.
// CHECK: remark: {{.*}}no fast path of sm_{{8|9}}0 takes this problem (element type: takes f16, bf16, the problem has f32): taking the generic path, row 'generic'
// CHECK: remark: {{.*}}(alignment: takes 16 bytes or more, the problem promises 2; say alignment(16)
// CHECK: remark: {{.*}}(registers: expected at most 255 a thread, got 312 (O 256, S 16, Q 0, other 40)
// CPU-NOT: remark

// CHECK-LABEL: func @d64
// CHECK: schedule(<q_tile = 128, stages = 2, q_in_registers = true>)
// CPU-LABEL: func @d64
// CPU: schedule(<q_tile = 128, warps = 1, instruction = fma, lazy_rescale = false>)
func.func @d64(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>, %v: memref<?x?x8x64xbf16>,
               %o: memref<?x?x8x64xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
               outs(%o : memref<?x?x8x64xbf16>) scale(%s) alignment(16)
  return
}

// CHECK-LABEL: func @d72_causal
// CHECK: schedule(<q_tile = 128, stages = 2, order = longest_first>)
func.func @d72_causal(%q: memref<?x?x8x72xf16>, %k: memref<?x?x8x72xf16>, %v: memref<?x?x8x72xf16>,
                      %o: memref<?x?x8x72xf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x72xf16>, memref<?x?x8x72xf16>, memref<?x?x8x72xf16>)
               outs(%o : memref<?x?x8x72xf16>) scale(%s) mask(#attn.causal<bottom_right>) alignment(16)
  return
}

// A window inside a composition is uneven, too.
// CHECK-LABEL: func @d128_composed
// CHECK: schedule(<q_tile = 128, kv_tile = 48, stages = 2, order = longest_first>)
func.func @d128_composed(%q: memref<?x?x8x128xbf16>, %k: memref<?x?x2x128xbf16>,
                         %v: memref<?x?x2x128xbf16>, %o: memref<?x?x8x128xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x128xbf16>, memref<?x?x2x128xbf16>, memref<?x?x2x128xbf16>)
               outs(%o : memref<?x?x8x128xbf16>) scale(%s)
               mask(#attn.all_of<#attn.none, #attn.window<127, 0>>) alignment(16)
  return
}

// Unequal head dims go by the larger.
// CHECK-LABEL: func @d192_128
// CHECK: schedule(<>)
func.func @d192_128(%q: memref<?x?x8x192xbf16>, %k: memref<?x?x8x192xbf16>,
                    %v: memref<?x?x8x128xbf16>, %o: memref<?x?x8x128xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x192xbf16>, memref<?x?x8x192xbf16>, memref<?x?x8x128xbf16>)
               outs(%o : memref<?x?x8x128xbf16>) scale(%s) alignment(16)
  return
}

// CHECK-LABEL: func @f32
// CHECK: schedule(<kv_tile = 32, instruction = fma>)
func.func @f32(%q: memref<?x?x8x64xf32>, %k: memref<?x?x8x64xf32>, %v: memref<?x?x8x64xf32>,
               %o: memref<?x?x8x64xf32>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf32>, memref<?x?x8x64xf32>, memref<?x?x8x64xf32>)
               outs(%o : memref<?x?x8x64xf32>) scale(%s) alignment(16)
  return
}

// CHECK-LABEL: func @unaligned
// CHECK: schedule(<kv_tile = 32, instruction = fma>)
func.func @unaligned(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>,
                     %v: memref<?x?x8x64xbf16>, %o: memref<?x?x8x64xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
               outs(%o : memref<?x?x8x64xbf16>) scale(%s)
  return
}

// CHECK-LABEL: func @wide_v
// CHECK: schedule(<kv_tile = 32, instruction = fma>)
func.func @wide_v(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>,
                  %v: memref<?x?x8x512xbf16>, %o: memref<?x?x8x512xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x512xbf16>)
               outs(%o : memref<?x?x8x512xbf16>) scale(%s) alignment(16)
  return
}

// A smaller chip takes the next row where a tile is too large for it.
// CHECK-LABEL: func @f32_d256
// CHECK: schedule(<kv_tile = 32, instruction = fma>)
// SM86-LABEL: func @f32_d256
// SM86: schedule(<q_tile = 32, kv_tile = 16, warps = 2, instruction = fma>)
func.func @f32_d256(%q: memref<?x?x8x256xf32>, %k: memref<?x?x8x256xf32>,
                    %v: memref<?x?x8x256xf32>, %o: memref<?x?x8x256xf32>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x256xf32>, memref<?x?x8x256xf32>, memref<?x?x8x256xf32>)
               outs(%o : memref<?x?x8x256xf32>) scale(%s) alignment(16)
  return
}

// CHECK-LABEL: func @decode
// CHECK: schedule(<q_tile = 16, stages = 2, warp_split = keys>)
// CPU-LABEL: func @decode
// CPU: schedule(<q_tile = 8, kv_tile = 128, warps = 1, instruction = fma, lazy_rescale = false>)
func.func @decode(%q: memref<?x1x8x128xbf16>, %k: memref<?x?x8x128xbf16>,
                  %v: memref<?x?x8x128xbf16>, %o: memref<?x1x8x128xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x1x8x128xbf16>, memref<?x?x8x128xbf16>, memref<?x?x8x128xbf16>)
               outs(%o : memref<?x1x8x128xbf16>) scale(%s) alignment(16)
  return
}

// The query heads of a key/value head are the rows of a tile where their one query sees all keys.
// CHECK-LABEL: func @decode_gqa
// CHECK: schedule(<q_tile = 16, stages = 2, warp_split = keys, order = longest_first, pack_gqa = true>)
// CHECK: schedule(<q_tile = 16, stages = 2, warp_split = keys, order = longest_first>)
// CPU-LABEL: func @decode_gqa
// CPU: schedule(<q_tile = 8, kv_tile = 128, warps = 1, instruction = fma, order = longest_first, lazy_rescale = false, pack_gqa = true>)
// CPU: schedule(<q_tile = 8, kv_tile = 128, warps = 1, instruction = fma, order = longest_first, lazy_rescale = false>)
func.func @decode_gqa(%q: memref<?x1x8x128xbf16>, %k: memref<?x?x2x128xbf16>,
                      %v: memref<?x?x2x128xbf16>, %o: memref<?x1x8x128xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x1x8x128xbf16>, memref<?x?x2x128xbf16>, memref<?x?x2x128xbf16>)
               outs(%o : memref<?x1x8x128xbf16>) scale(%s) mask(#attn.causal<bottom_right>) alignment(16)
  attn.forward ins(%q, %k, %v : memref<?x1x8x128xbf16>, memref<?x?x2x128xbf16>, memref<?x?x2x128xbf16>)
               outs(%o : memref<?x1x8x128xbf16>) scale(%s) mask(#attn.window<100, 0>) alignment(16)
  return
}

// The columns of O do not divide into four warps: two share out the keys.
// CHECK-LABEL: func @decode_d80
// CHECK: schedule(<q_tile = 16, stages = 2, warps = 2, warp_split = keys>)
func.func @decode_d80(%q: memref<?x1x8x80xbf16>, %k: memref<?x?x8x80xbf16>,
                      %v: memref<?x?x8x80xbf16>, %o: memref<?x1x8x80xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x1x8x80xbf16>, memref<?x?x8x80xbf16>, memref<?x?x8x80xbf16>)
               outs(%o : memref<?x1x8x80xbf16>) scale(%s) alignment(16)
  return
}

// Pinned fields replace those of the row; the dictionary goes.
// CHECK-LABEL: func @pins
// CHECK: schedule(<algorithm = two_pass, q_tile = 128, kv_tile = 32, stages = 2, split_kv = 4, q_in_registers = true>)
// CHECK-NOT: attn.pins
func.func @pins(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>, %v: memref<?x?x8x64xbf16>,
                %o: memref<?x?x8x64xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
               outs(%o : memref<?x?x8x64xbf16>) scale(%s) mask(#attn.causal<top_left>) alignment(16)
               {attn.pins = {algorithm = "two_pass", kv_tile = 32, split_kv = 4, order = "linear"}}
  return
}

// A row that the pinned field does not fit gives way to one that it does; a pinned
// instruction is no fallback, hence no remark.
// CHECK-LABEL: func @pinned_next_row
// CHECK: schedule(<kv_tile = 128>)
// CHECK-LABEL: func @pinned_fma
// CHECK: schedule(<kv_tile = 32, instruction = fma>)
func.func @pinned_next_row(%q: memref<?x?x8x128xbf16>, %k: memref<?x?x8x128xbf16>,
                           %v: memref<?x?x8x128xbf16>, %o: memref<?x?x8x128xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x128xbf16>, memref<?x?x8x128xbf16>, memref<?x?x8x128xbf16>)
               outs(%o : memref<?x?x8x128xbf16>) scale(%s) alignment(16) {attn.pins = {kv_tile = 128}}
  return
}
func.func @pinned_fma(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>,
                      %v: memref<?x?x8x64xbf16>, %o: memref<?x?x8x64xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
               outs(%o : memref<?x?x8x64xbf16>) scale(%s) alignment(16)
               {attn.pins = {instruction = "fma"}}
  return
}

// The f32 output of 16-bit inputs shows how P was rounded.
// CHECK-LABEL: func @f32_output
// CHECK: schedule(<q_tile = 128, stages = 2, q_in_registers = true, lazy_rescale = false>)
func.func @f32_output(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>,
                      %v: memref<?x?x8x64xbf16>, %o: memref<?x?x8x64xf32>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
               outs(%o : memref<?x?x8x64xf32>) scale(%s) alignment(16)
  return
}

// A whole schedule is kept.
// CHECK-LABEL: func @whole
// CHECK: schedule(<algorithm = naive, kv_tile = 16>)
func.func @whole(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>, %v: memref<?x?x8x64xbf16>,
                 %o: memref<?x?x8x64xbf16>, %s: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
               outs(%o : memref<?x?x8x64xbf16>) scale(%s) alignment(16)
               schedule(#attn.schedule<algorithm = naive, kv_tile = 16>)
  return
}

// CHECK-LABEL: func @merge
// CHECK: attn.merge_states {{.*}}schedule(<kv_tile = 32, instruction = fma>)
func.func @merge(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x64xbf16>) {
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xbf16>)
  return
}
