// Where the wait for the store of a tile goes. attn-verify-pipes has nothing against it before or after.
// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-verify-pipes,attn-overlap-stores,attn-verify-pipes),cse)" | FileCheck %s

!tile = !attn.tile<64x64xf16>
!acc = !attn.tile<64x64xf32>
!q = !attn.pipe<!tile, stages = 2>
!single = !attn.pipe<!tile, stages = 1>
!m = !attn.mailbox<values = 1, stages = 2>
!t = memref<?x?x8x64xf16>

// The wait for the store, and the release behind it, go to the next round, behind its first product.
// There is nothing to wait for in the first round. The store of the last one is waited for behind the
// loop; no fill waits for a release of it.
// CHECK-LABEL: func @counted
// CHECK: %[[P:.*]] = attn.pipe_create
// CHECK: attn.roles producer
// CHECK:   scf.for
// CHECK-NOT: scf.if
// CHECK: } consumer
// CHECK:   %[[LOOP:.*]] = scf.for %{{.*}} iter_args(%[[I:.*]] = %[[FIRST:.*]]) -> (index) {
// CHECK:     %[[Q:.*]] = attn.pipe_wait %[[P]][%[[I]]]
// CHECK:     attn.mma_start %[[Q]], %[[Q]]
// CHECK-NEXT: %[[S:.*]] = attn.mma_wait
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi ne, %[[I]], %[[FIRST]]
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT:   %[[BEFORE:.*]] = arith.subi %[[I]], %c1
// CHECK-NEXT:   %[[BUFFER:.*]] = attn.pipe_tile %[[P]][%[[BEFORE]]]
// CHECK-NEXT:   attn.bulk_store_wait %[[BUFFER]]
// CHECK-NEXT:   attn.pipe_release %[[P]][%[[BEFORE]]]
// CHECK-NEXT: }
// The second product has nothing to wait for.
// CHECK-NEXT: attn.mma_start %[[Q]], %[[Q]], %[[S]]
// CHECK-NEXT: %[[O:.*]] = attn.mma_wait
// CHECK-NEXT: attn.bulk_store %[[O]] via %[[Q]],
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[I]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK:   %[[STORED:.*]] = arith.cmpi ne, %[[LOOP]], %[[FIRST]]
// CHECK-NEXT: scf.if %[[STORED]] {
// CHECK-NEXT:   %[[LAST:.*]] = arith.subi %[[LOOP]], %c1
// CHECK-NEXT:   %[[BUFFER:.*]] = attn.pipe_tile %[[P]][%[[LAST]]]
// CHECK-NEXT:   attn.bulk_store_wait %[[BUFFER]]
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @counted(%t: !t, %n: index, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    attn.roles producer registers(24) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %first) -> (index) {
        attn.pipe_acquire %p[%i] : !q
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%i] alignment(16) : !t, !q
        attn.pipe_commit %p : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    } consumer warps(4) registers(240) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %first) -> (index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !q -> !tile
        %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
        %s = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
        %g = attn.mma_start %q, %q, %s : !acc : !tile, !tile -> !attn.in_flight<!acc>
        %o = attn.mma_wait %g pending(0) : !attn.in_flight<!acc> -> !acc
        attn.bulk_store %o via %q, %t[%cta, %j, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%i] : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
  }
  return
}

