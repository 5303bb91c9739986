// Every op, attribute and type of the dialect, in the custom and in the generic form.
// RUN: attn-opt %s --verify-roundtrip -o - | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @forward_minimal
func.func @forward_minimal(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // CHECK: attn.forward ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>) outs(%{{.*}} : memref<?x?x8x64xf16>) scale(%{{.*}}){{$}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// CHECK-LABEL: func @forward_full
func.func @forward_full(%q: memref<?x?x8x64xbf16, strided<[?, ?, ?, 1], offset: ?>>,
                        %k: memref<?x?x2x64xbf16>, %v: memref<?x?x2x128xbf16>,
                        %o: memref<?x?x8x128xbf16>, %lse: memref<?x8x?xf32>,
                        %slopes: memref<8xf32>, %scale: f32, %left: index) {
  // CHECK: attn.forward ins(
  // CHECK-SAME: outs(%{{.*}}, %{{.*}} : memref<?x?x8x128xbf16>, memref<?x8x?xf32>)
  // CHECK-SAME: mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<?, 0>>) mask_args(%{{.*}} : index)
  // CHECK-SAME: alignment(16)
  // CHECK-SAME: schedule(<q_tile = 128, stages = 2, q_in_registers = true, order = longest_first>)
  // CHECK-SAME: score {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index):
  // CHECK-NEXT:   %[[C:.*]] = attn.softcap %[[S]], 5.000000e+01
  // CHECK-NEXT:   %[[A:.*]] = attn.alibi %[[C]], %{{.*}}[%[[H]]], %[[I]], %[[J]] : memref<8xf32>
  // CHECK-NEXT:   attn.yield %[[A]] : f32
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xbf16, strided<[?, ?, ?, 1], offset: ?>>,
                                memref<?x?x2x64xbf16>, memref<?x?x2x128xbf16>)
               outs(%o, %lse : memref<?x?x8x128xbf16>, memref<?x8x?xf32>) scale(%scale)
               mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<?, 0>>)
               mask_args(%left : index) kv(#attn.dense) alignment(16)
               schedule(<algorithm = fa2, q_tile = 128, kv_tile = 64, stages = 2,
                         q_in_registers = true, order = longest_first>)
    score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = attn.softcap %s, 5.0e+01
    %a = attn.alibi %c, %slopes[%h], %i, %j : memref<8xf32>
    attn.yield %a : f32
  }
  return
}

// CHECK-LABEL: func @forward_partial
func.func @forward_partial(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<4x?x?x8x64xf32>,
                           %lse: memref<4x?x8x?xf32>, %scale: f32) {
  // CHECK: attn.forward {{.*}} outs(%{{.*}}, %{{.*}} : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
  // CHECK-SAME: split_kv = 4
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>) scale(%scale)
               schedule(<split_kv = 4>)
  return
}

// CHECK-LABEL: func @merge_states
func.func @merge_states(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                        %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // CHECK: attn.merge_states ins(%{{.*}}, %{{.*}} : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>) outs(%{{.*}}, %{{.*}} : memref<?x?x8x64xbf16>, memref<?x8x?xf32>){{$}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  // CHECK: attn.merge_states ins({{.*}}) outs(%{{.*}} : memref<?x?x8x64xbf16>) schedule(<
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xbf16>) schedule(<q_tile = 16>)
  return
}

// CHECK-LABEL: func @masks
func.func @masks() attributes {
  // CHECK-SAME: m0 = #attn.none
  // CHECK-SAME: m1 = #attn.causal<bottom_right>
  // CHECK-SAME: m2 = #attn.causal<top_left>
  m0 = #attn.none, m1 = #attn.causal<bottom_right>, m2 = #attn.causal<top_left>,
  // CHECK-SAME: m3 = #attn.window<1023, 0>
  // CHECK-SAME: m4 = #attn.window<?, -1, top_left>
  // An alignment that is the default is not printed.
  // CHECK-SAME: m5 = #attn.window<-1, ?>
  m3 = #attn.window<1023, 0>, m4 = #attn.window<?, -1, top_left>,
  m5 = #attn.window<-1, ?, bottom_right>,
  // CHECK-SAME: m6 = #attn.any_of<#attn.all_of<#attn.none, #attn.causal<top_left>>, #attn.window<0, 0>>
  m6 = #attn.any_of<#attn.all_of<#attn.none, #attn.causal<top_left>>, #attn.window<0, 0>>
} { return }

