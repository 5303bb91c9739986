// Programs that attn-verify-pipes has nothing against.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-verify-pipes
// RUN: attnc compile dtype=bf16 head_dim=64 heads_q=2 heads_kv=1 mask=causal --target sm_90a \
// RUN:   --emit scheduled -o - | attn-opt -pass-pipeline="builtin.module(func.func(attn-verify-pipes))"
// RUN: attnc compile dtype=bf16 head_dim=128 heads_q=2 heads_kv=1 mask=causal --target sm_90a \
// RUN:   --emit scheduled -o - | attn-opt -pass-pipeline="builtin.module(func.func(attn-verify-pipes))"

// The copy of a fill may be conditional; attn-trim-pipes leaves out releases that no fill waits for.
!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @trimmed(%k: memref<?x?x8x64xf16>, %i: index, %c: i1) {
  %p = attn.pipe_create readers(4) : !pipe
  attn.pipe_acquire %p[%i] synced : !pipe
  scf.if %c {
    attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  }
  attn.pipe_commit %p : !pipe
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  return
}

// -----

// A mailbox that nobody uses, and one whose messages are still to be divided among roles.
func.func @messages(%n: index, %i: index) -> index {
  %unused = attn.mailbox_create readers(4) : <values = 1, stages = 2>
  %m = attn.mailbox_create readers(4) : <values = 1, stages = 2>
  %a = attn.mailbox_pass %m[%i] (%n) : <values = 1, stages = 2> -> index
  return %a : index
}

// -----

// As attn-overlap-stores leaves it: a round releases the stage of the one before, once the store
// through it is waited for; the last round's is waited for behind the loop, and not released.
!tile = !attn.tile<64x64xf16>
!acc = !attn.tile<64x64xf32>
!pipe = !attn.pipe<!tile, stages = 2>
!t = memref<?x?x8x64xf16>
!m = !attn.mailbox<values = 1, stages = 2>
func.func @overlapped(%t: !t, %n: index, %one: index, %first: index) {
  scf.forall (%cta) in (%n) {
    %p = attn.pipe_create readers(4) : !pipe
    %m = attn.mailbox_create readers(4) : !m
    attn.roles producer registers(24) {
      %end = scf.for %j = %first to %n step %one iter_args(%i = %first) -> (index) {
        attn.mailbox_put %m[%j] (%i) : !m
        attn.pipe_acquire %p[%i] : !pipe
        attn.copy_tile %t[%cta, %i, %i] limit(%n) into %p[%i] alignment(16) : !t, !pipe
        attn.pipe_commit %p : !pipe
        %next = arith.addi %i, %one : index
        scf.yield %next : index
      }
    } consumer warps(4) registers(240) {
      %end = scf.for %j = %first to %n step %one iter_args(%i = %first) -> (index) {
        %row = attn.mailbox_get %m[%j] : !m -> index
        %q = attn.pipe_wait %p[%i] pending(0) : !pipe -> !tile
        %f = attn.mma_start %q, %q transpose_b : !tile, !tile -> !attn.in_flight<!acc>
        %o = attn.mma_wait %f pending(0) : !attn.in_flight<!acc> -> !acc
        %any = arith.cmpi ne, %i, %first : index
        scf.if %any {
          %before = arith.subi %i, %one : index
          %b = attn.pipe_tile %p[%before] : !pipe -> !tile
          attn.bulk_store_wait %b : !tile
          attn.pipe_release %p[%before] : !pipe
        }
        attn.bulk_store %o via %q, %t[%cta, %row, %i] : !acc, !tile, !t
        %next = arith.addi %i, %one : index
        scf.yield %next : index
      }
      %any = arith.cmpi ne, %end, %first : index
      scf.if %any {
        %last = arith.subi %end, %one : index
        %b = attn.pipe_tile %p[%last] : !pipe -> !tile
        attn.bulk_store_wait %b : !tile
      }
    }
  }
  return
}
