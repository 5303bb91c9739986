// Constants are folded and shared so that a captured value is the only one of its kind.
// RUN: attn-opt %s -attn-lower-to-tiles -canonicalize -cse -split-input-file | FileCheck %s

// FlashAttention-2: one loop over the keys, a deferred division.
// CHECK-LABEL: func @fa2
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x?x8x64xf16>, %[[K:[^:]*]]: memref<?x?x2x64xf16>, %[[V:[^:]*]]: memref<?x?x2x128xf16>, %[[O:[^:]*]]: memref<?x?x8x128xf16>, %[[LSE:[^:]*]]: memref<?x8x?xf32>, %[[SCALE:[^:]*]]: f32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[BATCH:.*]] = memref.dim %[[Q]], %[[C0]]
// CHECK-DAG: %[[SQ:.*]] = memref.dim %[[Q]], %{{.*}}
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[SQ]], %[[C128]]
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[TILE:.*]]) in (%[[BATCH]], 8, %[[TILES]]) {
// CHECK:   %[[SK:.*]] = memref.dim %[[K]], %{{.*}}
// CHECK:   %[[ROW:.*]] = arith.muli %[[TILE]], %[[C128]]
// CHECK:   %[[QT:.*]] = attn.load_tile %[[Q]][%[[B]], %[[ROW]], %[[H]]] : memref<?x?x8x64xf16> -> <128x64xf16>
// CHECK:   %[[O0:.*]] = attn.fill 0.000000e+00 : <128x128xf32>
// CHECK:   %[[ST0:.*]] = attn.softmax_init : <128>
// CHECK:   %[[R:.*]]:2 = scf.for %[[J:.*]] = %[[C0]] to %[[SK]] step %[[C32]] iter_args(%[[OJ:.*]] = %[[O0]], %[[STJ:.*]] = %[[ST0]])
// CHECK:     %[[KT:.*]] = attn.load_tile %[[K]][%[[B]], %[[J]], %[[HKV:.*]]] limit(%[[SK]])
// CHECK:     %[[S:.*]] = attn.tile_mma %[[QT]], %[[KT]], %{{.*}} transpose_b
// CHECK:     %[[M:.*]] = attn.mask_scores %[[S]] rows(%[[ROW]]) keys(%[[J]]) lengths(%[[SQ]], %[[SK]]) mask(#attn.none)
// CHECK:     %[[ST1:.*]], %[[P:.*]], %[[ALPHA:.*]] = attn.softmax_update %[[STJ]], %[[M]] scale(%[[SCALE]])
// CHECK:     %[[O1:.*]] = attn.rescale %[[OJ]], %[[ALPHA]]
// CHECK:     %[[VT:.*]] = attn.load_tile %[[V]][%[[B]], %[[J]], %[[HKV]]] limit(%[[SK]])
// CHECK:     %[[PH:.*]] = attn.convert %[[P]] : <128x32xf32> -> <128x32xf16>
// CHECK:     %[[O2:.*]] = attn.tile_mma %[[PH]], %[[VT]], %[[O1]] :
// CHECK:     scf.yield %[[O2]], %[[ST1]]
// CHECK:   } {attn.kv_pass = 0 : i64}
// CHECK:   %[[OUT:.*]], %[[L:.*]] = attn.finalize %[[R]]#0, %[[R]]#1 scale(%[[SCALE]])
// CHECK:   attn.store_tile %[[L]], %[[LSE]][%[[B]], %[[ROW]], %[[H]]]
// CHECK:   attn.store_tile %[[OUT]], %[[O]][%[[B]], %[[ROW]], %[[H]]]
// CHECK: } {attn.alignment = 2 : i64, attn.schedule = #attn.schedule<q_tile = 128, kv_tile = 32>}
// CHECK-NOT: attn.forward
func.func @fa2(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x128xf16>,
               %o: memref<?x?x8x128xf16>, %lse: memref<?x8x?xf32>, %scale: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x128xf16>)
               outs(%o, %lse : memref<?x?x8x128xf16>, memref<?x8x?xf32>) scale(%scale)
               schedule(<algorithm = fa2, q_tile = 128, kv_tile = 32>)
  return
}