// The same where the loop ends with a message: the count before it is that of its start, the count
// behind it the one that the condition passes on, which stand in different places.
// CHECK-LABEL: func @drawn
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[P:.*]] = attn.pipe_create
// CHECK: } consumer
// CHECK:   %[[LOOP:.*]]:2 = scf.while (%[[ROUND:.*]] = %[[C0]], %[[I:.*]] = %arg2) : (index, index) -> (index, index) {
// CHECK:     scf.condition(%{{.*}}) %[[I]], %[[ROUND]]
// CHECK:   ^bb0(%[[I:.*]]: index, %{{.*}}: index):
// CHECK-NEXT: attn.pipe_wait %[[P]][%[[I]]]
// CHECK-NEXT: attn.mma_start
// CHECK-NEXT: attn.mma_wait
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi ne, %[[I]], %arg2
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT:   %[[BEFORE:.*]] = arith.subi %[[I]], %c1
// CHECK-NEXT:   %[[BUFFER:.*]] = attn.pipe_tile %[[P]][%[[BEFORE]]]
// CHECK-NEXT:   attn.bulk_store_wait %[[BUFFER]]
// CHECK-NEXT:   attn.pipe_release %[[P]][%[[BEFORE]]]
// CHECK-NEXT: }
// CHECK-NEXT: attn.bulk_store
// CHECK-NEXT: arith.addi
// CHECK-NEXT: arith.addi
// CHECK-NEXT: scf.yield
// CHECK:   %[[STORED:.*]] = arith.cmpi ne, %[[LOOP]]#0, %arg2
// CHECK-NEXT: scf.if %[[STORED]] {
// CHECK-NEXT:   %[[LAST:.*]] = arith.subi %[[LOOP]]#0, %c1
// CHECK-NEXT:   %[[BUFFER:.*]] = attn.pipe_tile %[[P]][%[[LAST]]]
// CHECK-NEXT:   attn.bulk_store_wait %[[BUFFER]]
// CHECK-NEXT: }
func.func @drawn(%t: !t, %n: index, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    %m = attn.mailbox_create readers(4) : !m
    attn.roles producer registers(24) {
      %last:2 = scf.while (%round = %c0, %i = %first) : (index, index) -> (index, index) {
        %left = arith.subi %n, %round : index
        attn.mailbox_put %m[%round] (%left) : !m
        %more = arith.cmpi sgt, %left, %c0 : index
        scf.condition(%more) %i, %round : index, index
      } do {
      ^bb0(%i: index, %round: index):
        attn.pipe_acquire %p[%i] : !q
        attn.copy_tile %t[%cta, %round, %c0] limit(%n) into %p[%i] alignment(16) : !t, !q
        attn.pipe_commit %p : !q
        %nextRound = arith.addi %round, %c1 : index
        %next = arith.addi %i, %c1 : index
        scf.yield %nextRound, %next : index, index
      }
    } consumer warps(4) registers(240) {
      %last:2 = scf.while (%round = %c0, %i = %first) : (index, index) -> (index, index) {
        %left = attn.mailbox_get %m[%round] : !m -> index
        %more = arith.cmpi sgt, %left, %c0 : index
        scf.condition(%more) %i, %round : index, index
      } do {
      ^bb0(%i: index, %round: index):
        %q = attn.pipe_wait %p[%i] pending(0) : !q -> !tile
        %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
        %o = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
        attn.bulk_store %o via %q, %t[%cta, %round, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%i] : !q
        %nextRound = arith.addi %round, %c1 : index
        %next = arith.addi %i, %c1 : index
        scf.yield %nextRound, %next : index, index
      }
    }
  }
  return
}

// With one buffer, the next Q comes only when this one is out: nothing changes.
// CHECK-LABEL: func @one_stage
// CHECK: } consumer
// CHECK: attn.mma_wait
// CHECK-NOT: scf.if
// CHECK: attn.bulk_store %{{.*}} via %[[Q:.*]], %arg0
// CHECK-NEXT: attn.bulk_store_wait %[[Q]]
// CHECK-NEXT: attn.pipe_release %{{.*}}[%[[I:.*]]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func @one_stage(%t: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !single
    attn.roles producer registers(24) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        attn.pipe_acquire %p[%i] : !single
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%i] alignment(16) : !t, !single
        attn.pipe_commit %p : !single
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    } consumer warps(4) registers(240) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !single -> !tile
        %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
        %o = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
        attn.bulk_store %o via %q, %t[%cta, %j, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%i] : !single
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
  }
  return
}

