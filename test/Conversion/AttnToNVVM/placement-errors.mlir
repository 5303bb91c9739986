// Placements of pipes, mailboxes and scratch that were edited: none may lie over another, or past the
// CTA's shared memory.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -convert-attn-to-nvvm

!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 2>
func.func @messages_over_tiles(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-note @below {{which are placed here}}
    %p = attn.pipe_create readers(4) offset = 1024 barriers = 32768 : !p
    // expected-error @below {{'attn.mailbox_create' op has its messages at bytes [17392, 17456) of shared memory, expected them not to overlap the tiles at [1024, 17408); attn-allocate-smem places them anew}}
    %m = attn.mailbox_create readers(4) offset = 17392 : <values = 1, stages = 2>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65536 : i64}
  return
}

// -----

// The mbarriers behind the messages are the mailbox's too.
!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 2>
func.func @messages_over_barriers(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-note @below {{which are placed here}}
    %p = attn.pipe_create readers(4) offset = 0 barriers = 16432 : !p
    // expected-error @below {{has its messages at bytes [16384, 16448) of shared memory, expected them not to overlap the barriers at [16432, 16464)}}
    %m = attn.mailbox_create readers(4) offset = 16384 : <values = 1, stages = 2>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65536 : i64}
  return
}

// -----

func.func @mailbox_over_mailbox(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-note @below {{which are placed here}}
    %m = attn.mailbox_create readers(4) offset = 0 : <values = 1, stages = 2>
    // expected-error @below {{has its messages at bytes [0, 32) of shared memory, expected them not to overlap the messages at [0, 64)}}
    %l = attn.mailbox_create readers(4) offset = 0 : <values = 1, stages = 1>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 65536 : i64}
  return
}

// -----

func.func @messages_past_the_end(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.mailbox_create' op has its messages at bytes [4096, 4160) of shared memory, expected them within the 4128 of attn.smem_bytes; attn-allocate-smem places them anew}}
    %m = attn.mailbox_create readers(4) offset = 4096 : <values = 1, stages = 2>
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 4128 : i64}
  return
}

// -----

!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 2>
func.func @barriers_past_the_end(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op has its barriers at bytes [16384, 16416) of shared memory, expected them within the 16400 of attn.smem_bytes}}
    %p = attn.pipe_create readers(4) offset = 0 barriers = 16384 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 16400 : i64}
  return
}

// -----

!p = !attn.pipe<!attn.tile<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>, stages = 1>
func.func @tiles_over_tiles(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-note @below {{which are placed here}}
    %k = attn.pipe_create offset = 0 : !p
    // expected-error @below {{'attn.pipe_create' op has its tiles at bytes [4096, 12288) of shared memory, expected them not to overlap the tiles at [0, 8192)}}
    %v = attn.pipe_create offset = 4096 : !p
  } {attn.schedule = #attn.schedule<>, attn.smem_bytes = 16384 : i64}
  return
}

// -----

!s = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!t = !attn.tile<64x64xf16, #attn.shared<pitch = 128, xor_mask = 7>>
func.func @scratch_over_tiles(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-note @below {{which are placed here}}
    %k = attn.pipe_create offset = 0 : !attn.pipe<!t, stages = 1>
    %s = attn.fill 0.0 : !s
    // expected-error @below {{'attn.local_store' op has its scratch at bytes [0, 8192) of shared memory, expected them not to overlap the tiles at [0, 8192)}}
    %t = attn.local_store %s offset = 0 : !s -> !t
  } {attn.schedule = #attn.schedule<instruction = fma>, attn.smem_bytes = 16384 : i64}
  return
}

// -----

// An end beyond 64 bits.
!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 1>
func.func @far(%n: index) {
  scf.forall (%b) in (%n) {
    // expected-error @below {{'attn.pipe_create' op has its tiles at bytes [9223372036854774784, 9223372036854782976) of shared memory, expected them within the 8208 of attn.smem_bytes}}
    %p = attn.pipe_create readers(4) offset = 9223372036854774784 barriers = 8192 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}