// -----

// Safe softmax: the maximum, the sum, the output, each a pass over the keys. P needs no
// conversion in f32.
// CHECK-LABEL: func @naive
// CHECK: attn.softmax_init : <64>
// CHECK: scf.for
// CHECK:   %[[S0:.*]] = attn.mask_scores
// CHECK:   attn.softmax_max %{{.*}}, %[[S0]]
// CHECK: } {attn.kv_pass = 0 : i64}
// CHECK: %[[ST:.*]] = scf.for
// CHECK:   %[[S1:.*]] = attn.mask_scores
// CHECK:   attn.softmax_sum %{{.*}}, %[[S1]]
// CHECK: } {attn.kv_pass = 1 : i64}
// CHECK: %[[R:.*]] = scf.for
// CHECK:   %[[S2:.*]] = attn.mask_scores
// CHECK:   %[[P:.*]] = attn.softmax_apply %[[ST]], %[[S2]]
// CHECK-NOT: attn.convert
// CHECK:   attn.tile_mma %[[P]],
// CHECK: } {attn.kv_pass = 2 : i64}
// CHECK: attn.finalize %[[R]], %[[ST]]
func.func @naive(%q: memref<?x?x8x64xf32>, %o: memref<?x?x8x64xf32>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf32>, memref<?x?x8x64xf32>, memref<?x?x8x64xf32>)
               outs(%o : memref<?x?x8x64xf32>) scale(%scale) schedule(<algorithm = naive>)
  return
}

// -----

// Two passes: (m, l) online, then the output.
// CHECK-LABEL: func @two_pass
// CHECK: %[[ST:.*]] = scf.for
// CHECK:   %[[NEW:.*]], %{{.*}}, %{{.*}} = attn.softmax_update
// CHECK:   scf.yield %[[NEW]]
// CHECK: } {attn.kv_pass = 0 : i64}
// CHECK: scf.for
// CHECK:   attn.softmax_apply %[[ST]],
// CHECK:   attn.tile_mma
// CHECK: } {attn.kv_pass = 1 : i64}
// CHECK-NOT: attn.rescale
// CHECK: attn.finalize %{{.*}}, %[[ST]]
func.func @two_pass(%q: memref<?x?x8x64xbf16>, %o: memref<?x?x8x64xbf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
               outs(%o : memref<?x?x8x64xbf16>) scale(%scale) schedule(<algorithm = two_pass>)
  return
}

// -----

// FlashAttention: keys outside, queries inside, partial results merged in memory. CTAs share
// out batches and heads alone.
// CHECK-LABEL: func @fa1
// CHECK-SAME: %[[O:[^:,]*]]: memref<?x?x8x64xf32>, %[[LSE:[^:,]*]]: memref<?x8x?xf32>
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (%{{.*}}, 8) {
// CHECK:   scf.for %[[I0:.*]] =
// CHECK:     attn.store_tile %{{.*}}, %[[O]][%[[B]], %[[I0]], %[[H]]]
// CHECK:     attn.store_tile %{{.*}}, %[[LSE]][%[[B]], %[[I0]], %[[H]]]
// CHECK:   scf.for %[[J:.*]] =
// CHECK:     attn.load_tile {{.*}} limit
// CHECK:     scf.for %[[I:.*]] =
// CHECK:       attn.softmax_update
// CHECK:       %[[PO:.*]], %[[PL:.*]] = attn.finalize
// CHECK:       %[[OO:.*]] = attn.load_tile %[[O]][%[[B]], %[[I]], %[[H]]]
// CHECK:       %[[OL:.*]] = attn.load_tile %[[LSE]][%[[B]], %[[I]], %[[H]]] pad(0xFF800000)
// CHECK:       %[[MO:.*]], %[[ML:.*]] = attn.merge %[[OO]], %[[OL]] with %[[PO]], %[[PL]]
// CHECK:       attn.store_tile %[[MO]], %[[O]][%[[B]], %[[I]], %[[H]]]
// CHECK:       attn.store_tile %[[ML]], %[[LSE]][%[[B]], %[[I]], %[[H]]]
// CHECK:   } {attn.kv_pass = 0 : i64}
func.func @fa1(%o: memref<?x?x8x64xf32>, %lse: memref<?x8x?xf32>, %q: memref<?x?x8x64xf16>,
               %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf32>, memref<?x8x?xf32>) scale(%scale)
               schedule(<algorithm = fa1>)
  return
}

