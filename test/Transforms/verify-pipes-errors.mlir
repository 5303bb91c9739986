// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-verify-pipes

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @copy_without_acquire(%k: memref<?x?x8x64xf16>, %i: index) {
  %p = attn.pipe_create : !pipe
  // expected-error @below {{'attn.copy_tile' op expected attn.pipe_acquire of the same iteration before it}}
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.pipe_release %p[%i] : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @acquire_of_another_iteration(%k: memref<?x?x8x64xf16>, %i: index, %j: index) {
  %p = attn.pipe_create : !pipe
  // expected-note @below {{the nearest acquire is of another iteration}}
  attn.pipe_acquire %p[%j] : !pipe
  // expected-error @below {{expected attn.pipe_acquire of the same iteration before it}}
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.pipe_release %p[%i] : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @acquire_of_another_pipe(%k: memref<?x?x8x64xf16>, %i: index) {
  %p = attn.pipe_create : !pipe
  %p2 = attn.pipe_create : !pipe
  attn.pipe_acquire %p2[%i] : !pipe
  // expected-error @below {{expected attn.pipe_acquire of the same iteration before it}}
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.pipe_release %p[%i] : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @no_commit(%k: memref<?x?x8x64xf16>, %i: index, %c: i1) {
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  scf.if %c {
    // expected-error @below {{expected attn.pipe_commit of its pipe after it}}
    attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  }
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.pipe_release %p[%i] : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @filled_never_read(%k: memref<?x?x8x64xf16>, %i: index) {
  // expected-error @below {{'attn.pipe_create' op is filled but never waited for}}
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @read_never_filled(%i: index) {
  // expected-error @below {{'attn.pipe_create' op is waited for but never filled}}
  %p = attn.pipe_create : !pipe
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.pipe_release %p[%i] : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @no_release(%k: memref<?x?x8x64xf16>, %i: index, %j: index) {
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  // expected-error @below {{'attn.pipe_wait' op expected attn.pipe_release of the same iteration after the last use of its tile}}
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @release_of_another_iteration(%k: memref<?x?x8x64xf16>, %i: index, %j: index) {
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  // expected-error @below {{'attn.pipe_release' op expected attn.pipe_wait of the same iteration before it}}
  attn.pipe_release %p[%j] : !pipe
  return
}

// -----

// The commit of the next fill does not stand in for the one that is missing.
!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
func.func @no_commit_before_the_next_fill(%k: memref<?x?x8x64xf16>, %i: index, %j: index) {
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  // expected-error @below {{'attn.copy_tile' op expected attn.pipe_commit of its pipe after it}}
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  // expected-note @below {{the next acquire is here}}
  attn.pipe_acquire %p[%j] : !pipe
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%j] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
func.func @no_copy(%k: memref<?x?x8x64xf16>, %i: index) {
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  // expected-error @below {{'attn.pipe_commit' op expected attn.pipe_acquire and attn.copy_tile of its pipe before it}}
  attn.pipe_commit %p : !pipe
  return
}

// -----

// One release is missing, another one is of the same iteration.
!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @no_release_on_one_way(%k: memref<?x?x8x64xf16>, %i: index, %c: i1) {
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  scf.if %c {
    %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
    attn.pipe_release %p[%i] : !pipe
  } else {
    // expected-error @below {{expected attn.pipe_release of the same iteration after the last use of its tile}}
    %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  }
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @use_after_release(%k: memref<?x?x8x64xf16>, %i: index) {
  %p = attn.pipe_create : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %k[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %t = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  // expected-note @below {{released here}}
  attn.pipe_release %p[%i] : !pipe
  // expected-error @below {{'attn.local_load' op expected no use of a tile of a pipe after its release}}
  %q = attn.local_load %t : <64x64xf16> -> <64x64xf16>
  return
}

// -----

// A store reads its buffer until it has been waited for.
!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @release_under_a_store(%t: memref<?x?x8x64xf16>, %i: index, %o: !attn.tile<64x64xf32>) {
  %p = attn.pipe_create readers(4) : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %t[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %q = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.bulk_store %o via %q, %t[%i, %i, %i] : !attn.tile<64x64xf32>, !attn.tile<64x64xf16>, memref<?x?x8x64xf16>
  // expected-error @below {{'attn.pipe_release' op expected attn.bulk_store_wait of the stage's tile before it, through which attn.bulk_store goes}}
  attn.pipe_release %p[%i] : !pipe
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @store_waited_for_too_late(%t: memref<?x?x8x64xf16>, %i: index, %o: !attn.tile<64x64xf32>) {
  %p = attn.pipe_create readers(4) : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %t[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %q = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.bulk_store %o via %q, %t[%i, %i, %i] : !attn.tile<64x64xf32>, !attn.tile<64x64xf16>, memref<?x?x8x64xf16>
  // expected-note @below {{released here}}
  attn.pipe_release %p[%i] : !pipe
  // expected-error @below {{'attn.bulk_store_wait' op expected no use of a tile of a pipe after its release}}
  attn.bulk_store_wait %q : !attn.tile<64x64xf16>
  return
}

// -----

!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 1>
func.func @stored_and_kept(%t: memref<?x?x8x64xf16>, %i: index, %o: !attn.tile<64x64xf32>) {
  %p = attn.pipe_create readers(4) : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %t[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  // expected-error @below {{'attn.pipe_wait' op expected attn.pipe_release of the same iteration after the last use of its tile}}
  %q = attn.pipe_wait %p[%i] pending(0) : !pipe -> !attn.tile<64x64xf16>
  attn.bulk_store %o via %q, %t[%i, %i, %i] : !attn.tile<64x64xf32>, !attn.tile<64x64xf16>, memref<?x?x8x64xf16>
  attn.bulk_store_wait %q : !attn.tile<64x64xf16>
  return
}

// -----

// The wait for the store before does not stand in for the release of its stage.
!pipe = !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
func.func @released_another_time(%t: memref<?x?x8x64xf16>, %i: index, %j: index) {
  %p = attn.pipe_create readers(4) : !pipe
  attn.pipe_acquire %p[%i] : !pipe
  attn.copy_tile %t[%i, %i, %i] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16>, !pipe
  attn.pipe_commit %p : !pipe
  %q = attn.pipe_tile %p[%i] : !pipe -> !attn.tile<64x64xf16>
  attn.bulk_store_wait %q : !attn.tile<64x64xf16>
  // expected-error @below {{'attn.pipe_release' op expected attn.pipe_wait of the same iteration before it}}
  attn.pipe_release %p[%j] : !pipe
  return
}

// -----

func.func @written_never_read(%n: index, %i: index) {
  scf.forall (%cta) in (%n) {
    // expected-error @below {{'attn.mailbox_create' op is written but never read}}
    %m = attn.mailbox_create readers(4) : <values = 1, stages = 2>
    attn.roles producer registers(24) {
      attn.mailbox_put %m[%i] (%i) : <values = 1, stages = 2>
    } consumer warps(4) registers(240) {
    }
  }
  return
}

// -----

func.func @read_never_written(%n: index, %i: index) {
  scf.forall (%cta) in (%n) {
    // expected-error @below {{'attn.mailbox_create' op is read but never written}}
    %m = attn.mailbox_create readers(4) : <values = 1, stages = 2>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %a = attn.mailbox_get %m[%i] : <values = 1, stages = 2> -> index
    }
  }
  return
}

// -----

func.func @no_pass() {
  attn.turns_begin of(2)
  // expected-error @below {{'attn.turn_wait' op expected attn.turn_pass after it, before the next wait}}
  attn.turn_wait of(2)
  attn.turns_end of(2)
  return
}

// -----

func.func @no_pass_before_the_next_wait() {
  attn.turns_begin of(2)
  // expected-error @below {{'attn.turn_wait' op expected attn.turn_pass after it, before the next wait}}
  attn.turn_wait of(2)
  attn.turn_wait of(2)
  attn.turn_pass of(2)
  attn.turns_end of(2)
  return
}

// -----

func.func @no_turn(%i: index) {
  attn.turns_begin of(2)
  scf.for %j = %i to %i step %i {
    // expected-error @below {{'attn.turn_pass' op expected attn.turn_wait before it}}
    attn.turn_pass of(2)
  }
  attn.turns_end of(2)
  return
}

// -----

func.func @passes_another_turn() {
  attn.turns_begin of(2)
  attn.turn_wait of(2)
  // expected-error @below {{expected the 2 turns of the wait before it, got 3}}
  attn.turn_pass of(3)
  attn.turns_end of(2)
  return
}

// -----

func.func @no_begin(%i: index) {
  scf.for %j = %i to %i step %i {
    // expected-error @below {{'attn.turn_wait' op expected attn.turns_begin of as many turns before it}}
    attn.turn_wait of(2)
    attn.turn_pass of(2)
  }
  attn.turns_end of(2)
  return
}

// -----

func.func @no_end(%i: index) {
  // expected-error @below {{'attn.turns_begin' op expected attn.turns_end of as many turns after it, in its block}}
  attn.turns_begin of(2)
  scf.for %j = %i to %i step %i {
    attn.turn_wait of(2)
    attn.turn_pass of(2)
  }
  return
}
