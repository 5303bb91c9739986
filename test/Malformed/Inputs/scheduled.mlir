// Scheduled tile programs (L2).
// ERROR: expected stages in [1, 8], got 0
func.func @f() {
  %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 0>
  return
}

// -----
// ERROR: C1: expected offset to be a multiple of 16 and not negative, got 8
func.func @f() {
  %p = attn.pipe_create offset = 8 : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----
// ERROR: C1: expected a tile of the pipe's type
func.func @f(%i: index) {
  %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  %t = attn.pipe_wait %p[%i] pending(0)
     : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x128xf16>
  return
}

// -----
// ERROR: C2: expected pending not to be negative, got -3
func.func @f(%i: index) {
  %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  %t = attn.pipe_wait %p[%i] pending(-3)
     : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x64xf16>
  return
}

// -----
// ERROR: C2: expected source and pipe to have one element type
func.func @f(%K: memref<?x?x8x64xf32>, %i: index) {
  %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  attn.copy_tile %K[%i, %i, %i] limit(%i) into %p[%i] alignment(16)
     : memref<?x?x8x64xf32>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----
// ERROR: C4: expected alignment to be a power of two, got 0
func.func @f(%K: memref<?x?x8x64xf16>, %i: index) {
  %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  attn.copy_tile %K[%i, %i, %i] limit(%i) into %p[%i] alignment(0)
     : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  return
}

// -----
// ERROR: expected warps in [1, 32], got 0
func.func private @f(!attn.tile<64x64xf32, #attn.fragment<acc, warps = 0, split = rows>>)

// -----
// ERROR: expected a multiple of 128 rows
func.func private @f(!attn.tile<64x64xf32, #attn.fragment<acc, warps = 8, split = rows>>)

// -----
// ERROR: expected a pitch of at least 256 bytes for rows of 128 elements
func.func private @f(!attn.tile<64x128xf16, #attn.shared<pitch = 128, xor_mask = 7>>)

// -----
// ERROR: expected xor_mask to be 0, 1, 3 or 7, got 6
func.func private @f(!attn.tile<64x64xf16, #attn.shared<pitch = 128, xor_mask = 6>>)

// -----
// ERROR: C1: expected operand and result to agree in shape and element type
func.func @f(%t: !attn.tile<64x64xf16>) {
  %a = attn.local_load %t : !attn.tile<64x64xf16> -> !attn.tile<64x64xbf16>
  return
}

// -----
// ERROR: expected 'attn.smem_bytes' to be an i64 that is not negative
func.func @f(%n: index) {
  scf.forall (%i) in (%n) {
  } {attn.smem_bytes = -16 : i64}
  return
}

// -----
// A pipe that is filled and never waited for.
// ERROR: is filled but never waited for
// ARGS: --attn-verify-pipes
func.func @f(%K: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.pipe_acquire %p[%i] : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.copy_tile %K[%i, %i, %i] limit(%n) into %p[%i] alignment(16)
       : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.pipe_commit %p : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----
// A copy without an acquire.
// ERROR: expected attn.pipe_acquire of the same iteration before it
// ARGS: --attn-verify-pipes
func.func @f(%K: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.copy_tile %K[%i, %i, %i] limit(%n) into %p[%i] alignment(16)
       : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.pipe_commit %p : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    %k = attn.pipe_wait %p[%i] pending(0)
       : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x64xf16>
    attn.pipe_release %p[%i] : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----
// A wait without a release.
// ERROR: expected attn.pipe_release of the same iteration after the last use of its tile
// ARGS: --attn-verify-pipes
func.func @f(%K: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    %p = attn.pipe_create : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.pipe_acquire %p[%i] : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.copy_tile %K[%i, %i, %i] limit(%n) into %p[%i] alignment(16)
       : memref<?x?x8x64xf16>, !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    attn.pipe_commit %p : !attn.pipe<!attn.tile<64x64xf16>, stages = 2>
    %k = attn.pipe_wait %p[%i] pending(0)
       : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x64xf16>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----
// Operands of products that do not come through pipes.
// ERROR: expected a pipe in its place
// ARGS: --attn-assign-layouts
func.func @f(%K: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    %k = attn.load_tile %K[%i, %i, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----
// A program that has no shared memory assigned cannot become a thread's program.
// ERROR: has no attn.smem_bytes; run attn-allocate-smem first
// ARGS: --convert-attn-to-nvvm
func.func @f(%n: index) attributes {attn.kernel} {
  scf.forall (%i) in (%n) {
    %z = attn.fill 0.0 : !attn.tile<64x64xf32>
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----
// Nor one without layouts.
// ERROR: has a value without a layout
// ARGS: --convert-attn-to-nvvm
func.func @f(%n: index) attributes {attn.kernel} {
  scf.forall (%i) in (%n) {
    %z = attn.fill 0.0 : !attn.tile<64x64xf32>
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  return
}

// -----
// Nor a function with two loops over CTAs.
// ERROR: expected one loop over CTAs in a function; run attn-outline-kernels first
// ARGS: --convert-attn-to-nvvm
func.func @f(%n: index) attributes {attn.kernel} {
  scf.forall (%i) in (%n) {
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  scf.forall (%i) in (%n) {
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 0 : i64}
  return
}

// -----
// Nor messages that lie over tiles.
// ERROR: has its messages at bytes [16368, 16432) of shared memory, expected them not to overlap the tiles at [0, 16384)
// ARGS: --convert-attn-to-nvvm
func.func @f(%n: index) attributes {attn.kernel} {
  scf.forall (%i) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 32768 : !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 2>
    %m = attn.mailbox_create readers(4) offset = 16368 : !attn.mailbox<values = 1, stages = 2>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65536 : i64}
  return
}

// -----
// ERROR: C2: expected the counter to be an argument of the kernel with attn.tile_counter
func.func @f(%counter: memref<1xi32>, %tiles: i32) {
  %t = attn.next_tile %counter of(%tiles) : memref<1xi32>
  return
}

// -----
// ERROR: C1: expected at least one product to wait for, got 0
func.func @f() {
  "attn.mma_wait"() {pending = 0 : i64} : () -> ()
  return
}