// -----

// Causal: the loop ends behind the diagonal of the tile's last row.
// CHECK-LABEL: func @causal_range
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[C64]]
// CHECK: %[[END:.*]] = arith.minsi %[[NEXT]], %[[SQ:.*]] : index
// CHECK: %[[OFFSET:.*]] = arith.subi %[[SK:.*]], %[[SQ]]
// CHECK: %[[DIAGONAL:.*]] = arith.addi %[[END]], %[[OFFSET]]
// CHECK: %[[STOP:.*]] = arith.minsi %[[DIAGONAL]], %[[SK]]
// CHECK: scf.for %{{.*}} = %[[C0]] to %[[STOP]] step %[[C64]]
// CHECK: attn.mask_scores {{.*}} mask(#attn.causal<bottom_right>)
func.func @causal_range(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) mask(#attn.causal<bottom_right>)
               schedule(<>)
  return
}

// -----

// A window skips tiles before it; the loop still starts at a multiple of kv_tile. The
// run-time bound reaches the mask of the scores.
// CHECK-LABEL: func @window_range
// CHECK-SAME: %[[LEFT:[^:]*]]: index
// CHECK: %[[FIRST:.*]] = arith.divui %{{.*}}, %[[C64:.*]] : index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[FIRST]], %[[C64]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %{{.*}} step %[[C64]]
// CHECK: attn.mask_scores {{.*}} mask(#attn.window<?, 0>) mask_args(%[[LEFT]] : index)
func.func @window_range(%left: index, %q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>,
                        %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
               mask(#attn.window<?, 0>) mask_args(%left : index) schedule(<>)
  return
}

// -----

// Query heads of a group read one K/V head: h / (heads_q / heads_kv).
// CHECK-LABEL: func @grouped_heads
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: scf.forall (%{{.*}}, %[[H:.*]], %{{.*}}) in
// CHECK: %[[HKV:.*]] = arith.divui %[[H]], %[[C3]] : index
// CHECK: attn.load_tile %{{.*}}[%{{.*}}, %{{.*}}, %[[H]]] : memref<?x?x6x64xf16>
// CHECK: attn.load_tile %{{.*}}[%{{.*}}, %{{.*}}, %[[HKV]]] limit({{.*}}) : memref<?x?x2x64xf16>
// CHECK: attn.load_tile %{{.*}}[%{{.*}}, %{{.*}}, %[[HKV]]] limit({{.*}}) : memref<?x?x2x64xf16>
func.func @grouped_heads(%q: memref<?x?x6x64xf16>, %k: memref<?x?x2x64xf16>,
                         %v: memref<?x?x2x64xf16>, %o: memref<?x?x6x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x6x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x6x64xf16>) scale(%scale) schedule(<>)
  return
}

// -----

