// Constraints of the ops on pipes.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @f() {
  // expected-error@+1 {{'attn.pipe_create' op C1: expected offset to be a multiple of 16 and not negative, got -16}}
  %p = attn.pipe_create offset = -16 : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{C1: expected offset to be a multiple of 16 and not negative, got 40}}
  %p = attn.pipe_create offset = 40 : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f(%K: memref<?x8x64xf16>, %p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{'attn.copy_tile' op C1: expected source to be a memref of rank 4, got 'memref<?x8x64xf16>'}}
  attn.copy_tile %K[%b, %i, %h] limit(%i) into %p[%i] alignment(16) : memref<?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xbf16>, %p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C2: expected source and pipe to have one element type, got 'bf16' and 'f16'}}
  attn.copy_tile %K[%b, %i, %h] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xbf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16, strided<[?, ?, ?, 4]>>, %p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C3: expected the last dim of source to be contiguous (stride 1), got stride 4}}
  attn.copy_tile %K[%b, %i, %h] limit(%i) into %p[%i] alignment(16) : memref<?x?x8x64xf16, strided<[?, ?, ?, 4]>>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16>, %p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C4: expected alignment to be a power of two, got 0}}
  attn.copy_tile %K[%b, %i, %h] limit(%i) into %p[%i] alignment(0) : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16>, %p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C4: expected alignment to be a power of two, got -8}}
  attn.copy_tile %K[%b, %i, %h] limit(%i) into %p[%i] alignment(-8) : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f(%K: memref<?x?x8x64xf16>, %p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %b: index, %i: index, %h: index) {
  // expected-error@+1 {{C4: expected alignment to be a power of two, got 12}}
  attn.copy_tile %K[%b, %i, %h] limit(%i) into %p[%i] alignment(12) : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f(%p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %i: index) {
  // expected-error@+1 {{'attn.pipe_wait' op C1: expected a tile of the pipe's type '!attn.tile<64x64xf16>', got '!attn.tile<64x32xf16>'}}
  %t = attn.pipe_wait %p[%i] pending(0) : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x32xf16>
  return
}

// -----

func.func @f(%p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %i: index) {
  // expected-error@+1 {{C1: expected a tile of the pipe's type '!attn.tile<64x64xf16>', got '!attn.tile<64x64xbf16>'}}
  %t = attn.pipe_wait %p[%i] pending(0) : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x64xbf16>
  return
}

// -----

!whole = !attn.tile<128x64xf16, #attn.boxed>
!p = !attn.pipe<!attn.tile<128x64xf16, #attn.boxed<parts = 2>>, stages = 3, parts = 2>
func.func @f(%p: !p, %i: index) {
  // expected-error@+1 {{'attn.pipe_tile' op C1: expected a tile of the pipe's type '!attn.tile<128x64xf16, #attn.boxed<parts = 2>>' in its parts, got '!attn.tile<128x64xf16, #attn.boxed>'}}
  %t = attn.pipe_tile %p[%i] : !p -> !whole
  return
}

// -----

func.func @f(%p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %i: index) {
  // expected-error@+1 {{C2: expected pending not to be negative, got -1}}
  %t = attn.pipe_wait %p[%i] pending(-1) : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x64xf16>
  return
}

// -----

func.func @f(%t: !attn.tile<64x64xf16>) {
  // expected-error@+1 {{'attn.local_load' op C1: expected operand and result to agree in shape and element type, got '!attn.tile<64x64xf16>' and '!attn.tile<64x32xf16>'}}
  %a = attn.local_load %t : !attn.tile<64x64xf16> -> !attn.tile<64x32xf16>
  return
}

// -----

func.func @f(%t: !attn.tile<64x64xf16>) {
  // expected-error@+1 {{C1: expected operand and result to agree in shape and element type, got '!attn.tile<64x64xf16>' and '!attn.tile<64x64xf32>'}}
  %a = attn.local_load %t : !attn.tile<64x64xf16> -> !attn.tile<64x64xf32>
  return
}

// -----

func.func @f(%p: memref<4xf32>) {
  // expected-error@+1 {{operand #0 must be a ring of shared-memory tile buffers that copies fill ahead of use, but got 'memref<4xf32>'}}
  "attn.pipe_commit"(%p) : (memref<4xf32>) -> ()
  return
}

// -----

func.func @f(%p: !attn.pipe<!attn.tile<64x64xf16>, stages = 2>, %i: i32) {
  // expected-error@+1 {{operand #1 must be index, but got 'i32'}}
  "attn.pipe_release"(%p, %i) : (!attn.pipe<!attn.tile<64x64xf16>, stages = 2>, i32) -> ()
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'attn.pipe_create' op C2: expected writers and first_writer together, and with readers}}
  %p = attn.pipe_create writers(2 from 0) : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{C2: expected writers to be a power of two from one that is not negative, got 3 from 0}}
  %p = attn.pipe_create readers(8) writers(3 from 0) : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{C2: expected writers to be a power of two from one that is not negative, got 2 from -1}}
  %p = attn.pipe_create readers(8) writers(2 from -1) : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}
