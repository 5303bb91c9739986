// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},func.func(attn-persist),canonicalize,cse)" | FileCheck %s

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>

// The grid becomes a loop over rounds, in each of which n CTAs take n tiles. The ids of a tile come
// from its number, the last fastest, and go through a mailbox, of whose messages 8 warps are told.
// CHECK-LABEL: func @static
// CHECK-DAG: %[[BATCH:.*]] = memref.dim %arg0, %c0
// CHECK: %[[QTILES:.*]] = arith.ceildivui
// CHECK: %[[BH:.*]] = arith.muli %[[BATCH]], %c8
// CHECK: %[[TILES:.*]] = arith.muli %[[BH]], %[[QTILES]]
// CHECK: %[[CTAS:.*]] = attn.num_ctas %[[TILES]]
// CHECK: scf.forall (%[[CTA:.*]]) in (%[[CTAS]]) {
// CHECK:   %[[MAILBOX:.*]] = attn.mailbox_create readers(8) : <values = 3, stages = 2>
// CHECK-DAG: %[[N32:.*]] = arith.index_cast %[[CTAS]] : index to i32
// CHECK-DAG: %[[PLACE:.*]] = arith.index_cast %[[CTA]] : index to i32
// CHECK-DAG: %[[TILES32:.*]] = arith.index_cast %[[TILES]] : index to i32
// CHECK:   %[[FULL:.*]] = arith.divui %[[TILES32]], %[[N32]]
// CHECK:   %[[LEFT:.*]] = arith.remui %[[TILES32]], %[[N32]]
// CHECK:   %[[ANOTHER:.*]] = arith.cmpi slt, %[[PLACE]], %[[LEFT]]
// CHECK:   %[[ONE:.*]] = arith.extui %[[ANOTHER]]
// CHECK:   %[[ROUNDS32:.*]] = arith.addi %[[FULL]], %[[ONE]]
// CHECK:   %[[ROUNDS:.*]] = arith.index_cast %[[ROUNDS32]]
// CHECK:   scf.for %[[ROUND:.*]] = %c0 to %[[ROUNDS]] step %c1 {
// CHECK:     %[[ROUND32:.*]] = arith.index_cast %[[ROUND]] : index to i32
// CHECK:     %[[FIRST:.*]] = arith.muli %[[ROUND32]], %[[N32]]
// CHECK:     %[[TILE:.*]] = arith.addi %[[FIRST]], %[[PLACE]]
// CHECK:     %[[Q32:.*]] = arith.index_cast %[[QTILES]] : index to i32
// CHECK:     %[[REST:.*]] = arith.divui %[[TILE]], %[[Q32]]
// CHECK:     %[[I32:.*]] = arith.remui %[[TILE]], %[[Q32]]
// CHECK:     %[[B32:.*]] = arith.divui %[[REST]], %c8_i32
// CHECK:     %[[H32:.*]] = arith.remui %[[REST]], %c8_i32
// CHECK:     %[[B:.*]] = arith.index_cast %[[B32]]
// CHECK:     %[[H:.*]] = arith.index_cast %[[H32]]
// CHECK:     %[[I:.*]] = arith.index_cast %[[I32]]
// CHECK:     %[[IDS:.*]]:3 = attn.mailbox_pass %[[MAILBOX]][%[[ROUND]]] (%[[B]], %[[H]], %[[I]])
// CHECK:     %[[ROW:.*]] = arith.muli %[[IDS]]#2, %c128
// CHECK:     attn.load_tile %arg0[%[[IDS]]#0, %[[ROW]], %[[IDS]]#1]
// CHECK:     attn.store_tile
// CHECK:   }
// CHECK: } {attn.alignment = 16 : i64, attn.schedule
func.func @static(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, persistent = static>)
  return
}