// The region sees natural units, batch and head are values of the CTA, softmax multiplies by
// 1; ALiBi is expanded wherever it stands in the region.
// CHECK-LABEL: func @score_region
// CHECK-SAME: %[[SLOPES:[^:]*]]: memref<8xf32>, %[[SCALE:[^:]*]]: f32, %[[FLAG:[^:]*]]: i1
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: scf.forall (%{{.*}}, %[[H:.*]], %{{.*}}) in
// CHECK: %[[S:.*]] = attn.tile_mma
// CHECK: %[[MAPPED:.*]] = attn.map_scores %[[S]] rows(%{{.*}}) keys(%{{.*}}) lengths(%{{.*}}, %{{.*}}) scale(%[[SCALE]])
// CHECK: ^bb0(%[[X:.*]]: f32, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK:   %[[C:.*]] = attn.softcap %[[X]], 5.000000e+01
// CHECK:   scf.if %[[FLAG]]
// CHECK:     %[[D:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK:     arith.subi %[[D]], %[[J]]
// CHECK:     %[[SLOPE:.*]] = memref.load %[[SLOPES]][%[[H]]]
// CHECK:     %[[BIAS:.*]] = arith.mulf %[[SLOPE]],
// CHECK:     arith.subf %[[C]], %[[BIAS]]
// CHECK: attn.mask_scores %[[MAPPED]]
// CHECK: attn.softmax_update {{.*}} scale(%[[ONE]])
// CHECK: attn.finalize {{.*}} scale(%[[ONE]])
// CHECK-NOT: attn.alibi
func.func @score_region(%slopes: memref<8xf32>, %scale: f32, %flag: i1, %q: memref<?x?x8x64xf16>,
                        %o: memref<?x?x8x64xf16>) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) schedule(<>) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = attn.softcap %s, 5.0e+01
    %r = scf.if %flag -> f32 {
      %a = attn.alibi %c, %slopes[%h], %i, %j : memref<8xf32>
      scf.yield %a : f32
    } else {
      scf.yield %c : f32
    }
    attn.yield %r : f32
  }
  return
}

// -----

// Without an LSE output nothing but O is stored.
// CHECK-LABEL: func @no_lse
// CHECK: attn.finalize
// CHECK-COUNT-1: attn.store_tile
// CHECK-NOT: attn.store_tile
func.func @no_lse(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) schedule(<>)
  return
}

// -----

// Tiles have head dims padded to a multiple of 16; tensors are not padded.
// CHECK-LABEL: func @padded_head_dim
// CHECK: attn.load_tile {{.*}} : memref<?x?x8x40xf16> -> <64x48xf16>
// CHECK: attn.load_tile {{.*}} : memref<?x?x8x72xf16> -> <64x80xf16>
// CHECK: attn.store_tile {{.*}} : <64x80xf32>, memref<?x?x8x72xf16>
func.func @padded_head_dim(%q: memref<?x?x8x40xf16>, %v: memref<?x?x8x72xf16>,
                           %o: memref<?x?x8x72xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %v : memref<?x?x8x40xf16>, memref<?x?x8x40xf16>, memref<?x?x8x72xf16>)
               outs(%o : memref<?x?x8x72xf16>) scale(%scale) schedule(<>)
  return
}

// -----

// Each part visits its share of the tiles and writes its own result.
// CHECK-LABEL: func @split_partial_outputs
// CHECK-SAME: %[[O:[^:]*]]: memref<4x?x?x8x64xf32>, %[[LSE:[^:]*]]: memref<4x?x8x?xf32>
// CHECK: scf.forall (%[[PART:.*]], %[[B:.*]], %[[H:.*]], %{{.*}}) in (4, %{{.*}}, 8, %{{.*}}) {
// CHECK: arith.muli %[[PART]], %[[TILES:.*]] : index
// CHECK: %[[PART1:.*]] = arith.addi %[[PART]], %{{.*}}
// CHECK: arith.muli %[[PART1]], %[[TILES]]
// CHECK: scf.for
// CHECK: %[[PL:.*]] = memref.subview %[[LSE]][%[[PART]], 0, 0, 0]
// CHECK: attn.store_tile %{{.*}}, %[[PL]][%[[B]], %{{.*}}, %[[H]]]
// CHECK: %[[PO:.*]] = memref.subview %[[O]][%[[PART]], 0, 0, 0, 0]
// CHECK: attn.store_tile %{{.*}}, %[[PO]][%[[B]], %{{.*}}, %[[H]]]
func.func @split_partial_outputs(%o: memref<4x?x?x8x64xf32>, %lse: memref<4x?x8x?xf32>,
                                 %q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o, %lse : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>) scale(%scale)
               schedule(<split_kv = 4>)
  return
}

