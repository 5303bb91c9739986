// Products of warpgroups: descriptors of both operands, A in shared memory and in registers, B as it
// lies and transposed, what fences and waits tie. A descriptor holds the address / 16, the leading
// and the stride offset / 16 from bits 16 and 32 on, and the 128-byte swizzle (1 << 62).
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// S = Q K^T: both K-major, 1024 bytes between eight rows, so 1 << 62 | 64 << 32 | 1 << 16. A step of
// 16 is 32 bytes further; the fifth is in the next box, behind 128 rows of Q and 24 of K. Each
// warpgroup reads its own 64 rows of Q. Nothing in registers is written, so nothing is tied.
// CHECK-LABEL: func.func @scores
// CHECK: nvvm.setmaxregister increase
// CHECK-NEXT: attn_nv.wgmma_fence{{$}}
// CHECK-NEXT: %[[GROUP:.*]] = arith.divui %{{.*}}, %c4_i32
// CHECK-NEXT: %[[ROWS:.*]] = arith.muli %[[GROUP]], %c8192_i32
// CHECK-NEXT: %[[Q:.*]] = llvm.getelementptr %[[SMEM:.*]][%[[ROWS]]]
// CHECK-NEXT: %[[QADDRESS:.*]] = llvm.ptrtoint %[[Q]] : !llvm.ptr<3> to i32
// CHECK-NEXT: %[[QUNITS:.*]] = arith.divui %[[QADDRESS]], %c16_i32
// CHECK-NEXT: %[[QSTART:.*]] = llvm.zext %[[QUNITS]] : i32 to i64
// CHECK-NEXT: %[[Q0:.*]] = arith.addi %[[QSTART]], %c4611686293305360384_i64
// CHECK-NEXT: %[[K:.*]] = llvm.getelementptr %[[SMEM]][32768]
// CHECK-NEXT: %[[KADDRESS:.*]] = llvm.ptrtoint %[[K]] : !llvm.ptr<3> to i32
// CHECK-NEXT: %[[KUNITS:.*]] = arith.divui %[[KADDRESS]], %c16_i32
// CHECK-NEXT: %[[KSTART:.*]] = llvm.zext %[[KUNITS]] : i32 to i64
// CHECK-NEXT: %[[K0:.*]] = arith.addi %[[KSTART]], %c4611686293305360384_i64
// CHECK-NEXT: %[[S0:.*]]:12 = attn_nv.wgmma n = 24, a(%[[Q0]]) b(%[[K0]]) : bf16, bf16
// CHECK-NEXT: %[[Q1:.*]] = arith.addi %[[QSTART]], %c4611686293305360386_i64
// CHECK-NEXT: %[[K1:.*]] = arith.addi %[[KSTART]], %c4611686293305360386_i64
// CHECK-NEXT: %[[S1:.*]]:12 = attn_nv.wgmma n = 24, a(%[[Q1]]) b(%[[K1]]) acc(%[[S0]]#0, {{.*}}, %[[S0]]#11) : bf16, bf16
// CHECK-COUNT-2: attn_nv.wgmma n = 24
// CHECK-NEXT: %[[Q4:.*]] = arith.addi %[[QSTART]], %c4611686293305361408_i64
// CHECK-NEXT: %[[K4:.*]] = arith.addi %[[KSTART]], %c4611686293305360576_i64
// CHECK-NEXT: %[[S4:.*]]:12 = attn_nv.wgmma n = 24, a(%[[Q4]]) b(%[[K4]])
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: attn_nv.wgmma_wait 0 acc(%[[S4]]#0, {{.*}}, %[[S4]]#11)
// CHECK-NOT: attn_nv.wgmma
!q = !attn.tile<128x80xbf16, #attn.boxed>
!k = !attn.tile<24x80xbf16, #attn.boxed>
!pq = !attn.pipe<!q, stages = 1>
!pk = !attn.pipe<!k, stages = 1>
!s = !attn.tile<128x24xf32, #attn.fragment<acc, warps = 8, split = rows>>
func.func @scores(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create readers(8) offset = 0 barriers = 49152 : !pq
    %pk = attn.pipe_create readers(8) offset = 32768 barriers = 49168 : !pk
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      %q = attn.pipe_tile %pq[%i] : !pq -> !q
      %k = attn.pipe_tile %pk[%i] : !pk -> !k
      %f = attn.mma_start %q, %k transpose_b : !q, !k -> !attn.in_flight<!s>
      %s = attn.mma_wait %f pending(0) : !attn.in_flight<!s> -> !s
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 49184 : i64}
  return
}

