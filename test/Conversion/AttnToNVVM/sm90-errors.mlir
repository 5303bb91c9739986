// What convert-attn-to-nvvm refuses in kernels of wgmma: ops that earlier passes have to finish or
// rewrite, and products and stores of shapes that no instruction has.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -convert-attn-to-nvvm

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
func.func @no_readers(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op has no offset, barriers or readers; run attn-insert-pipes and attn-allocate-smem first}}
    // expected-error @below {{failed to legalize operation 'attn.pipe_create'}}
    %p = attn.pipe_create offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
func.func @no_barriers(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{has no offset, barriers or readers}}
    // expected-error @below {{failed to legalize operation 'attn.pipe_create'}}
    %p = attn.pipe_create readers(4) offset = 0 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
func.func @offset(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op expected offset to be a multiple of 1024, which the swizzle of boxes repeats at, got 16}}
    // expected-error @below {{failed to legalize operation 'attn.pipe_create'}}
    %p = attn.pipe_create readers(4) offset = 16 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

func.func @mailbox_without_offset(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.mailbox_create' op has no offset; run attn-allocate-smem first}}
    // expected-error @below {{failed to legalize operation 'attn.mailbox_create'}}
    %m = attn.mailbox_create readers(4) : <values = 1, stages = 2>
    attn.roles producer registers(24) {
      attn.mailbox_put %m[%i] (%b) : <values = 1, stages = 2>
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 64 : i64}
  return
}

// -----

func.func @undivided_message(%n: index, %i: index, %seen: memref<?xindex>) {
  scf.forall (%b) in (%n) {
    %m = attn.mailbox_create readers(4) offset = 0 : <values = 1, stages = 2>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      // expected-error @below {{failed to legalize operation 'attn.mailbox_pass'}}
      %a = attn.mailbox_pass %m[%i] (%b) : <values = 1, stages = 2> -> index
      memref.store %a, %seen[%b] : memref<?xindex>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 64 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @copy_without_map(%n: index, %i: index, %k: !m) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.copy_tile' op has no tensor map; run attn-assign-tensor-maps first}}
      // expected-error @below {{failed to legalize operation 'attn.copy_tile'}}
      attn.copy_tile %k[%b, %i, %i] limit(%n) into %p[%i] alignment(16) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!o = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @store_without_map(%n: index, %i: index, %o: !m) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      %z = attn.fill 0.0 : !o
      // expected-error @below {{'attn.bulk_store' op has no tensor map; run attn-assign-tensor-maps first}}
      // expected-error @below {{failed to legalize operation 'attn.bulk_store'}}
      attn.bulk_store %z via %t, %o[%b, %i, %i] : !o, !t, !m
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!c = !attn.tile<64x16xf32, #attn.fragment<acc, warps = 4, split = rows>>
!a = !attn.tile<64x16xf16, #attn.fragment<a, warps = 4, split = rows>>
func.func @operand_in_registers(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %c = attn.fill 0.0 : !c
      %a = attn.convert %c : !c -> !a
      // expected-error @below {{'attn.mma_start' op expected operand b in shared memory boxes of all its rows, got '!attn.tile<64x16xf16, #attn.fragment<a}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %a, %a transpose_b : !a, !a -> !attn.in_flight<!s>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x40xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @depth(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.mma_start' op expected a depth that is a multiple of 16, got 40}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %t, %t transpose_b : !t, !t -> !attn.in_flight<!s>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<264x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!q = !attn.tile<64x64xf16, #attn.boxed>
!pq = !attn.pipe<!q, stages = 1>
!s = !attn.tile<64x264xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @columns(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    %pq = attn.pipe_create readers(4) offset = 40960 barriers = 65552 : !pq
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      %q = attn.pipe_tile %pq[%i] : !pq -> !q
      // expected-error @below {{'attn.mma_start' op expected at most 256 columns in a product, got 264}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %q, %t transpose_b : !q, !t -> !attn.in_flight<!s>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<128x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!s = !attn.tile<128x128xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @rows(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.mma_start' op expected accumulators of 64 rows for each warpgroup, got '!attn.tile<128x128xf32}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %t, %t transpose_b : !t, !t -> !attn.in_flight<!s>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = partial>>
func.func @partial(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.mma_start' op expected accumulators of 64 rows for each warpgroup, got '!attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = partial>>'}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %t, %t transpose_b : !t, !t -> !attn.in_flight<!s>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @unstarted_product(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      %z = attn.fill 0.0 : !s
      // expected-error @below {{failed to legalize operation 'attn.tile_mma'}}
      %s = attn.tile_mma %t, %t, %z transpose_b : !t, !t, !s
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<64x64xf16, #attn.boxed>
!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @scratch(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %s = attn.fill 0.0 : !s
      // expected-error @below {{failed to legalize operation 'attn.local_store'}}
      %t = attn.local_store %s offset = 0 : !s -> !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!a = !attn.tile<64x64xf16, #attn.fragment<acc, warps = 4, split = rows>>
func.func @accumulators_of_f16(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %s = attn.fill 0.0 : !s
      // expected-error @below {{failed to legalize operation 'attn.convert'}}
      %a = attn.convert %s : !s -> !a
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

func.func @rows_with_wgmma(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op has a value in shared memory that instruction = wgmma cannot read}}
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : <<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>, stages = 1>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

func.func @roles_without_wgmma(%n: index) {
  // expected-error @below {{'scf.forall' op expected no attn.roles with instruction = mma, got 1}}
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = mma>, attn.smem_bytes = 0 : i64}
  return
}

// -----

func.func @two_roles(%n: index) {
  // expected-error @below {{'scf.forall' op expected one attn.roles with instruction = wgmma, got 2}}
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<128x64xf16, #attn.boxed<parts = 4>>
!p = !attn.pipe<!t, stages = 4, parts = 4>
func.func @small_parts(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op expected parts of 64 rows, those of a warpgroup, got 32}}
    // expected-error @below {{failed to legalize operation 'attn.pipe_create'}}
    %p = attn.pipe_create readers(2) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      attn.pipe_ready %p[%i] : !p
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<128x64xf16, #attn.boxed<parts = 2>>
!p = !attn.pipe<!t, stages = 2, parts = 2>
!s = !attn.tile<128x128xf32, #attn.fragment<acc, warps = 8, split = rows>>
func.func @keys_in_parts(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      // expected-error @below {{'attn.mma_start' op expected operand b in shared memory boxes of all its rows, got '!attn.tile<128x64xf16, #attn.boxed<parts = 2>>'}}
      // expected-error @below {{failed to legalize operation 'attn.mma_start'}}
      %f = attn.mma_start %t, %t transpose_b : !t, !t -> !attn.in_flight<!s>
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}

// -----

!t = !attn.tile<128x64xf16, #attn.boxed<parts = 2>>
!p = !attn.pipe<!t, stages = 3, parts = 2>
func.func @readers_of_parts(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op expected 4 readers (8 consumer warps of the schedule, parts = 2), got 8}}
    %p = attn.pipe_create readers(8) offset = 0 barriers = 65536 : !p
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      attn.pipe_ready %p[%i] : !p
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 65600 : i64}
  return
}
