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
  attn.pipe_release %p[%j] : !pipe
  return
}