// Tiles that are drawn: the kernel has a counter as its last argument. The CTA starts with the tile
// of its own number, and draws the next one when it has done with one. The first id of the message
// of a round is -1 when there is no tile left, which ends the loop.
// CHECK-LABEL: func @dynamic
// CHECK-SAME: %arg4: f32, %[[COUNTER:[^:]*]]: memref<1xi32> {attn.tile_counter}) {
// CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : index
// CHECK: %[[QTILES:.*]] = arith.ceildivui
// CHECK: %[[TILES:.*]] = arith.muli %{{.*}}, %[[QTILES]]
// CHECK: %[[CTAS:.*]] = attn.num_ctas %[[TILES]]
// CHECK: scf.forall (%[[CTA:.*]]) in (%[[CTAS]]) {
// CHECK:   %[[MAILBOX:.*]] = attn.mailbox_create readers(8) : <values = 3, stages = 2>
// CHECK-DAG: %[[TILES32:.*]] = arith.index_cast %[[TILES]] : index to i32
// CHECK-DAG: %[[FIRST:.*]] = arith.index_cast %[[CTA]] : index to i32
// CHECK:   scf.while (%[[TILE:.*]] = %[[FIRST]], %[[ROUND:.*]] = %c0) : (i32, index) -> (index, index, index, index) {
// CHECK:     %[[Q32:.*]] = arith.index_cast %[[QTILES]] : index to i32
// CHECK:     %[[REST:.*]] = arith.divui %[[TILE]], %[[Q32]]
// CHECK:     %[[I32:.*]] = arith.remui %[[TILE]], %[[Q32]]
// CHECK:     %[[B32:.*]] = arith.divui %[[REST]], %c8_i32
// CHECK:     %[[H32:.*]] = arith.remui %[[REST]], %c8_i32
// CHECK:     %[[LEFT:.*]] = arith.cmpi ult, %[[TILE]], %[[TILES32]]
// CHECK:     %[[B:.*]] = arith.index_cast %[[B32]]
// CHECK:     %[[H:.*]] = arith.index_cast %[[H32]]
// CHECK:     %[[I:.*]] = arith.index_cast %[[I32]]
// CHECK:     %[[TOLD:.*]] = arith.select %[[LEFT]], %[[B]], %[[NONE]]
// CHECK:     %[[IDS:.*]]:3 = attn.mailbox_pass %[[MAILBOX]][%[[ROUND]]] (%[[TOLD]], %[[H]], %[[I]])
// CHECK:     %[[MORE:.*]] = arith.cmpi sge, %[[IDS]]#0, %c0
// CHECK:     scf.condition(%[[MORE]]) %[[ROUND]], %[[IDS]]#0, %[[IDS]]#1, %[[IDS]]#2
// CHECK:   } do {
// CHECK:   ^bb0(%[[THIS:.*]]: index, %[[BATCH:.*]]: index, %[[HEAD:.*]]: index, %[[QTILE:.*]]: index):
// CHECK:     %[[ROW:.*]] = arith.muli %[[QTILE]], %c128
// CHECK:     attn.load_tile %arg0[%[[BATCH]], %[[ROW]], %[[HEAD]]]
// CHECK:     attn.store_tile %{{.*}}, %arg3[%[[BATCH]], %[[ROW]], %[[HEAD]]]
// CHECK-NEXT: %[[NEXT:.*]] = attn.next_tile %[[COUNTER]] of(%[[TILES32]]) : memref<1xi32>
// CHECK-NEXT: %[[NEXT_ROUND:.*]] = arith.addi %[[THIS]], %c1
// CHECK-NEXT: scf.yield %[[NEXT]], %[[NEXT_ROUND]] : i32, index
// CHECK: } {attn.alignment = 16 : i64, attn.schedule
func.func @dynamic(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, persistent = dynamic>)
  return
}

// CHECK-LABEL: func @off
// CHECK-NOT: attn.tile_counter
// CHECK-NOT: attn.num_ctas
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in
func.func @off(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma>)
  return
}

