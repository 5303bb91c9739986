// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @outside() {
  // expected-error @below {{'attn.roles' op C4: expected to stand directly in the loop over CTAs (scf.forall)}}
  attn.roles producer registers(24) {
  } consumer warps(8) registers(240) {
  }
  return
}

// -----

func.func @registers(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.roles' op C1: expected registers to be 0 or a multiple of 8 in [24, 256], got 20}}
    attn.roles producer registers(20) {
    } consumer warps(8) registers(240) {
    }
  }
  return
}

// -----

func.func @warps(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.roles' op C2: expected warps to be a multiple of 4 in [4, 28], got 6}}
    attn.roles producer registers(24) {
    } consumer warps(6) registers(240) {
    }
  }
  return
}

// -----

func.func @tile_of_the_producer(%n: index) {
  scf.forall (%i) in (%n) {
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.fill' op C3: makes a tile, which a producer has no registers for}}
      %t = attn.fill 0.0 : !attn.tile<64x64xf32>
    } consumer warps(4) registers(240) {
    }
  }
  return
}

// -----

func.func @one_turn() {
  // expected-error @below {{'attn.turn_wait' op attribute 'turns' failed to satisfy constraint}}
  attn.turn_wait of(1)
  return
}

// -----

func.func @too_many_turns() {
  // expected-error @below {{'attn.turns_begin' op attribute 'turns' failed to satisfy constraint}}
  attn.turns_begin of(8)
  return
}

// -----

func.func @no_readers() {
  // expected-error @below {{'attn.pipe_create' op attribute 'readers' failed to satisfy constraint}}
  %p = attn.pipe_create readers(0) : <<64x64xf16>, stages = 2>
  return
}

// -----

func.func @rows_of_the_map(%o: !attn.tile<128x64xf32>, %q: !attn.tile<128x64xf16>,
                           %t: memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>, %i: index,
                           %m: !attn.tensor_map<128 x 64 x f16>) {
  // expected-error @below {{'attn.bulk_store' op C2: expected a map of boxes of 64 rows of 'f16', got '!attn.tensor_map<128 x 64 x f16>'}}
  attn.bulk_store %o via %q, %t[%i, %i, %i] map(%m : !attn.tensor_map<128 x 64 x f16>) : !attn.tile<128x64xf32>, !attn.tile<128x64xf16>, memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
  return
}

// -----

func.func @rank(%o: !attn.tile<128x64xf32>, %q: !attn.tile<128x64xf16>,
                %t: memref<?x64xf16>, %i: index) {
  // expected-error @below {{'attn.bulk_store' op C2: expected dest to be a memref of rank 4}}
  attn.bulk_store %o via %q, %t[%i, %i, %i] : !attn.tile<128x64xf32>, !attn.tile<128x64xf16>, memref<?x64xf16>
  return
}

// -----

func.func @producer_warps(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'attn.roles' op C5: expected 1 or 4 producer warps, got 2}}
    attn.roles producer warps(2) registers(40) {
    } consumer warps(8) registers(232) {
    }
  }
  return
}

// -----

func.func @writers_without_warps(%t: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-note @below {{the pipe is created here}}
    %p = attn.pipe_create readers(8) writers(2 from 0) : <<64x64xf16>, stages = 2>
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.copy_tile' op C5: expected a pipe with no writers, which one producer warp fills}}
      attn.copy_tile %t[%i, %i, %i] limit(%n) into %p[%i] alignment(8) : memref<?x?x8x64xf16>, <<64x64xf16>, stages = 2>
    } consumer warps(8) registers(240) {
    }
  }
  return
}

// -----

func.func @writers_beyond(%t: memref<?x?x8x64xf16>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-note @below {{the pipe is created here}}
    %p = attn.pipe_create readers(8) writers(2 from 3) : <<64x64xf16>, stages = 2>
    attn.roles producer warps(4) registers(40) {
      // expected-error @below {{'attn.copy_tile' op C5: expected a pipe with writers among the 4 producer warps}}
      attn.copy_tile %t[%i, %i, %i] limit(%n) into %p[%i] alignment(8) : memref<?x?x8x64xf16>, <<64x64xf16>, stages = 2>
    } consumer warps(8) registers(232) {
    }
  }
  return
}
