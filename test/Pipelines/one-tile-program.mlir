// The tile program is the same on every target: with one schedule, to the letter.
// RUN: rm -rf %t
// RUN: attn-opt %s --attn-pipeline=target=cpu --attn-dump-stages=%t/cpu -o /dev/null
// RUN: attn-opt %s --attn-pipeline=target=sm_80 --attn-dump-stages=%t/sm_80 -o /dev/null
// RUN: attn-opt %s --attn-pipeline=target=sm_90 --attn-dump-stages=%t/sm_90 -o /dev/null
// RUN: diff %t/cpu/4-tile.mlir %t/sm_80/4-tile.mlir
// RUN: diff %t/cpu/4-tile.mlir %t/sm_90/4-tile.mlir
// RUN: FileCheck %s < %t/cpu/4-tile.mlir

// CHECK-LABEL: func.func @causal
// CHECK: attn.mask_class = "full"
// CHECK-LABEL: func.func @window_softcap
// CHECK: attn.map_scores
// CHECK-LABEL: func.func @split_0
// CHECK-LABEL: func.func @split_1
// CHECK: attn.merge

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @causal(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) schedule(<kv_tile = 32>)
  return
}
func.func @window_softcap(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.window<127, 0>) alignment(16)
               schedule(<q_tile = 128, order = longest_first>) score {
  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %y = attn.softcap %x, 50.0
    attn.yield %y : f32
  }
  return
}
func.func @split(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
               schedule(<split_kv = 2>)
  return
}