// Tiles sorted by length are counted from both ends of every n in turn; a CTA has one more round
// when its place in the last one is taken. Heads whose K and V fit 32 MiB make a section: as few
// sections as that takes, and the first ones get the heads that are left over. Every other
// section, counted from the last, takes its Q tiles backwards.
// CHECK-LABEL: func @longest_first
// CHECK: %[[TILES:.*]] = arith.muli
// CHECK: %[[CTAS:.*]] = attn.num_ctas
// CHECK: scf.forall (%[[CTA:.*]]) in (%[[CTAS]]) {
// CHECK: %[[MAILBOX:.*]] = attn.mailbox_create
// CHECK: %[[KEYS_INDEX:.*]] = memref.dim %arg1, %c1
// CHECK: %[[KEYS:.*]] = arith.index_cast %[[KEYS_INDEX]] : index to i32
// CHECK: %[[ATLEAST1:.*]] = arith.maxsi %[[KEYS]], %c1_i32
// CHECK: %[[FIT:.*]] = arith.divui %c131072_i32, %[[ATLEAST1]]
// CHECK: %[[MOST:.*]] = arith.maxsi %[[FIT]], %c1_i32
// CHECK: %[[HEADS:.*]] = arith.muli
// CHECK: %[[NEEDED:.*]] = arith.ceildivui %[[HEADS]], %[[MOST]]
// CHECK: %[[SECTIONS:.*]] = arith.maxsi %[[NEEDED]], %c1_i32
// CHECK-DAG: %[[EACH:.*]] = arith.divui %[[HEADS]], %[[SECTIONS]]
// CHECK-DAG: %[[LARGER:.*]] = arith.remui %[[HEADS]], %[[SECTIONS]]
// CHECK-DAG: %[[LAST:.*]] = arith.subi %[[SECTIONS]], %c1_i32
// CHECK:   arith.divui
// CHECK:   arith.remui
// CHECK:   scf.for %[[ROUND:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:     arith.andi %{{.*}}, %c1_i32
// CHECK:     arith.select
// CHECK:     %[[TILE:.*]] = arith.addi
// CHECK:     %[[GROUP:.*]] = arith.divui %[[TILE]]
// CHECK:     %[[IS_LARGER:.*]] = arith.cmpi ult, %[[GROUP]]
// CHECK:     %[[HERE:.*]] = arith.select %[[IS_LARGER]]
// CHECK:     %[[NUMBER:.*]] = arith.divui %{{.*}}, %[[HERE]]
// CHECK:     %[[BEFORE:.*]] = arith.select %[[IS_LARGER]], %c0_i32, %[[LARGER]]
// CHECK:     %[[SECTION:.*]] = arith.addi %[[BEFORE]], %[[NUMBER]]
// CHECK:     %[[TO_LAST:.*]] = arith.subi %[[LAST]], %[[SECTION]]
// CHECK:     %[[ODD:.*]] = arith.andi %[[TO_LAST]], %c1_i32
// CHECK:     %[[BACKWARDS:.*]] = arith.cmpi ne, %[[ODD]], %c0_i32
// CHECK:     arith.select %[[BACKWARDS]]
// CHECK:     attn.mailbox_pass %[[MAILBOX]][%[[ROUND]]]
// CHECK:     attn.load_tile %arg0
// CHECK:     attn.store_tile
// CHECK:   }
// CHECK: } {attn.alignment = 16 : i64, attn.schedule
func.func @longest_first(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    mask(#attn.causal<bottom_right>) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, persistent = static,
              order = longest_first>)
  return
}

