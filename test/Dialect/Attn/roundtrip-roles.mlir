// Every op, attribute and type that only schedules with roles, pipes between roles and wgmma have,
// in the custom and in the generic form.
// RUN: attn-opt %s --verify-roundtrip -o - | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt --verify-roundtrip | FileCheck %s

!bf16 = !attn.tile<128x64xbf16>
!boxed = !attn.tile<128x64xbf16, #attn.boxed>
!acc = !attn.tile<128x64xf32>
!pipe = !attn.pipe<!boxed, stages = 2>
!t = memref<?x?x8x64xbf16, strided<[?, ?, ?, 1]>>

// Fields are printed in their order, and those that have their default are not.
// CHECK-LABEL: func @schedules
// CHECK-SAME: s1 = #attn.schedule<q_tile = 128, stages = 2, warps = 8, instruction = wgmma, kv_order = descending, overlap = true, pingpong = true, persistent = static, q_stages = 2, producer_registers = 24, consumer_registers = 240, integer_max = true>
// CHECK-SAME: s2 = #attn.schedule<instruction = wgmma, persistent = static, lazy_rescale = false>
// CHECK-SAME: s3 = #attn.schedule<instruction = wgmma>
// CHECK-SAME: s4 = #attn.schedule<instruction = wgmma, persistent = dynamic, q_stages = 2>
// CHECK-SAME: s5 = #attn.schedule<instruction = wgmma, q_stages = 3, q_by_warpgroup = true>
func.func @schedules() attributes {
  s1 = #attn.schedule<integer_max = true, q_tile = 128, stages = 2, warps = 8, instruction = wgmma,
                      kv_order = descending, overlap = true, pingpong = true, persistent = static,
                      q_stages = 2, producer_registers = 24, consumer_registers = 240>,
  s2 = #attn.schedule<instruction = wgmma, persistent = static, lazy_rescale = false>,
  s3 = #attn.schedule<instruction = wgmma, kv_order = ascending, overlap = false, pingpong = false,
                      persistent = none, q_stages = 1, producer_registers = 0,
                      consumer_registers = 0, integer_max = false, lazy_rescale = true>,
  s4 = #attn.schedule<q_stages = 2, persistent = dynamic, instruction = wgmma>,
  s5 = #attn.schedule<q_by_warpgroup = true, q_stages = 3, instruction = wgmma>
} { return }

// CHECK-LABEL: func private @types(
// CHECK-SAME: !attn.tile<64x96xf16, #attn.boxed>
// CHECK-SAME: !attn.pipe<<64x96xf16, #attn.boxed>, stages = 3>
// CHECK-SAME: !attn.pipe<<128x96xf16, #attn.boxed<parts = 2>>, stages = 3, parts = 2>
// CHECK-SAME: !attn.in_flight<<64x96xf32>>
// CHECK-SAME: !attn.in_flight<<64x96xf32, #attn.fragment<acc, warps = 4, split = rows>>>
// CHECK-SAME: !attn.tensor_map<64 x 64 x f16>
// CHECK-SAME: !attn.mailbox<values = 1, stages = 8>
// CHECK-SAME: !attn.mailbox<values = 4, stages = 1>
func.func private @types(
  !attn.tile<64x96xf16, #attn.boxed>, !attn.pipe<!attn.tile<64x96xf16, #attn.boxed>, stages = 3>,
  !attn.pipe<!attn.tile<128x96xf16, #attn.boxed<parts = 2>>, stages = 3, parts = 2>,
  !attn.in_flight<!attn.tile<64x96xf32>>,
  !attn.in_flight<!attn.tile<64x96xf32, #attn.fragment<acc, warps = 4, split = rows>>>,
  !attn.tensor_map<64 x 64 x f16>,
  !attn.mailbox<values = 1, stages = 8>, !attn.mailbox<values = 4, stages = 1>)

