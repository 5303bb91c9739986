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