// Whoever draws gets the longest tile that is left: sorted tiles are numbered as above, but none
// counts from the back. Long tiles are the last of a causal mask: the producer counts Q tiles from there.
// CHECK-LABEL: func @dynamic_longest_first
// CHECK-SAME: %[[COUNTER:[^:]*]]: memref<1xi32> {attn.tile_counter}) {
// CHECK: %[[QTILES:.*]] = arith.ceildivui %{{.*}}, %c128
// CHECK: %[[LAST_ROW:.*]] = arith.subi %[[QTILES]], %c1
// CHECK: scf.forall (%[[CTA:.*]]) in
// CHECK: %[[MAILBOX:.*]] = attn.mailbox_create
// CHECK-DAG: %[[FIRST:.*]] = arith.index_cast %[[CTA]] : index to i32
// CHECK: %[[NEEDED:.*]] = arith.ceildivui
// CHECK: %[[SECTIONS:.*]] = arith.maxsi %[[NEEDED]], %c1_i32
// CHECK: %[[LAST:.*]] = arith.subi %[[SECTIONS]], %c1_i32
// CHECK: scf.while (%[[TILE:.*]] = %[[FIRST]], %[[ROUND:.*]] = %c0)
// CHECK:   %[[GROUP:.*]] = arith.divui %[[TILE]], %{{.*}}
// CHECK:   %[[TO_LAST:.*]] = arith.subi %[[LAST]], %{{.*}}
// CHECK:   %[[ODD:.*]] = arith.andi %[[TO_LAST]], %c1_i32
// CHECK:   %[[BACKWARDS:.*]] = arith.cmpi ne, %[[ODD]], %c0_i32
// CHECK:   %[[BATCH:.*]] = arith.divui %{{.*}}, %c8_i32
// CHECK:   %[[PLACE:.*]] = arith.select %[[BACKWARDS]]
// CHECK:   %[[LEFT:.*]] = arith.cmpi ult, %[[TILE]], %{{.*}}
// CHECK:   %[[B:.*]] = arith.index_cast %[[BATCH]]
// CHECK:   %[[FROM_LAST:.*]] = arith.index_cast %[[PLACE]]
// CHECK:   %[[I:.*]] = arith.subi %[[LAST_ROW]], %[[FROM_LAST]]
// CHECK:   %[[TOLD:.*]] = arith.select %[[LEFT]], %[[B]], %c-1
// CHECK:   %[[IDS:.*]]:3 = attn.mailbox_pass %[[MAILBOX]][%[[ROUND]]] (%[[TOLD]], %{{.*}}, %[[I]])
// CHECK:   scf.condition(%{{.*}}) %[[ROUND]], %[[IDS]]#0
// CHECK: } do {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[QTILE:.*]]: index):
// CHECK:   arith.muli %[[QTILE]], %c128
// CHECK:   attn.store_tile
// CHECK-NEXT: attn.next_tile %[[COUNTER]]
func.func @dynamic_longest_first(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
    mask(#attn.causal<bottom_right>) alignment(16)
    schedule(<q_tile = 128, warps = 8, instruction = wgmma, persistent = dynamic,
              order = longest_first>)
  return
}

// Parts of the keys of one query: parts, batches and heads are three dims too, in plain order.
!one = memref<?x1x8x64xf16, strided<[?, ?, ?, 1]>>
!kv = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-LABEL: func @parts
// CHECK: attn.num_ctas
// CHECK: scf.forall (%[[CTA:.*]]) in
// CHECK: attn.mailbox_create readers(8) : <values = 3
// CHECK: scf.for %[[ROUND:.*]] = %c0 to
// CHECK-NOT: arith.select
// CHECK: attn.load_tile %{{.*}}
func.func @parts(%q: !one, %k: !kv, %o: memref<3x?x1x8x64xf32>, %lse: memref<3x?x8x1xf32>, %s: f32) {
  attn.forward ins(%q, %k, %k : !one, !kv, !kv)
    outs(%o, %lse : memref<3x?x1x8x64xf32>, memref<3x?x8x1xf32>) scale(%s)
    mask(#attn.causal<bottom_right>) alignment(8)
    schedule(<q_tile = 128, warps = 8, split_kv = 3, instruction = wgmma, persistent = static,
              order = longest_first, producer = cp_async>)
  return
}