// CHECK-LABEL: func @pipes
// CHECK-SAME: (%[[K:[^:]*]]: memref<{{[^%]*}}, %[[MAP:[^:]*]]: !attn.tensor_map<128 x 64 x bf16> {attn.tensor_map_of = 0 : i64}, %[[I:[^:]*]]: index)
func.func @pipes(%k: !t, %m: !attn.tensor_map<128 x 64 x bf16> {attn.tensor_map_of = 0 : i64}, %i: index) {
  // CHECK: %[[P:.*]] = attn.pipe_create readers(8) offset = 2048 barriers = 65536 : <<128x64xbf16, #attn.boxed>, stages = 2>
  %p = attn.pipe_create readers(8) offset = 2048 barriers = 65536 : !pipe
  // CHECK: attn.pipe_create readers(28) : <<128x64xbf16, #attn.boxed>, stages = 2>
  %r = attn.pipe_create readers(28) : !pipe
  // CHECK: attn.copy_tile %[[K]][%[[I]], %[[I]], %[[I]]] limit(%[[I]]) into %[[P]][%[[I]]] alignment(16) map(%[[MAP]] : !attn.tensor_map<128 x 64 x bf16>) : memref<{{.*}}>, <<128x64xbf16, #attn.boxed>, stages = 2>
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) map(%m : !attn.tensor_map<128 x 64 x bf16>) : !t, !pipe
  // CHECK: attn.pipe_ready %[[P]][%[[I]]] : <<128x64xbf16, #attn.boxed>, stages = 2>
  attn.pipe_ready %p[%i] : !pipe
  // CHECK: attn.pipe_tile %[[P]][%[[I]]] : <<128x64xbf16, #attn.boxed>, stages = 2> -> <128x64xbf16, #attn.boxed>
  %t = attn.pipe_tile %p[%i] : !pipe -> !boxed
  return
}

// CHECK-LABEL: func @roles
func.func @roles(%n: index) {
  // CHECK: %[[CTAS:.*]] = attn.num_ctas %{{.*}}{{$}}
  %ctas = attn.num_ctas %n
  // CHECK: scf.forall (%{{.*}}) in (%[[CTAS]])
  scf.forall (%cta) in (%ctas) {
    // CHECK: %[[P:.*]] = attn.pipe_create
    %p = attn.pipe_create readers(8) : !pipe
    // CHECK: attn.roles producer registers(24) {
    // CHECK-NEXT: attn.pipe_acquire %[[P]]
    // CHECK-NEXT: attn.pipe_commit %[[P]]
    // CHECK-NEXT: } consumer warps(8) registers(240) {
    // CHECK-NEXT: attn.turns_begin of(2){{$}}
    // CHECK-NEXT: attn.turn_wait of(2){{$}}
    // CHECK-NEXT: attn.turn_pass of(2){{$}}
    // CHECK-NEXT: attn.turns_end of(2){{$}}
    // CHECK-NEXT: attn.pipe_release %[[P]]
    // CHECK-NEXT: } {note}
    attn.roles producer registers(24) {
      attn.pipe_acquire %p[%cta] : !pipe
      attn.pipe_commit %p : !pipe
    } consumer warps(8) registers(240) {
      attn.turns_begin of(2)
      attn.turn_wait of(2)
      attn.turn_pass of(2)
      attn.turns_end of(2)
      attn.pipe_release %p[%cta] : !pipe
    } {note}
    // CHECK: attn.roles producer registers(0) {
    // CHECK-NEXT: } consumer warps(4) registers(0) {
    // CHECK-NEXT: }{{$}}
    attn.roles producer registers(0) {
    } consumer warps(4) registers(0) {
    }
  }
  return
}