// -----

// The longest rows of a causal problem are started first.
// CHECK-LABEL: func @longest_first
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[ID:.*]]) in (%{{.*}}, 8, %[[TILES:.*]]) {
// CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %{{.*}}
// CHECK: %[[TILE:.*]] = arith.subi %[[LAST]], %[[ID]]
// CHECK: %[[ROW:.*]] = arith.muli %[[TILE]],
// CHECK: attn.load_tile %{{.*}}[%{{.*}}, %[[ROW]], %{{.*}}]
func.func @longest_first(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) schedule(<order = longest_first>)
  return
}

// -----

// The rows of a tile are the query heads of a key/value head: 4 of 8 are a view that begins at head
// 4 g. One query of a causal mask sees all keys, whose end alone is tested.
// CHECK-LABEL: func @pack_gqa
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x1x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK: scf.forall (%[[B:.*]], %[[G:.*]]) in (%{{.*}}, 2) {
// CHECK: %[[HEAD:.*]] = arith.muli %[[G]], %c4
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}:4, %[[STRIDES:.*]]:4 = memref.extract_strided_metadata %[[Q]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[HEAD]], %[[STRIDES]]#2
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[Q]] to offset: [%[[FIRST]]], sizes: [%{{.*}}, 4, 1, 64], strides: [%[[STRIDES]]#0, %[[STRIDES]]#2, %[[STRIDES]]#1, 1]
// CHECK: attn.load_tile %[[VIEW]][%[[B]], %c0, %c0]
// CHECK: attn.load_tile %{{.*}}[%[[B]], %{{.*}}, %[[G]]]
// CHECK: attn.map_scores {{.*}} lengths(%c4{{.*}},
// CHECK: ^bb0(%{{.*}}: f32, %[[I:.*]]: index, %{{.*}}: index):
// CHECK:   %[[H:.*]] = arith.addi %[[HEAD]], %[[I]]
// CHECK:   memref.load %{{.*}}[%[[H]]]
// CHECK: attn.mask_scores {{.*}}#attn.none
// CHECK: memref.reinterpret_cast {{.*}} sizes: [%{{.*}}, 1, 4]
// CHECK: memref.reinterpret_cast {{.*}} sizes: [%{{.*}}, 4, 1, 64]
!q1 = memref<?x1x8x64xf16, strided<[?, ?, ?, 1]>>
!kv = memref<?x?x2x64xf16, strided<[?, ?, ?, 1]>>
func.func @pack_gqa(%q: !q1, %k: !kv, %v: !kv, %o: !q1, %lse: memref<?x8x1xf32>, %scale: f32,
                    %slopes: memref<8xf32>) {
  attn.forward ins(%q, %k, %v : !q1, !kv, !kv) outs(%o, %lse : !q1, memref<?x8x1xf32>)
               scale(%scale) mask(#attn.causal<bottom_right>)
               schedule(<q_tile = 16, pack_gqa = true>) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %y = attn.alibi %s, %slopes[%h], %i, %j : memref<8xf32>
    attn.yield %y : f32
  }
  return
}

// -----

// (O, LSE) = merge over parts, from the empty result.
// CHECK-LABEL: func @merge_states
// CHECK-SAME: %[[PO:[^:]*]]: memref<4x?x?x8x40xf32>, %[[PL:[^:]*]]: memref<4x?x8x?xf32>, %[[O:[^:]*]]: memref<?x?x8x40xbf16>, %[[LSE:[^:]*]]: memref<?x8x?xf32>
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %{{.*}}) in (%{{.*}}, 8, %{{.*}}) {
// CHECK: %[[O0:.*]] = attn.fill 0.000000e+00 : <16x48xf32>
// CHECK: %[[L0:.*]] = attn.fill 0xFF800000 : <16xf32>
// CHECK: %[[R:.*]]:2 = scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OP:.*]] = %[[O0]], %[[LP:.*]] = %[[L0]])
// CHECK:   memref.subview %[[PO]][%[[PART]], 0, 0, 0, 0]
// CHECK:   %[[TO:.*]] = attn.load_tile
// CHECK:   memref.subview %[[PL]][%[[PART]], 0, 0, 0]
// CHECK:   %[[TL:.*]] = attn.load_tile {{.*}} pad(0xFF800000)
// CHECK:   attn.merge %[[OP]], %[[LP]] with %[[TO]], %[[TL]]
// CHECK: attn.store_tile %[[R]]#0, %[[O]][%[[B]], %{{.*}}, %[[H]]]
// CHECK: attn.store_tile %[[R]]#1, %[[LSE]][%[[B]], %{{.*}}, %[[H]]]
// CHECK-NOT: attn.merge_states
func.func @merge_states(%po: memref<4x?x?x8x40xf32>, %pl: memref<4x?x8x?xf32>,
                        %o: memref<?x?x8x40xbf16>, %lse: memref<?x8x?xf32>) {
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x40xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x40xbf16>, memref<?x8x?xf32>)
                    schedule(<q_tile = 16>)
  return
}