// CHECK-LABEL: func @layouts
// CHECK-SAME: dense = #attn.dense
// CHECK-SAME: fragment = #attn.fragment<acc, warps = 4, split = rows>
// CHECK-SAME: operand = #attn.fragment<a, warps = 1, split = partial>
// CHECK-SAME: shared = #attn.shared<pitch = 128, xor_mask = 7>
func.func @layouts() attributes {
  dense = #attn.dense,
  fragment = #attn.fragment<acc, warps = 4, split = rows>,
  operand = #attn.fragment<a, warps = 1, split = partial>,
  shared = #attn.shared<pitch = 128, xor_mask = 7>
} { return }

// CHECK-LABEL: func @schedules
// Fields that have their default are not printed.
// CHECK-SAME: s1 = #attn.schedule<>
// CHECK-SAME: s2 = #attn.schedule<algorithm = naive, q_tile = 1, kv_tile = 1024, stages = 8, warps = 32, warp_split = keys, split_kv = 1024, instruction = fma
// CHECK-SAME: s3 = #attn.schedule<algorithm = two_pass
// CHECK-SAME: s4 = #attn.schedule<algorithm = fa1>
// CHECK-SAME: s5 = #attn.schedule<integer_max = true, lazy_rescale = false>
func.func @schedules() attributes {
  s1 = #attn.schedule<algorithm = fa2, q_tile = 64, kv_tile = 64, stages = 1, warps = 4,
                      warp_split = rows, split_kv = 1, instruction = mma,
                      q_in_registers = false, order = linear>,
  s2 = #attn.schedule<algorithm = naive, q_tile = 1, kv_tile = 1024, stages = 8, warps = 32,
                      warp_split = keys, split_kv = 1024, instruction = fma>,
  s3 = #attn.schedule<algorithm = two_pass>,
  s4 = #attn.schedule<algorithm = fa1>,
  s5 = #attn.schedule<integer_max = true, lazy_rescale = false>
} { return }

// CHECK-LABEL: func private @types(
// CHECK-SAME: !attn.tile<64xf32>
// CHECK-SAME: !attn.tile<64x128xbf16>
// CHECK-SAME: !attn.tile<64x128xf16, #attn.shared<pitch = 256, xor_mask = 7>>
// CHECK-SAME: !attn.tile<64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>
// CHECK-SAME: !attn.softmax_state<64>
// CHECK-SAME: !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = rows>>
// CHECK-SAME: !attn.pipe<<64x64xf16>, stages = 2>
// CHECK-SAME: !attn.pipe<<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>, stages = 8>
func.func private @types(
  !attn.tile<64xf32>, !attn.tile<64x128xbf16>,
  !attn.tile<64x128xf16, #attn.shared<pitch = 256, xor_mask = 7>>,
  !attn.tile<64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>,
  !attn.softmax_state<64>,
  !attn.softmax_state<64, #attn.fragment<acc, warps = 4, split = rows>>,
  !attn.pipe<!attn.tile<64x64xf16>, stages = 2>,
  !attn.pipe<!attn.tile<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>, stages = 8>)

// CHECK-LABEL: func @tile_memory
func.func @tile_memory(%K: memref<?x?x8x64xf16>, %L: memref<?x8x?xf32>, %b: index, %j: index,
                       %h: index, %n: index) {
  // CHECK: attn.load_tile %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x8x64xf16> -> <64x64xf16>
  %0 = attn.load_tile %K[%b, %j, %h] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
  // CHECK: attn.load_tile %{{.*}}[{{.*}}] limit(%{{.*}}) pad(0xFF800000) : memref<?x8x?xf32> -> <64xf32>
  %1 = attn.load_tile %L[%b, %j, %h] limit(%n) pad(0xFF800000) : memref<?x8x?xf32> -> !attn.tile<64xf32>
  // CHECK: attn.store_tile %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : <64x64xf16>, memref<?x?x8x64xf16>
  attn.store_tile %0, %K[%b, %j, %h] : !attn.tile<64x64xf16>, memref<?x?x8x64xf16>
  // CHECK: attn.store_tile %{{.*}}, %{{.*}}[{{.*}}] : <64xf32>, memref<?x8x?xf32>
  attn.store_tile %1, %L[%b, %j, %h] : !attn.tile<64xf32>, memref<?x8x?xf32>
  return
}

