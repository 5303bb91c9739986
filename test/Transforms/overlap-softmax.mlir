// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles})" | FileCheck %s --check-prefix=BEFORE
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{tiles},func.func(attn-overlap-softmax),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// The first tile is peeled off and masked. Then each step multiplies Q with its own K beside the P
// and V of the tile before, and scales O after that product.
// BEFORE-LABEL: func @full
// BEFORE: scf.for
// BEFORE: attn.tile_mma {{.*}} transpose_b
// BEFORE: attn.softmax_update
// BEFORE: attn.rescale
// BEFORE: attn.tile_mma
// CHECK-LABEL: func @full
// CHECK: %[[Q:.*]] = attn.load_tile %arg0
// CHECK: %[[ZERO:.*]] = attn.fill 0.0{{.*}} : <128x64xf32>
// CHECK: %[[EMPTY:.*]] = attn.softmax_init
// CHECK: %[[RESULT:.*]]:2 = scf.if %{{.*}} -> (!attn.tile<128x64xf32>, !attn.softmax_state<128>) {
// CHECK:   attn.load_tile %arg1[%{{.*}}, %[[FIRST:[^,]*]], %{{.*}}]
// CHECK:   %[[S0:.*]] = attn.tile_mma %[[Q]], {{.*}} transpose_b
// CHECK:   %[[M0:.*]] = attn.mask_scores %[[S0]] {{.*}} keys(%[[FIRST]])
// CHECK:   %[[ST0:.*]], %[[R0:.*]], %{{.*}} = attn.softmax_rebase %[[EMPTY]], %[[M0]]
// CHECK:   %[[ST1:.*]], %[[P0:.*]] = attn.softmax_add %[[ST0]], %[[R0]]
// CHECK:   %[[P1:.*]] = attn.convert %[[P0]]
// CHECK:   %[[FULL:.*]]:4 = scf.for %[[J:.*]] = %{{.*}} iter_args(%[[O:.*]] = %[[ZERO]], %[[ST:.*]] = %[[ST1]], %[[P:.*]] = %[[P1]], %[[PREV:.*]] = %[[FIRST]])
// CHECK:     %[[K:.*]] = attn.load_tile %arg1[%{{.*}}, %[[J]], %{{.*}}]
// CHECK:     %[[V:.*]] = attn.load_tile %arg2[%{{.*}}, %[[PREV]], %{{.*}}]
// CHECK:     %[[S:.*]] = attn.tile_mma %[[Q]], %[[K]], {{.*}} transpose_b
// CHECK:     %[[OV:.*]] = attn.tile_mma %[[P]], %[[V]], %[[O]]
// CHECK-NOT: attn.mask_scores
// CHECK:     %[[STA:.*]], %[[R:.*]], %[[ALPHA:.*]] = attn.softmax_rebase %[[ST]], %[[S]]
// CHECK:     %[[OS:.*]] = attn.rescale %[[OV]], %[[ALPHA]]
// CHECK:     %[[STB:.*]], %[[PF:.*]] = attn.softmax_add %[[STA]], %[[R]]
// CHECK:     %[[PN:.*]] = attn.convert %[[PF]]
// CHECK:     scf.yield %[[OS]], %[[STB]], %[[PN]], %[[J]]
// CHECK:   attn.mask_class = "full"
// CHECK:   %[[MASKED:.*]]:4 = scf.for {{.*}} iter_args(%{{.*}} = %[[FULL]]#0, %{{.*}} = %[[FULL]]#1, %{{.*}} = %[[FULL]]#2, %{{.*}} = %[[FULL]]#3)
// CHECK:     attn.mask_scores
// CHECK:   attn.mask_class = "masked"
// CHECK:   %[[VL:.*]] = attn.load_tile %arg2[%{{.*}}, %[[MASKED]]#3, %{{.*}}]
// CHECK:   %[[OL:.*]] = attn.tile_mma %[[MASKED]]#2, %[[VL]], %[[MASKED]]#0
// CHECK:   scf.yield %[[OL]], %[[MASKED]]#1
// CHECK: } else {
// CHECK:   scf.yield %[[ZERO]], %[[EMPTY]]
// CHECK: }
// CHECK: attn.finalize %[[RESULT]]#0, %[[RESULT]]#1
func.func @full(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, overlap = true>)
  return
}

// -----

// A score region is part of the step.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @softcap
// CHECK: scf.if
// CHECK: attn.map_scores
// CHECK: attn.softmax_rebase
// CHECK: scf.for %
// CHECK: attn.map_scores {{.*}} keys(%{{.*}})
// CHECK: attn.softmax_rebase
func.func @softcap(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, overlap = true>) score {
  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %y = attn.softcap %x, 50.0
    attn.yield %y : f32
  }
  return
}

// -----

// Off, and algorithms that are not a step of FlashAttention-2 for each tile.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @off
// CHECK-NOT: scf.if
// CHECK: attn.softmax_update
func.func @off(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma>)
  return
}
// CHECK-LABEL: func @two_pass
// CHECK-NOT: scf.if
// CHECK: attn.softmax_update
// CHECK: attn.softmax_apply
func.func @two_pass(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<algorithm = two_pass, q_tile = 128, warps = 8, instruction = wgmma, overlap = true>)
  return
}

// -----

// K and V of one tensor: the tile is loaded once for scores, and again where it is V.
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @k_is_v
// CHECK: scf.for %
// CHECK:   %[[K:.*]] = attn.load_tile %arg1[%{{.*}}, %[[KEY:[^,]*]], %{{.*}}]
// CHECK:   %[[V:.*]] = attn.load_tile %arg1[%{{.*}}, %[[LAST:[^,]*]], %{{.*}}]
// CHECK:   attn.tile_mma %{{.*}}, %[[K]], %{{.*}} transpose_b
// CHECK:   attn.tile_mma %{{.*}}, %[[V]], %{{.*}} :
func.func @k_is_v(%q: !t, %k: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %k : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, overlap = true>)
  return
}
