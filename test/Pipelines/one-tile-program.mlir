// The tile program is the same on every target: with one schedule, to the letter.
// RUN: rm -rf %t
// RUN: attn-opt %s --attn-pipeline=target=cpu --attn-dump-stages=%t/cpu -o /dev/null
// RUN: attn-opt %s --attn-pipeline=target=sm_80 --attn-dump-stages=%t/sm_80 -o /dev/null
// RUN: attn-opt %s --attn-pipeline=target=sm_90 --attn-dump-stages=%t/sm_90 -o /dev/null
// RUN: diff %t/cpu/4-tile.mlir %t/sm_80/4-tile.mlir
// RUN: diff %t/cpu/4-tile.mlir %t/sm_90/4-tile.mlir
// RUN: FileCheck %s < %t/cpu/4-tile.mlir

// With warpgroups, roles and CTAs that draw tiles it is the same but for the attribute that says so.
// DEFINE: %{wgmma} = kv_order = descending, overlap = true, persistent = dynamic, q_stages = 2, instruction = wgmma
// RUN: sed -e "s/q_tile = 128, order/q_tile = 128, warps = 8, %{wgmma}, order/" -e "s/kv_tile = 32>/q_tile = 128, warps = 8, %{wgmma}, kv_tile = 32>/" -e "s/split_kv = 2>/q_tile = 128, warps = 8, %{wgmma}, split_kv = 2>/" %s > %t.wgmma.mlir
// RUN: sed -e "s/q_tile = 128, order/q_tile = 128, warps = 8, order/" -e "s/kv_tile = 32>/q_tile = 128, warps = 8, kv_tile = 32>/" -e "s/split_kv = 2>/q_tile = 128, warps = 8, split_kv = 2>/" %s > %t.mma.mlir
// RUN: attn-opt %t.wgmma.mlir --attn-pipeline=target=sm_90a --attn-dump-stages=%t/wgmma -o /dev/null
// RUN: attn-opt %t.mma.mlir --attn-pipeline=target=sm_80 --attn-dump-stages=%t/mma -o /dev/null
// RUN: sed "s/attn.schedule = #attn.schedule<[^>]*>//" %t/wgmma/4-tile.mlir > %t.wgmma.txt
// RUN: grep -c "instruction = wgmma" %t/wgmma/4-tile.mlir
// RUN: sed "s/attn.schedule = #attn.schedule<[^>]*>//" %t/mma/4-tile.mlir | diff %t.wgmma.txt -

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
