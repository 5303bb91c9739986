// DEFINE: %{placed} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-insert-pipes),canonicalize,cse,func.func(attn-assign-layouts)
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{placed})" | FileCheck %s --check-prefix=BEFORE
// RUN: attn-opt %s -split-input-file --pass-pipeline="builtin.module(%{placed},func.func(attn-allocate-smem))" | FileCheck %s

// BEFORE-NOT: offset =
// BEFORE-NOT: attn.smem_bytes

// Q 8192 bytes, two stages of 4096 for K and for V; the epilogue overlays them.
// CHECK-LABEL: func @two_stages
// CHECK: attn.pipe_create offset = 0 :
// CHECK: attn.pipe_create offset = 8192 :
// CHECK: attn.pipe_create offset = 16384 :
// CHECK: attn.smem_bytes = 24576 : i64
!t = memref<?x?x8x64xf16>
func.func @two_stages(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<kv_tile = 32, stages = 2>)
  return
}

// -----

// P of the generic path comes behind the pipes.
// CHECK-LABEL: func @fma
// CHECK: attn.pipe_create offset = 16384 :
// CHECK: attn.local_store {{.*}} offset = 24576 :
// CHECK: attn.smem_bytes = 32768 : i64
!t = memref<?x?x8x64xf16>
func.func @fma(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) schedule(<instruction = fma>)
  return
}

// -----

// Each pass over the keys has buffers of its own: three Q, three K, one V.
// CHECK-LABEL: func @naive
// CHECK: attn.smem_bytes = 57344 : i64
!t = memref<?x?x8x64xf16>
func.func @naive(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) schedule(<algorithm = naive>)
  return
}

// -----

// The merge over warps needs more than the pipes: 64 x 64 f32, and m and l of four warps.
// CHECK-LABEL: func @keys
// CHECK: attn.smem_bytes = 18432 : i64
!t = memref<?x?x8x64xf16>
func.func @keys(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               schedule(<q_tile = 64, kv_tile = 16, warp_split = keys>)
  return
}

// -----

// A merge of partial results needs the way to 16-byte stores alone; f32 not even that.
// CHECK-LABEL: func @merge
// CHECK: attn.smem_bytes = 8192 : i64
// CHECK-LABEL: func @merge_f32
// CHECK: attn.smem_bytes = 0 : i64
func.func @merge(%po: memref<2x?x?x8x64xf32>, %pl: memref<2x?x8x?xf32>, %o: memref<?x?x8x64xf16>) {
  attn.merge_states ins(%po, %pl : memref<2x?x?x8x64xf32>, memref<2x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf16>) schedule(<>)
  return
}
func.func @merge_f32(%po: memref<2x?x?x8x64xf32>, %pl: memref<2x?x8x?xf32>,
                     %o: memref<?x?x8x64xf32>) {
  attn.merge_states ins(%po, %pl : memref<2x?x?x8x64xf32>, memref<2x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf32>) schedule(<>)
  return
}

// -----

// Each warp writes the rows of O over those rows of Q that it has in registers: no need to wait for
// the other warps. Not so where Q is read from shared memory to the end, or has other rows.
// CHECK-LABEL: func @own_rows
// CHECK: attn.store_tile {{.*}} synced
// CHECK-LABEL: func @q_stays
// CHECK-NOT: synced : !attn
// CHECK-LABEL: func @wider_o
// CHECK-NOT: synced : !attn
!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
!w = memref<?x?x8x128xf16, strided<[?, ?, ?, 1]>>
func.func @own_rows(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
               schedule(<q_in_registers = true>)
  return
}
func.func @q_stays(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16) schedule(<>)
  return
}
func.func @wider_o(%q: !t, %k: !t, %v: !w, %o: !w, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !w) outs(%o : !w) scale(%s) alignment(16)
               schedule(<q_in_registers = true>)
  return
}

// -----

// Barriers of pipes lie behind all buffers, 16 bytes a stage. Mailboxes follow them, wherever they
// stand: 16 bytes a message, however many values it has, and then as many for each stage's barriers.
// CHECK-LABEL: func @mailboxes
// CHECK: attn.mailbox_create readers(8) offset = 65600 : <values = 1, stages = 3>
// CHECK: attn.pipe_create readers(8) offset = 0 barriers = 65536 : <<128x64xf16, #attn.boxed>, stages = 2>
// CHECK: attn.mailbox_create readers(8) offset = 65696 : <values = 4, stages = 2>
// CHECK: attn.pipe_create readers(8) offset = 32768 barriers = 65568 : <<64x128xf16, #attn.boxed>, stages = 2>
// CHECK: attn.smem_bytes = 65760 : i64
!q = !attn.pipe<!attn.tile<128x64xf16>, stages = 2>
!k = !attn.pipe<!attn.tile<64x128xf16>, stages = 2>
func.func @mailboxes(%n: index) {
  scf.forall (%cta) in (%n) {
    %first = attn.mailbox_create readers(8) : <values = 1, stages = 3>
    %q = attn.pipe_create readers(8) : !q
    %second = attn.mailbox_create readers(8) : <values = 4, stages = 2>
    %k = attn.pipe_create readers(8) : !k
  } {attn.alignment = 16 : i64, attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>}
  return
}