// -----

// O += P V: P in four registers a step, V MN-major. The leading offset is that of the next 64
// columns, 32 rows * 128 bytes: 1 << 62 | 64 << 32 | 256 << 16; a step of 16 keys is 2048 bytes. The
// fence ties what ordinary instructions wrote: 64 accumulators, then 8 registers of P.
// CHECK-LABEL: func.func @output
// CHECK: %[[F:.*]]:72 = attn_nv.wgmma_fence acc({{.*}}) a_registers(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
// CHECK: %[[START:.*]] = llvm.zext
// CHECK: %[[V0:.*]] = arith.addi %[[START]], %c4611686293322072064_i64
// CHECK: %[[O0:.*]]:64 = attn_nv.wgmma n = 128, a_registers(%[[F]]#64, %[[F]]#65, %[[F]]#66, %[[F]]#67) b(%[[V0]]) transpose_b acc(%[[F]]#0, {{.*}}, %[[F]]#63) : f16, f16
// CHECK: %[[V1:.*]] = arith.addi %[[START]], %c4611686293322072192_i64
// CHECK: %[[O1:.*]]:64 = attn_nv.wgmma n = 128, a_registers(%[[F]]#68, %[[F]]#69, %[[F]]#70, %[[F]]#71) b(%[[V1]]) transpose_b acc(%[[O0]]#0, {{.*}}, %[[O0]]#63) : f16, f16
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: attn_nv.wgmma_wait 1 acc(%[[O1]]#0,
!p = !attn.tile<64x32xf16, #attn.fragment<a, warps = 4, split = rows>>
!v = !attn.tile<32x128xf16, #attn.boxed>
!pv = !attn.pipe<!v, stages = 1>
!s = !attn.tile<64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>
!o = !attn.tile<64x128xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @output(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pv = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !pv
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %s = attn.fill 1.0 : !s
      %p = attn.convert %s : !s -> !p
      %v = attn.pipe_tile %pv[%i] : !pv -> !v
      %o = attn.fill 0.0 : !o
      %f = attn.mma_start %p, %v, %o : !o : !p, !v -> !attn.in_flight<!o>
      %r = attn.mma_wait %f pending(1) : !attn.in_flight<!o> -> !o
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

// A in shared memory, B MN-major, and accumulators that another product is still writing: those are
// not tied, and the fence is that of the first product. Two groups, the first one waited for.
// CHECK-LABEL: func.func @chained
// CHECK: attn_nv.wgmma_fence{{$}}
// CHECK: %[[FIRST:.*]]:32 = attn_nv.wgmma n = 64, a(%{{.*}}) b(%{{.*}}) transpose_b : bf16, bf16
// CHECK-COUNT-3: attn_nv.wgmma n = 64
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NOT: attn_nv.wgmma_fence
// CHECK: attn_nv.wgmma n = 64, a(%{{.*}}) b(%{{.*}}) transpose_b acc(
// CHECK-COUNT-2: attn_nv.wgmma n = 64
// CHECK: %[[LAST:.*]]:32 = attn_nv.wgmma n = 64
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: attn_nv.wgmma_wait 7 acc(%[[LAST]]#0,
// CHECK-NOT: attn_nv.wgmma
!t = !attn.tile<64x64xbf16, #attn.boxed>
!p = !attn.pipe<!t, stages = 1>
!o = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @chained(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%i] : !p -> !t
      %f = attn.mma_start %t, %t : !t, !t -> !attn.in_flight<!o>
      %g = attn.mma_start %t, %t, %f : !attn.in_flight<!o> : !t, !t -> !attn.in_flight<!o>
      %r = attn.mma_wait %g pending(7) : !attn.in_flight<!o> -> !o
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

// Products that start one after the other share one fence, of the registers of both; one wait takes
// both products, and passes a tile through that was ready before.
// CHECK-LABEL: func.func @together
// CHECK: %[[F:.*]]:12 = attn_nv.wgmma_fence acc(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) a_registers(
// CHECK-NOT: attn_nv.wgmma_fence
// CHECK: %[[S:.*]]:4 = attn_nv.wgmma n = 8, a_registers(%[[F]]#4, %[[F]]#5, %[[F]]#6, %[[F]]#7) b(%{{.*}}) : f16, f16
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: %[[O:.*]]:4 = attn_nv.wgmma n = 8, a_registers(%[[F]]#8, %[[F]]#9, %[[F]]#10, %[[F]]#11) b(%{{.*}}) acc(%[[F]]#0, %[[F]]#1, %[[F]]#2, %[[F]]#3) : f16, f16
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: attn_nv.wgmma_wait 0 acc(%[[S]]#0, %[[S]]#1, %[[S]]#2, %[[S]]#3, %[[O]]#0, %[[O]]#1, %[[O]]#2, %[[O]]#3, %cst, %cst, %cst, %cst)
// CHECK-NOT: attn_nv.wgmma
!k = !attn.tile<8x16xf16, #attn.boxed>
!pk = !attn.pipe<!k, stages = 1>
!a = !attn.tile<64x16xf16, #attn.fragment<a, warps = 4, split = rows>>
!f = !attn.tile<64x16xf32, #attn.fragment<acc, warps = 4, split = rows>>
!s = !attn.tile<64x8xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @together(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pk = attn.pipe_create readers(4) offset = 0 barriers = 1024 : !pk
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %one = attn.fill 1.0 : !f
      %two = attn.fill 2.0 : !f
      %a = attn.convert %one : !f -> !a
      %c = attn.convert %two : !f -> !a
      %ready = attn.fill 3.0 : !s
      %k = attn.pipe_tile %pk[%i] : !pk -> !k
      %f = attn.mma_start %a, %k transpose_b : !a, !k -> !attn.in_flight<!s>
      %g = attn.mma_start %c, %k, %ready : !s transpose_b : !a, !k -> !attn.in_flight<!s>
      %s, %o, %r = attn.mma_wait %f, %g, %ready pending(0) : !attn.in_flight<!s>, !attn.in_flight<!s>, !s -> !s, !s, !s
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 1040 : i64}
  return
}

// -----

// What stands between two products and touches memory keeps their fences apart.
// CHECK-LABEL: func.func @apart
// CHECK: attn_nv.wgmma_fence
// CHECK: attn_nv.wgmma n = 256, a(%{{.*}}) b(%{{.*}}) : f16, f16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: attn_nv.mbarrier_wait
// CHECK: attn_nv.wgmma_fence
// CHECK: attn_nv.wgmma n = 256
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: attn_nv.wgmma_wait 0 acc(
!q = !attn.tile<64x16xf16, #attn.boxed>
!k = !attn.tile<256x16xf16, #attn.boxed>
!pq = !attn.pipe<!q, stages = 1>
!pk = !attn.pipe<!k, stages = 1>
!s = !attn.tile<64x256xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @apart(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create readers(4) offset = 0 barriers = 49152 : !pq
    %pk = attn.pipe_create readers(4) offset = 8192 barriers = 49168 : !pk
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %q = attn.pipe_tile %pq[%i] : !pq -> !q
      %k = attn.pipe_tile %pk[%i] : !pk -> !k
      %f = attn.mma_start %q, %k transpose_b : !q, !k -> !attn.in_flight<!s>
      attn.pipe_ready %pk[%i] : !pk
      %g = attn.mma_start %q, %k transpose_b : !q, !k -> !attn.in_flight<!s>
      %s = attn.mma_wait %f pending(0) : !attn.in_flight<!s> -> !s
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 49184 : i64}
  return
}

// -----

// Q in registers: one ldmatrix for each 16 columns of a warp's 16 rows, under the swizzle, whose
// fifth is in the next box; their registers are what the products take, in that order.
// CHECK-LABEL: func.func @loaded
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[CHUNK:.*]] = arith.xori
// CHECK-NEXT: %[[SWIZZLE:.*]] = arith.muli %[[CHUNK]], %c16_i32
// CHECK-NEXT: %[[BYTES:.*]] = arith.addi %{{.*}}, %[[SWIZZLE]]
// CHECK-NEXT: %[[BLOCK0:.*]] = llvm.getelementptr %{{.*}}[%[[BYTES]]]
// CHECK-NEXT: %[[Q0:.*]] = nvvm.ldmatrix %[[BLOCK0]] {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
// CHECK-COUNT-4: llvm.extractvalue %[[Q0]]
// CHECK-NEXT: arith.xori %[[SWIZZLE]], %c32_i32
// CHECK-COUNT-3: nvvm.ldmatrix
// CHECK: %[[BLOCK4:.*]] = llvm.getelementptr %[[BLOCK0]][8192]
// CHECK-NEXT: nvvm.ldmatrix %[[BLOCK4]]
// CHECK-NOT: nvvm.ldmatrix
// CHECK: %[[F:.*]]:20 = attn_nv.wgmma_fence a_registers(
// CHECK: attn_nv.wgmma n = 8, a_registers(%[[F]]#0, %[[F]]#1, %[[F]]#2, %[[F]]#3) b(
// CHECK-COUNT-3: attn_nv.wgmma n = 8
// CHECK: attn_nv.wgmma n = 8, a_registers(%[[F]]#16, %[[F]]#17, %[[F]]#18, %[[F]]#19) b(
!q = !attn.tile<64x80xbf16, #attn.boxed>
!k = !attn.tile<8x80xbf16, #attn.boxed>
!pq = !attn.pipe<!q, stages = 1>
!pk = !attn.pipe<!k, stages = 1>
!a = !attn.tile<64x80xbf16, #attn.fragment<a, warps = 4, split = rows>>
!s = !attn.tile<64x8xf32, #attn.fragment<acc, warps = 4, split = rows>>
func.func @loaded(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create readers(4) offset = 0 barriers = 32768 : !pq
    %pk = attn.pipe_create readers(4) offset = 16384 barriers = 32784 : !pk
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %q = attn.pipe_tile %pq[%i] : !pq -> !q
      %a = attn.local_load %q : !q -> !a
      %k = attn.pipe_tile %pk[%i] : !pk -> !k
      %f = attn.mma_start %a, %k transpose_b : !a, !k -> !attn.in_flight<!s>
      %s = attn.mma_wait %f pending(0) : !attn.in_flight<!s> -> !s
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 32800 : i64}
  return
}

// -----

// Operand a in parts: the stage holds this warpgroup's rows alone, 64 of them to a box. A depth of more
// than eight steps: the descriptors of a are made of the address of b too, whose bits from 18 on are
// zero, so that they are computed where b changes.
// CHECK-LABEL: func.func @deep_parts
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[STAGE:.*]] = arith.remui %{{.*}}, %c3_i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c24576_i32
// CHECK: %[[B:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}]
// CHECK-NEXT: %[[ADDRESS:.*]] = llvm.ptrtoint %[[B]] : !llvm.ptr<3> to i32
// CHECK-NEXT: %[[ZERO:.*]] = arith.divui %[[ADDRESS]], %c262144_i32
// CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[BYTES]], %[[ZERO]]
// CHECK-NEXT: %[[A:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]]
// CHECK-NEXT: llvm.ptrtoint %[[A]]
// CHECK: %[[START:.*]] = llvm.zext
// CHECK: %[[A0:.*]] = arith.addi %[[START]], %c4611686293305360384_i64
// CHECK: attn_nv.wgmma n = 16, a(%[[A0]])
// CHECK-COUNT-3: attn_nv.wgmma n = 16
// The next box of a lies behind 64 rows.
// CHECK-NEXT: %[[A4:.*]] = arith.addi %[[START]], %c4611686293305360896_i64
// CHECK: attn_nv.wgmma n = 16, a(%[[A4]])
// CHECK-COUNT-7: attn_nv.wgmma n = 16
// CHECK-NOT: attn_nv.wgmma n
!q = !attn.tile<128x192xbf16, #attn.boxed<parts = 2>>
!k = !attn.tile<16x192xbf16, #attn.boxed>
!pq = !attn.pipe<!q, stages = 3, parts = 2>
!pk = !attn.pipe<!k, stages = 2>
!s = !attn.tile<128x16xf32, #attn.fragment<acc, warps = 8, split = rows>>
func.func @deep_parts(%n: index, %i: index) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create readers(4) offset = 0 barriers = 86016 : !pq
    %pk = attn.pipe_create readers(8) offset = 73728 barriers = 86064 : !pk
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      %q = attn.pipe_tile %pq[%i] : !pq -> !q
      %k = attn.pipe_tile %pk[%i] : !pk -> !k
      %f = attn.mma_start %q, %k transpose_b : !q, !k -> !attn.in_flight<!s>
      %s = attn.mma_wait %f pending(0) : !attn.in_flight<!s> -> !s
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 86096 : i64}
  return
}