// CHECK-LABEL: func @tile_products
func.func @tile_products(%q: !attn.tile<128x64xf16>, %k: !attn.tile<32x64xf16>,
                         %p: !attn.tile<128x32xf16>) {
  // CHECK: attn.fill 0.000000e+00 : <128x32xf32>
  %zero = attn.fill 0.0 : !attn.tile<128x32xf32>
  // CHECK: attn.tile_mma %{{.*}}, %{{.*}}, %{{.*}} transpose_b : <128x64xf16>, <32x64xf16>, <128x32xf32>
  %s = attn.tile_mma %q, %k, %zero transpose_b
     : !attn.tile<128x64xf16>, !attn.tile<32x64xf16>, !attn.tile<128x32xf32>
  %acc = attn.fill 0.0 : !attn.tile<128x64xf32>
  // CHECK: attn.tile_mma %{{.*}}, %{{.*}}, %{{.*}} : <128x32xf16>, <32x64xf16>, <128x64xf32>
  %o = attn.tile_mma %p, %k, %acc
     : !attn.tile<128x32xf16>, !attn.tile<32x64xf16>, !attn.tile<128x64xf32>
  // CHECK: attn.convert %{{.*}} : <128x32xf32> -> <128x32xbf16>
  %c = attn.convert %s : !attn.tile<128x32xf32> -> !attn.tile<128x32xbf16>
  return
}