// A tile may have no keys: its products stand in a conditional. Where it has none, the store before
// is waited for at once.
// CHECK-LABEL: func @conditional
// CHECK: %[[P:.*]] = attn.pipe_create
// CHECK: } consumer
// CHECK:   %[[LOOP:.*]] = scf.for %{{.*}} iter_args(%[[I:.*]] = %c0)
// CHECK:     %[[O:.*]] = scf.if %arg2 -> (!attn.tile<64x64xf32>) {
// CHECK-NEXT:  attn.mma_start
// CHECK-NEXT:  %[[S:.*]] = attn.mma_wait
// CHECK-NEXT:  %[[ANY:.*]] = arith.cmpi ne, %[[I]], %c0
// CHECK-NEXT:  scf.if %[[ANY]] {
// CHECK-NEXT:    %[[BEFORE:.*]] = arith.subi %[[I]], %c1
// CHECK-NEXT:    %[[BUFFER:.*]] = attn.pipe_tile %[[P]][%[[BEFORE]]]
// CHECK-NEXT:    attn.bulk_store_wait %[[BUFFER]]
// CHECK-NEXT:    attn.pipe_release %[[P]][%[[BEFORE]]]
// CHECK-NEXT:  }
// CHECK-NEXT:  scf.yield %[[S]]
// CHECK-NEXT: } else {
// CHECK-NEXT:  %[[ANY:.*]] = arith.cmpi ne, %[[I]], %c0
// CHECK-NEXT:  scf.if %[[ANY]] {
// CHECK-NEXT:    %[[BEFORE:.*]] = arith.subi %[[I]], %c1
// CHECK-NEXT:    %[[BUFFER:.*]] = attn.pipe_tile %[[P]][%[[BEFORE]]]
// CHECK-NEXT:    attn.bulk_store_wait %[[BUFFER]]
// CHECK-NEXT:    attn.pipe_release %[[P]][%[[BEFORE]]]
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[Z:.*]] = attn.fill
// CHECK-NEXT:  scf.yield %[[Z]]
// CHECK-NEXT: }
// CHECK-NEXT: attn.bulk_store %[[O]]
// CHECK-NEXT: arith.addi
// CHECK-NEXT: scf.yield
// CHECK:   arith.cmpi ne, %[[LOOP]], %c0
// CHECK-NEXT: scf.if
func.func @conditional(%t: !t, %n: index, %some: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    attn.roles producer registers(24) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        attn.pipe_acquire %p[%i] : !q
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%i] alignment(16) : !t, !q
        attn.pipe_commit %p : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    } consumer warps(4) registers(240) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !q -> !tile
        %o = scf.if %some -> !acc {
          %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
          %s = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
          scf.yield %s : !acc
        } else {
          %z = attn.fill 0.0 : !acc
          scf.yield %z : !acc
        }
        attn.bulk_store %o via %q, %t[%cta, %j, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%i] : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
  }
  return
}

// A loop over keys may have no rounds: what stands before it is done in any case.
// CHECK-LABEL: func @loop
// CHECK: } consumer
// CHECK:   scf.for %{{.*}} iter_args(%[[I:.*]] = %c0)
// CHECK-NEXT: attn.pipe_wait
// CHECK-NEXT: %[[Z:.*]] = attn.fill
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi ne, %[[I]], %c0
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK:        attn.bulk_store_wait
// CHECK-NEXT:   attn.pipe_release
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %{{.*}} iter_args(%{{.*}} = %[[Z]])
// CHECK-NEXT:   attn.mma_start
// CHECK-NEXT:   attn.mma_wait
// CHECK-NEXT:   scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: attn.bulk_store
// CHECK-NEXT: arith.addi
func.func @loop(%t: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    attn.roles producer registers(24) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        attn.pipe_acquire %p[%i] : !q
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%i] alignment(16) : !t, !q
        attn.pipe_commit %p : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    } consumer warps(4) registers(240) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !q -> !tile
        %z = attn.fill 0.0 : !acc
        %o = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> (!acc) {
          %f = attn.mma_start %q, %q, %a : !acc transpose_b : !tile, !tile -> !attn.in_flight<!acc>
          %s = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
          scf.yield %s : !acc
        }
        attn.bulk_store %o via %q, %t[%cta, %j, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%i] : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
  }
  return
}