// Before roles are assigned, a message is written and read by one op.
// CHECK-LABEL: func @messages
// CHECK-SAME: (%[[N:[^:]*]]: index, %[[COUNTER:[^:]*]]: memref<1xi32> {attn.tile_counter}, %[[TILES:[^:]*]]: i32)
func.func @messages(%n: index, %counter: memref<1xi32> {attn.tile_counter}, %tiles: i32) {
  scf.forall (%cta) in (%n) {
    // CHECK: %[[PAIRS:.*]] = attn.mailbox_create readers(8) : <values = 2, stages = 2>
    %pairs = attn.mailbox_create readers(8) : <values = 2, stages = 2>
    // CHECK: %[[ONES:.*]] = attn.mailbox_create readers(28) offset = 2064 {note} : <values = 1, stages = 3>
    %ones = attn.mailbox_create readers(28) offset = 2064 {note} : <values = 1, stages = 3>
    // CHECK: %[[BOTH:.*]]:2 = attn.mailbox_pass %[[PAIRS]][%{{.*}}] (%[[N]], %{{.*}}) : <values = 2, stages = 2> -> index, index
    %both:2 = attn.mailbox_pass %pairs[%cta] (%n, %cta) : <values = 2, stages = 2> -> index, index
    // CHECK: attn.roles producer
    attn.roles producer registers(24) {
      // CHECK-NEXT: attn.mailbox_put %[[PAIRS]][%{{.*}}] (%[[BOTH]]#0, %[[BOTH]]#1) : <values = 2, stages = 2>{{$}}
      attn.mailbox_put %pairs[%cta] (%both#0, %both#1) : <values = 2, stages = 2>
      // CHECK-NEXT: %[[TILE:.*]] = attn.next_tile %[[COUNTER]] of(%[[TILES]]) : memref<1xi32>
      %tile = attn.next_tile %counter of(%tiles) : memref<1xi32>
      // CHECK-NEXT: %[[WIDE:.*]] = arith.index_cast %[[TILE]] : i32 to index
      %wide = arith.index_cast %tile : i32 to index
      // CHECK-NEXT: attn.mailbox_put %[[ONES]][%{{.*}}] (%[[WIDE]]) : <values = 1, stages = 3>
      attn.mailbox_put %ones[%cta] (%wide) : <values = 1, stages = 3>
    } consumer warps(8) registers(240) {
      // CHECK: %{{.*}}:2 = attn.mailbox_get %[[PAIRS]][%{{.*}}] : <values = 2, stages = 2> -> index, index
      %got:2 = attn.mailbox_get %pairs[%cta] : <values = 2, stages = 2> -> index, index
      // CHECK: attn.mailbox_get %[[ONES]][%{{.*}}#1] : <values = 1, stages = 3> -> index{{$}}
      %one = attn.mailbox_get %ones[%got#1] : <values = 1, stages = 3> -> index
    }
  }
  return
}

// CHECK-LABEL: func @products
// CHECK-SAME: (%[[A:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]: {{[^,]*}}, %[[O:[^:]*]]: {{.*}})
func.func @products(%a: !bf16, %b: !attn.tile<64x64xbf16>, %o: !acc) {
  // CHECK: %[[S:.*]] = attn.mma_start %[[A]], %[[B]] transpose_b : <128x64xbf16>, <64x64xbf16> -> <<128x64xf32>>
  %s = attn.mma_start %a, %b transpose_b : !bf16, !attn.tile<64x64xbf16> -> !attn.in_flight<!acc>
  // CHECK: %[[T:.*]] = attn.mma_start %[[A]], %[[B]], %[[O]] : !attn.tile<128x64xf32> : <128x64xbf16>, <64x64xbf16> -> <<128x64xf32>>
  %t = attn.mma_start %a, %b, %o : !acc : !bf16, !attn.tile<64x64xbf16> -> !attn.in_flight<!acc>
  // CHECK: %[[U:.*]] = attn.mma_start %[[A]], %[[B]], %[[T]] : !attn.in_flight<<128x64xf32>> transpose_b : <128x64xbf16>, <64x64xbf16> -> <<128x64xf32>>
  %u = attn.mma_start %a, %b, %t : !attn.in_flight<!acc> transpose_b : !bf16, !attn.tile<64x64xbf16> -> !attn.in_flight<!acc>
  // CHECK: attn.mma_wait %[[S]] pending(1) : !attn.in_flight<<128x64xf32>> -> !attn.tile<128x64xf32>
  %w = attn.mma_wait %s pending(1) : !attn.in_flight<!acc> -> !acc
  // CHECK: %{{.*}}:2 = attn.mma_wait %[[U]], %[[O]] pending(0) : !attn.in_flight<<128x64xf32>>, !attn.tile<128x64xf32> -> !attn.tile<128x64xf32>, !attn.tile<128x64xf32>
  %x:2 = attn.mma_wait %u, %o pending(0) : !attn.in_flight<!acc>, !acc -> !acc, !acc
  return
}

// CHECK-LABEL: func @stores
// CHECK-SAME: (%[[O:[^:]*]]: {{[^,]*}}, %[[Q:[^:]*]]: {{[^,]*}}, %[[DEST:[^:]*]]: memref<{{[^%]*}}, %[[I:[^:]*]]: index, %[[MAP:[^:]*]]: !attn.tensor_map<64 x 64 x bf16>)
func.func @stores(%o: !acc, %q: !bf16, %dest: !t, %i: index, %m: !attn.tensor_map<64 x 64 x bf16>) {
  // CHECK: attn.bulk_store %[[O]] via %[[Q]], %[[DEST]][%[[I]], %[[I]], %[[I]]] : <128x64xf32>, <128x64xbf16>, memref<
  attn.bulk_store %o via %q, %dest[%i, %i, %i] : !acc, !bf16, !t
  // CHECK: attn.bulk_store %[[O]] via %[[Q]], %[[DEST]][%[[I]], %[[I]], %[[I]]] map(%[[MAP]] : !attn.tensor_map<64 x 64 x bf16>) : <128x64xf32>, <128x64xbf16>, memref<
  attn.bulk_store %o via %q, %dest[%i, %i, %i] map(%m : !attn.tensor_map<64 x 64 x bf16>) : !acc, !bf16, !t
  // CHECK: attn.bulk_store_wait %[[Q]] : <128x64xbf16>
  attn.bulk_store_wait %q : !bf16
  // CHECK: attn.store_tile %[[O]], %[[DEST]][%[[I]], %[[I]], %[[I]]] synced : <128x64xf32>, memref<
  attn.store_tile %o, %dest[%i, %i, %i] synced : !acc, !t
  // CHECK: attn.local_store %[[O]] : <128x64xf32> -> <128x64xbf16>
  %s = attn.local_store %o : !acc -> !bf16
  // CHECK: attn.local_store %[[O]] offset = 4096 : <128x64xf32> -> <128x64xbf16>
  %u = attn.local_store %o offset = 4096 : !acc -> !bf16
  return
}

// CHECK-LABEL: func @softmax_halves
// CHECK-SAME: (%[[STATE:[^:]*]]: {{[^,]*}}, %[[S:[^:]*]]: {{[^,]*}}, %[[SCALE:[^:]*]]: f32)
func.func @softmax_halves(%state: !attn.softmax_state<128>, %s: !acc, %scale: f32) {
  // CHECK: %[[MOVED:.*]], %[[REBASED:.*]], %{{.*}} = attn.softmax_rebase %[[STATE]], %[[S]] scale(%[[SCALE]]) : <128>, <128x64xf32> -> <128xf32>
  %moved, %rebased, %alpha = attn.softmax_rebase %state, %s scale(%scale)
     : !attn.softmax_state<128>, !acc -> !attn.tile<128xf32>
  // CHECK: %{{.*}}, %{{.*}} = attn.softmax_add %[[MOVED]], %[[REBASED]] scale(%[[SCALE]]) : <128>, <128x64xf32>
  %added, %p = attn.softmax_add %moved, %rebased scale(%scale) : !attn.softmax_state<128>, !acc
  return
}