// -----

// CHECK-LABEL: func @merge_states_no_lse
// CHECK-COUNT-1: attn.store_tile
// CHECK-NOT: attn.store_tile
func.func @merge_states_no_lse(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                               %o: memref<?x?x8x64xbf16>) {
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xbf16>) schedule(<q_tile = 16>)
  return
}

// -----

// Strides of views reach the loads.
// CHECK-LABEL: func @views
// CHECK: attn.load_tile {{.*}} : memref<?x?x8x64xf16, strided<[?, ?, 192, 1], offset: ?>> -> <64x64xf16>
func.func @views(%q: memref<?x?x8x64xf16, strided<[?, ?, 192, 1], offset: ?>>,
                 %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16, strided<[?, ?, 192, 1], offset: ?>>,
                   memref<?x?x8x64xf16, strided<[?, ?, 192, 1], offset: ?>>,
                   memref<?x?x8x64xf16, strided<[?, ?, 192, 1], offset: ?>>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) schedule(<>)
  return
}

// -----

// A kernel launches from the body of a function: a problem inside a loop is left for
// attn-verify-no-problem-ops to refuse.
// CHECK-LABEL: func @nested
// CHECK: scf.for
// CHECK:   attn.forward
func.func @nested(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
                 outs(%o : memref<?x?x8x64xf16>) scale(%scale) schedule(<>)
  }
  return
}

// -----

// With tails each part says what its LSE left out, and the merge carries that along.
// CHECK-LABEL: func @tails
// CHECK-SAME: %[[PT:[^:]*]]: memref<4x?x8x?xf32>
// CHECK: %{{.*}}, %{{.*}}, %[[T:.*]] = attn.finalize
// CHECK: %[[VIEW:.*]] = memref.subview %[[PT]]
// CHECK: attn.store_tile %[[T]], %[[VIEW]]
// CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[TA:.*]] = %{{.*}})
// CHECK: memref.subview %[[PT]]
// CHECK: %[[TB:.*]] = attn.load_tile
// CHECK-NEXT: attn.merge {{.*}} tails(%[[TA]], %[[TB]] :
func.func @tails(%pt: memref<4x?x8x?xf32>, %po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                 %q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
               lse_tail(%pt : memref<4x?x8x?xf32>) scale(%scale) schedule(<split_kv = 4>)
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    partial_tail(%pt : memref<4x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf16>) schedule(<q_tile = 16>)
  return
}