// Tiles without products, and those whose products stand in a conditional with nothing beside it, have
// no place that every round comes by.
// CHECK-LABEL: func @no_product
// CHECK: } consumer
// CHECK-NOT: scf.if
// CHECK: attn.bulk_store_wait
// CHECK-NEXT: attn.pipe_release
// CHECK-LABEL: func @sometimes
// CHECK: } consumer
// CHECK: scf.if %arg2 {
// CHECK-NOT: scf.if
// CHECK: attn.bulk_store_wait
// CHECK-NEXT: attn.pipe_release
// CHECK-NOT: scf.if
// CHECK: return
func.func @no_product(%t: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    attn.roles producer registers(24) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        attn.pipe_acquire %p[%i] : !q
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%i] alignment(16) : !t, !q
        attn.pipe_commit %p : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    } consumer warps(4) registers(240) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !q -> !tile
        %o = attn.fill 0.0 : !acc
        attn.bulk_store %o via %q, %t[%cta, %j, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%i] : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
  }
  return
}
func.func @sometimes(%t: !t, %n: index, %some: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    attn.roles producer registers(24) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        attn.pipe_acquire %p[%i] : !q
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%i] alignment(16) : !t, !q
        attn.pipe_commit %p : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    } consumer warps(4) registers(240) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %c0) -> (index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !q -> !tile
        %o = attn.fill 0.0 : !acc
        scf.if %some {
          %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
          %s = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
          attn.store_tile %s, %t[%cta, %j, %c1] : !acc, !t
        }
        attn.bulk_store %o via %q, %t[%cta, %j, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%i] : !q
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
  }
  return
}

// One tile: there is no loop that a next one would come in.
// CHECK-LABEL: func @one_tile
// CHECK: } consumer
// CHECK-NOT: scf.if
// CHECK: attn.bulk_store %
// CHECK-NEXT: attn.bulk_store_wait
// CHECK-NEXT: attn.pipe_release
// CHECK-NEXT: }
func.func @one_tile(%t: !t, %n: index) {
  %c0 = arith.constant 0 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    attn.roles producer registers(24) {
      attn.pipe_acquire %p[%c0] : !q
      attn.copy_tile %t[%cta, %c0, %c0] limit(%n) into %p[%c0] alignment(16) : !t, !q
      attn.pipe_commit %p : !q
    } consumer warps(4) registers(240) {
      %q = attn.pipe_wait %p[%c0] pending(0) : !q -> !tile
      %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
      %o = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
      attn.bulk_store %o via %q, %t[%cta, %c0, %c0] : !acc, !tile, !t
      attn.bulk_store_wait %q : !tile
      attn.pipe_release %p[%c0] : !q
    }
  }
  return
}

// Two tiles of the pipe a round: the stage before is another tile's. A wait that ends its block has
// no release behind it.
// CHECK-LABEL: func @by_two
// CHECK: scf.for
// CHECK-NOT: attn.pipe_tile
// CHECK: attn.bulk_store %
// CHECK-NEXT: attn.bulk_store_wait
// CHECK-NEXT: attn.pipe_release
// CHECK: attn.pipe_tile
// CHECK-NEXT: attn.bulk_store_wait
// CHECK-NEXT: }
func.func @by_two(%t: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !q
    attn.roles producer registers(24) {
      attn.pipe_acquire %p[%c0] : !q
      attn.copy_tile %t[%cta, %c0, %c0] limit(%n) into %p[%c0] alignment(16) : !t, !q
      attn.pipe_commit %p : !q
    } consumer warps(4) registers(240) {
      %m = scf.for %i = %c0 to %n step %c1 iter_args(%j = %c0) -> index {
        %q = attn.pipe_wait %p[%j] pending(0) : !q -> !tile
        %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
        %o = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
        attn.bulk_store %o via %q, %t[%cta, %i, %c0] : !acc, !tile, !t
        attn.bulk_store_wait %q : !tile
        attn.pipe_release %p[%j] : !q
        %k = arith.addi %j, %c2 : index
        scf.yield %k : index
      }
      %last = attn.pipe_tile %p[%m] : !q -> !tile
      attn.bulk_store_wait %last : !tile
    }
  }
  return
}

