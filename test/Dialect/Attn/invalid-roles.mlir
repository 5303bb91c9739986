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

// -----

func.func @counter_of_two(%c: memref<2xi32>, %tiles: i32) {
  // expected-error @below {{'attn.next_tile' op C1: expected a counter of memref<1xi32>, got 'memref<2xi32>'}}
  %t = attn.next_tile %c of(%tiles) : memref<2xi32>
  return
}

// -----

func.func @counter_of_any_size(%c: memref<?xi32>, %tiles: i32) {
  // expected-error @below {{'attn.next_tile' op C1: expected a counter of memref<1xi32>, got 'memref<?xi32>'}}
  %t = attn.next_tile %c of(%tiles) : memref<?xi32>
  return
}

// -----

func.func @counter_without_dims(%c: memref<i32>, %tiles: i32) {
  // expected-error @below {{'attn.next_tile' op C1: expected a counter of memref<1xi32>, got 'memref<i32>'}}
  %t = attn.next_tile %c of(%tiles) : memref<i32>
  return
}

// -----

func.func @wide_counter(%c: memref<1xi64>, %tiles: i32) {
  // expected-error @below {{'attn.next_tile' op operand #0 must be memref of 32-bit signless integer values, but got 'memref<1xi64>'}}
  %t = attn.next_tile %c of(%tiles) : memref<1xi64>
  return
}

// -----

func.func @draw_of_a_consumer(%n: index, %c: memref<1xi32> {attn.tile_counter}, %tiles: i32) {
  scf.forall (%i) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      // expected-error @below {{'attn.next_tile' op C6: expected to stand in a producer of one warp, from which consumers hear of it by mailbox}}
      %t = attn.next_tile %c of(%tiles) : memref<1xi32>
    }
  }
  return
}

// -----

func.func @draw_of_four_warps(%n: index, %c: memref<1xi32> {attn.tile_counter}, %tiles: i32) {
  scf.forall (%i) in (%n) {
    attn.roles producer warps(4) registers(40) {
      scf.for %j = %i to %n step %n {
        // expected-error @below {{'attn.next_tile' op C6: expected to stand in a producer of one warp, from which consumers hear of it by mailbox}}
        %t = attn.next_tile %c of(%tiles) : memref<1xi32>
      }
    } consumer warps(8) registers(232) {
    }
  }
  return
}

// -----

func.func @counter_without_mark(%n: index, %c: memref<1xi32>, %tiles: i32) {
  scf.forall (%i) in (%n) {
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.next_tile' op C2: expected the counter to be an argument of the kernel with attn.tile_counter, which the runtime provides}}
      %t = attn.next_tile %c of(%tiles) : memref<1xi32>
    } consumer warps(8) registers(240) {
    }
  }
  return
}

// -----

func.func @counter_of_its_own(%n: index, %tiles: i32) {
  %c = memref.alloc() : memref<1xi32>
  scf.forall (%i) in (%n) {
    attn.roles producer registers(24) {
      // expected-error @below {{C2: expected the counter to be an argument of the kernel with attn.tile_counter}}
      %t = attn.next_tile %c of(%tiles) : memref<1xi32>
    } consumer warps(8) registers(240) {
    }
  }
  return
}

// -----

func.func @message_of_a_consumer(%n: index) {
  scf.forall (%i) in (%n) {
    %m = attn.mailbox_create readers(8) : <values = 1, stages = 2>
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      scf.for %j = %i to %n step %n {
        // expected-error @below {{'attn.mailbox_put' op C3: puts a message into a mailbox among the consumers, expected it in the producer}}
        attn.mailbox_put %m[%j] (%i) : <values = 1, stages = 2>
      }
    }
  }
  return
}

// -----

func.func @no_readers_of_messages() {
  // expected-error @below {{'attn.mailbox_create' op attribute 'readers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %m = attn.mailbox_create readers(0) : <values = 1, stages = 2>
  return
}

// -----

func.func @offset_of_messages() {
  // expected-error @below {{'attn.mailbox_create' op C1: expected offset to be a multiple of 16 and not negative, got 24}}
  %m = attn.mailbox_create readers(8) offset = 24 : <values = 1, stages = 2>
  return
}

// -----

func.func @negative_offset_of_messages() {
  // expected-error @below {{'attn.mailbox_create' op C1: expected offset to be a multiple of 16 and not negative, got -16}}
  %m = attn.mailbox_create readers(8) offset = -16 : <values = 1, stages = 2>
  return
}

// -----

func.func @passes_too_few(%i: index, %m: !attn.mailbox<values = 2, stages = 2>) {
  // expected-error @below {{'attn.mailbox_pass' op C1: expected as many operands as the mailbox's 2 values, got 1}}
  %a, %b = attn.mailbox_pass %m[%i] (%i) : <values = 2, stages = 2> -> index, index
  return
}

// -----

func.func @passes_on_too_many(%i: index, %m: !attn.mailbox<values = 2, stages = 2>) {
  // expected-error @below {{'attn.mailbox_pass' op C1: expected as many results as the mailbox's 2 values, got 3}}
  %a:3 = attn.mailbox_pass %m[%i] (%i, %i) : <values = 2, stages = 2> -> index, index, index
  return
}

// -----

func.func @puts_too_many(%i: index, %m: !attn.mailbox<values = 2, stages = 2>) {
  // expected-error @below {{'attn.mailbox_put' op C1: expected as many operands as the mailbox's 2 values, got 3}}
  attn.mailbox_put %m[%i] (%i, %i, %i) : <values = 2, stages = 2>
  return
}

// -----

func.func @gets_too_few(%i: index, %m: !attn.mailbox<values = 2, stages = 2>) {
  // expected-error @below {{'attn.mailbox_get' op C1: expected as many results as the mailbox's 2 values, got 1}}
  %a = attn.mailbox_get %m[%i] : <values = 2, stages = 2> -> index
  return
}

// -----

func.func @gets_numbers_of_32_bits(%i: index, %m: !attn.mailbox<values = 1, stages = 2>) {
  // expected-error @below {{'attn.mailbox_get' op result #0 must be variadic of index, but got 'i32'}}
  %a = attn.mailbox_get %m[%i] : <values = 1, stages = 2> -> i32
  return
}