// CHECK-LABEL: func @scores
func.func @scores(%s: !attn.tile<64x32xf32>, %i0: index, %j0: index, %sq: index, %sk: index,
                  %scale: f32) {
  // CHECK: %[[MAPPED:.*]] = attn.map_scores %{{.*}} rows(%{{.*}}) keys(%{{.*}}) lengths(%{{.*}}, %{{.*}}) scale(%{{.*}}) : <64x32xf32> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
  // CHECK-NEXT: attn.softcap %[[X]], 3.000000e+01
  %t = attn.map_scores %s rows(%i0) keys(%j0) lengths(%j0, %j0) scale(%scale) : !attn.tile<64x32xf32> {
  ^bb0(%x: f32, %i: index, %j: index):
    %y = attn.softcap %x, 3.0e+01
    attn.yield %y : f32
  }
  // CHECK: attn.mask_scores %[[MAPPED]] rows(%{{.*}}) keys(%{{.*}}) lengths(%{{.*}}, %{{.*}}) mask(#attn.none) : <64x32xf32>
  %u = attn.mask_scores %t rows(%i0) keys(%j0) lengths(%sq, %sk) mask(#attn.none)
     : !attn.tile<64x32xf32>
  // CHECK: attn.mask_scores {{.*}} mask(#attn.window<?, ?>) mask_args(%{{.*}}, %{{.*}} : index, index) : <64x32xf32>
  %w = attn.mask_scores %u rows(%i0) keys(%j0) lengths(%sq, %sk) mask(#attn.window<?, ?>)
     mask_args(%i0, %j0 : index, index) : !attn.tile<64x32xf32>
  return
}

// CHECK-LABEL: func @softmax
func.func @softmax(%s: !attn.tile<64x32xf32>, %o: !attn.tile<64x16xf32>, %scale: f32) {
  // CHECK: attn.softmax_init : <64>
  %0 = attn.softmax_init : !attn.softmax_state<64>
  // CHECK: attn.softmax_update %{{.*}}, %{{.*}} scale(%{{.*}}) : <64>, <64x32xf32> -> <64xf32>
  %1, %p, %alpha = attn.softmax_update %0, %s scale(%scale)
     : !attn.softmax_state<64>, !attn.tile<64x32xf32> -> !attn.tile<64xf32>
  // CHECK: attn.softmax_max %{{.*}}, %{{.*}} scale(%{{.*}}) : <64>, <64x32xf32>
  %2 = attn.softmax_max %1, %s scale(%scale) : !attn.softmax_state<64>, !attn.tile<64x32xf32>
  // CHECK: attn.softmax_sum %{{.*}}, %{{.*}} scale(%{{.*}}) : <64>, <64x32xf32>
  %3 = attn.softmax_sum %2, %s scale(%scale) : !attn.softmax_state<64>, !attn.tile<64x32xf32>
  // CHECK: attn.softmax_apply %{{.*}}, %{{.*}} scale(%{{.*}}) : <64>, <64x32xf32>
  %4 = attn.softmax_apply %3, %s scale(%scale) : !attn.softmax_state<64>, !attn.tile<64x32xf32>
  // CHECK: attn.rescale %{{.*}}, %{{.*}} : <64x16xf32>, <64xf32>
  %5 = attn.rescale %o, %alpha : !attn.tile<64x16xf32>, !attn.tile<64xf32>
  // CHECK: attn.finalize %{{.*}}, %{{.*}} scale(%{{.*}}) : <64x16xf32>, <64> -> <64x16xf32>, <64xf32>
  %6, %lse = attn.finalize %5, %3 scale(%scale)
     : !attn.tile<64x16xf32>, !attn.softmax_state<64> -> !attn.tile<64x16xf32>, !attn.tile<64xf32>
  // CHECK: attn.merge %{{.*}}, %{{.*}} with %{{.*}}, %{{.*}} : <64x16xf32>, <64xf32>
  %7, %8 = attn.merge %5, %alpha with %6, %lse : !attn.tile<64x16xf32>, !attn.tile<64xf32>
  // CHECK: %{{.*}}, %[[L:.*]], %[[T:.*]] = attn.finalize %{{.*}} : <64x16xf32>, <64> -> <64x16xf32>, <64xf32>, !attn.tile<64xf32>
  %9, %l, %t = attn.finalize %5, %3 scale(%scale)
     : !attn.tile<64x16xf32>, !attn.softmax_state<64> -> !attn.tile<64x16xf32>, !attn.tile<64xf32>, !attn.tile<64xf32>
  // CHECK: attn.merge %{{.*}}, %[[L]] with %{{.*}}, %[[L]] tails(%[[T]], %[[T]] : !attn.tile<64xf32>, !attn.tile<64xf32>) : <64x16xf32>, <64xf32>, !attn.tile<64xf32>
  %10, %11, %12 = attn.merge %9, %l with %9, %l tails(%t, %t : !attn.tile<64xf32>, !attn.tile<64xf32>)
     : !attn.tile<64x16xf32>, !attn.tile<64xf32>, !attn.tile<64xf32>
  return
}

// CHECK-LABEL: func @pipes
func.func @pipes(%K: memref<?x?x8x64xf16>, %b: index, %j: index, %h: index, %n: index) {
  // CHECK: attn.pipe_create : <<64x64xf16>, stages = 2>
  %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  // CHECK: attn.pipe_create offset = 1024 : <<64x64xf16>, stages = 2>
  %r = attn.pipe_create offset = 1024 : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  // CHECK: attn.pipe_acquire %{{.*}}[%{{.*}}] : <<64x64xf16>, stages = 2>
  attn.pipe_acquire %p[%j] : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  // CHECK: attn.pipe_acquire %{{.*}}[%{{.*}}] synced : <<64x64xf16>, stages = 2>
  attn.pipe_acquire %p[%j] synced : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  // CHECK: attn.copy_tile %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] limit(%{{.*}}) into %{{.*}}[%{{.*}}] alignment(16) : memref<?x?x8x64xf16>, <<64x64xf16>, stages = 2>
  attn.copy_tile %K[%b, %j, %h] limit(%n) into %p[%j] alignment(16)
     : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  // CHECK: attn.pipe_commit %{{.*}} : <<64x64xf16>, stages = 2>
  attn.pipe_commit %p : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  // CHECK: attn.pipe_wait %{{.*}}[%{{.*}}] pending(1) : <<64x64xf16>, stages = 2> -> <64x64xf16>
  %k = attn.pipe_wait %p[%j] pending(1)
     : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x64xf16>
  // CHECK: attn.local_load %{{.*}} : <64x64xf16> -> <64x64xf16, #attn.fragment<a, warps = 4, split = rows>>
  %a = attn.local_load %k
     : !attn.tile<64x64xf16> -> !attn.tile<64x64xf16, #attn.fragment<a, warps = 4, split = rows>>
  // CHECK: attn.pipe_release %{{.*}}[%{{.*}}] : <<64x64xf16>, stages = 2>
  attn.pipe_release %p[%j] : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// CHECK-LABEL: func @marks
func.func @marks(%n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // CHECK: } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<{{.*}}>, attn.smem_bytes = 1024 : i64}
  // CHECK: } {attn.kv_pass = 0 : i64, attn.mask_class = "masked"}
  scf.forall (%i) in (%n) {
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<>, attn.smem_bytes = 1024 : i64}
  scf.for %j = %c0 to %n step %c64 {
  } {attn.kv_pass = 0 : i64, attn.mask_class = "masked"}
  return
}

// CHECK-LABEL: func @tails
func.func @tails(%q: memref<?x?x8x64xf16>, %po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                 %o: memref<?x?x8x64xbf16>, %scale: f32) {
  // CHECK: attn.forward {{.*}} outs({{.*}}) lse_tail(%{{.*}} : memref<4x?x8x?xf32>) scale(
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
               lse_tail(%pl : memref<4x?x8x?xf32>) scale(%scale) schedule(#attn.schedule<split_kv = 4>)
  // CHECK: attn.merge_states ins({{.*}}) partial_tail(%{{.*}} : memref<4x?x8x?xf32>) outs(
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    partial_tail(%pl : memref<4x?x8x?xf32>) outs(%o : memref<?x?x8x64xbf16>)
  return
}