// Three buffers for tiles of two parts: the second part of a tile may come into the buffer that the
// store of the tile before leaves through, so its fill waits behind the first fill of keys, in either
// way that a tile may take.
!parts = !attn.pipe<!attn.tile<128x64xf16>, stages = 3, parts = 2>
!q128 = !attn.tile<128x64xf16>
!acc128 = !attn.tile<128x64xf32>
// CHECK-LABEL: func @parts
// CHECK: %[[P:.*]] = attn.pipe_create readers(4)
// CHECK: %[[K:.*]] = attn.pipe_create readers(8)
// CHECK: attn.roles producer
// CHECK:   %[[N:.*]] = arith.muli
// CHECK-NEXT: attn.pipe_acquire %[[P]][%[[N]]]
// CHECK-NEXT: attn.copy_tile
// CHECK-NEXT: attn.pipe_commit %[[P]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.addi %[[N]], %c1
// CHECK-NEXT: scf.if
// CHECK-NEXT:   attn.pipe_acquire %[[K]]
// CHECK-NEXT:   attn.copy_tile {{.*}} into %[[K]]
// CHECK-NEXT:   attn.pipe_commit %[[K]]
// CHECK-NEXT:   attn.pipe_acquire %[[P]][%[[SECOND]]]
// CHECK-NEXT:   attn.copy_tile {{.*}} into %[[P]][%[[SECOND]]]
// CHECK-NEXT:   attn.pipe_commit %[[P]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   attn.pipe_acquire %[[P]][%[[SECOND]]]
// CHECK-NEXT:   attn.copy_tile {{.*}} into %[[P]][%[[SECOND]]]
// CHECK-NEXT:   attn.pipe_commit %[[P]]
// CHECK-NEXT: }
// CHECK: } consumer
// CHECK:   %[[Q:.*]] = attn.pipe_wait %[[P]][%[[I:.*]]] pending
// CHECK:   attn.mma_wait
// CHECK:   scf.if
// CHECK:     %[[BEFORE:.*]] = arith.subi %[[I]], %c1
// CHECK:     %[[BUFFER:.*]] = attn.pipe_tile %[[P]][%[[BEFORE]]]
// CHECK-NEXT: attn.bulk_store_wait %[[BUFFER]]
// CHECK-NEXT: attn.pipe_release %[[P]][%[[BEFORE]]]
func.func @parts(%t: !t, %n: index, %first: index, %some: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !parts
    %k = attn.pipe_create readers(8) : !q
    attn.roles producer registers(24) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %first) -> (index) {
        %a = arith.muli %i, %c2 : index
        attn.pipe_acquire %p[%a] : !parts
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%a] alignment(16) : !t, !parts
        attn.pipe_commit %p : !parts
        %b = arith.addi %a, %c1 : index
        attn.pipe_acquire %p[%b] : !parts
        attn.copy_tile %t[%cta, %j, %c1] limit(%n) into %p[%b] alignment(16) : !t, !parts
        attn.pipe_commit %p : !parts
        scf.if %some {
          attn.pipe_acquire %k[%i] : !q
          attn.copy_tile %t[%cta, %j, %c2] limit(%n) into %k[%i] alignment(16) : !t, !q
          attn.pipe_commit %k : !q
        } else {
        }
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    } consumer warps(8) registers(240) {
      %last = scf.for %j = %c0 to %n step %c1 iter_args(%i = %first) -> (index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !parts -> !q128
        %z = attn.fill 0.0 : !acc128
        %o = scf.if %some -> (!acc128) {
          %keys = attn.pipe_wait %k[%i] pending(0) : !q -> !tile
          %f = attn.mma_start %q, %keys transpose_b : !q128, !tile -> !attn.in_flight<!acc128>
          %s = attn.mma_wait %f pending(0) : !attn.in_flight<!acc128> -> !acc128
          attn.pipe_release %k[%i] : !q
          scf.yield %s : !acc128
        } else {
          scf.yield %z : !acc128
        }
        attn.bulk_store %o via %q, %t[%cta, %j, %c0] : !acc128, !q128, !t
        attn.bulk_store_wait %q : !q128
        attn.pipe_release %p[%i] : !parts
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
  }
  return
}

// Keys that come in a loop, which may have no turn: the fill of the second part would wait for the
// store before the keys that the store waits behind. So the store is waited for at once.
// CHECK-LABEL: func @keys_in_a_loop
// CHECK: %[[P:.*]] = attn.pipe_create readers(4)
// CHECK: attn.roles producer
// CHECK-COUNT-2: attn.pipe_commit %[[P]]
// CHECK: scf.for
// CHECK: } consumer
// CHECK:   attn.bulk_store
// CHECK-NEXT: attn.bulk_store_wait
// CHECK-NEXT: attn.pipe_release %[[P]]
func.func @keys_in_a_loop(%t: !t, %n: index, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !parts
    %k = attn.pipe_create readers(8) : !q
    attn.roles producer registers(24) {
      %last:2 = scf.for %j = %c0 to %n step %c1 iter_args(%i = %first, %ik = %first) -> (index, index) {
        %a = arith.muli %i, %c2 : index
        attn.pipe_acquire %p[%a] : !parts
        attn.copy_tile %t[%cta, %j, %c0] limit(%n) into %p[%a] alignment(16) : !t, !parts
        attn.pipe_commit %p : !parts
        %b = arith.addi %a, %c1 : index
        attn.pipe_acquire %p[%b] : !parts
        attn.copy_tile %t[%cta, %j, %c1] limit(%n) into %p[%b] alignment(16) : !t, !parts
        attn.pipe_commit %p : !parts
        %kn = scf.for %key = %c0 to %n step %c1 iter_args(%m = %ik) -> (index) {
          attn.pipe_acquire %k[%m] : !q
          attn.copy_tile %t[%cta, %j, %c2] limit(%n) into %k[%m] alignment(16) : !t, !q
          attn.pipe_commit %k : !q
          %next = arith.addi %m, %c1 : index
          scf.yield %next : index
        }
        %next = arith.addi %i, %c1 : index
        scf.yield %next, %kn : index, index
      }
    } consumer warps(8) registers(240) {
      %last:2 = scf.for %j = %c0 to %n step %c1 iter_args(%i = %first, %ik = %first) -> (index, index) {
        %q = attn.pipe_wait %p[%i] pending(0) : !parts -> !q128
        %z = attn.fill 0.0 : !acc128
        %o:2 = scf.for %key = %c0 to %n step %c1 iter_args(%acc = %z, %m = %ik) -> (!acc128, index) {
          %keys = attn.pipe_wait %k[%m] pending(0) : !q -> !tile
          %f = attn.mma_start %q, %keys transpose_b : !q128, !tile -> !attn.in_flight<!acc128>
          %s = attn.mma_wait %f pending(0) : !attn.in_flight<!acc128> -> !acc128
          attn.pipe_release %k[%m] : !q
          %next = arith.addi %m, %c1 : index
          scf.yield %s, %next : !acc128, index
        }
        attn.bulk_store %o#0 via %q, %t[%cta, %j, %c0] : !acc128, !q128, !t
        attn.bulk_store_wait %q : !q128
        attn.pipe_release %p[%i] : !parts
        %next = arith.addi %i, %c1 : index
        scf.yield %next, %o#1 : index, index
      }
    }
  }
  return
}
