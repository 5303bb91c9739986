// O through Q's buffer and out by tensor map: a warp writes its 16 rows in blocks of 16 columns under
// the 128-byte swizzle, then one thread of the warpgroup copies the warpgroup's 64 rows box by box.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @store
// CHECK-SAME: (%{{.*}}: memref<{{[^%]*}}, %[[MAP:.*]]: !llvm.ptr {attn.tensor_map_of = 0 : i64}, %{{.*}}: index, %[[ROW:.*]]: index, %[[HEAD:.*]]: index)
// CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @attn_shared_memory
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[BATCH:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.setmaxregister increase
// Both numbers anew, by shuffles that nothing moves out of a loop over tiles.
// CHECK-NEXT: %[[THREAD:.*]] = nvvm.shfl.sync bfly %c-1_i32, %[[TID]], %c0_i32
// CHECK-NEXT: %[[NUMBER:.*]] = arith.divui %[[THREAD]], %c32_i32
// CHECK-NEXT: %[[WARP:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[NUMBER]]
// Lane l addresses row l mod 8 of matrix l / 8: the lower eight rows, then the right eight columns.
// CHECK-NEXT: %[[LANE:.*]] = arith.andi %[[THREAD]], %c31_i32
// CHECK-NEXT: %[[IN:.*]] = arith.andi %[[LANE]], %c7_i32
// CHECK-NEXT: %[[MATRIX:.*]] = arith.divui %[[LANE]], %c8_i32
// CHECK-NEXT: %[[LOWER:.*]] = arith.andi %[[MATRIX]], %c1_i32
// CHECK-NEXT: %[[RIGHT:.*]] = arith.divui %[[LANE]], %c16_i32
// CHECK-NEXT: %[[WARPROW:.*]] = arith.muli %[[WARP]], %c16_i32
// CHECK-NEXT: %[[LOWERROW:.*]] = arith.muli %[[LOWER]], %c8_i32
// CHECK-NEXT: %[[BLOCKROW:.*]] = arith.addi %[[LOWERROW]], %[[IN]]
// CHECK-NEXT: %[[TILEROW:.*]] = arith.addi %[[WARPROW]], %[[BLOCKROW]]
// CHECK-NEXT: %[[ROWBYTES:.*]] = arith.muli %[[TILEROW]], %c128_i32
// CHECK-NEXT: %[[CHUNK:.*]] = arith.xori %[[RIGHT]], %[[IN]]
// CHECK-NEXT: %[[SWIZZLE:.*]] = arith.muli %[[CHUNK]], %c16_i32
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"
// CHECK: %[[BYTES0:.*]] = arith.addi %[[ROWBYTES]], %[[SWIZZLE]]
// CHECK-NEXT: %[[BLOCK0:.*]] = llvm.getelementptr %[[SMEM]][%[[BYTES0]]]
// CHECK-NEXT: nvvm.stmatrix %[[BLOCK0]], {{.*}}layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : !llvm.ptr<3>, i32, i32, i32, i32
// CHECK: %[[SWIZZLE1:.*]] = arith.xori %[[SWIZZLE]], %c32_i32
// CHECK-NEXT: %[[BYTES1:.*]] = arith.addi %[[ROWBYTES]], %[[SWIZZLE1]]
// CHECK-NEXT: %[[BLOCK1:.*]] = llvm.getelementptr %[[SMEM]][%[[BYTES1]]]
// CHECK-NEXT: nvvm.stmatrix %[[BLOCK1]],
// CHECK-COUNT-2: nvvm.stmatrix
// The fifth block begins the next box, behind all 128 rows.
// CHECK: %[[BLOCK4:.*]] = llvm.getelementptr %[[BLOCK0]][16384]
// CHECK-NEXT: nvvm.stmatrix %[[BLOCK4]],
// CHECK: nvvm.stmatrix
// CHECK-NOT: nvvm.stmatrix
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// Named barriers from 8 on, of the warpgroup alone.
// CHECK-NEXT: %[[GROUP:.*]] = arith.divui %[[WARP]], %c4_i32
// CHECK-NEXT: %[[ID:.*]] = arith.addi %[[GROUP]], %c8_i32
// CHECK-NEXT: nvvm.barrier id = %[[ID]] number_of_threads = %c128_i32
// CHECK: %[[IN_GROUP:.*]] = arith.remui %[[THREAD]], %c128_i32
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[IN_GROUP]], %c0_i32
// CHECK: %[[ROW32:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK: %[[GROUPROW:.*]] = arith.muli %[[GROUP]], %c64_i32
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROW32]], %[[GROUPROW]]
// CHECK: %[[HEAD32:.*]] = arith.index_cast %[[HEAD]] : index to i32
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK-NEXT:   %[[SHARE:.*]] = arith.muli %[[GROUP]], %c8192_i32
// CHECK-NEXT:   %[[BOX0:.*]] = llvm.getelementptr %[[SMEM]][%[[SHARE]]]
// CHECK-NEXT:   nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %[[BOX0]], box[%c0_i32, %[[FIRST]], %[[HEAD32]], %[[BATCH]]] : !llvm.ptr, <3>
// CHECK-NEXT:   %[[BOX1:.*]] = llvm.getelementptr %[[BOX0]][16384]
// CHECK-NEXT:   nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %[[BOX1]], box[%c64_i32, %[[FIRST]], %[[HEAD32]], %[[BATCH]]] : !llvm.ptr, <3>
// CHECK-NEXT:   nvvm.cp.async.bulk.commit.group
// CHECK-NEXT: }
// The buffer may be written again once it has been read; threads that copy nothing pass.
// CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0 {read}
!q = !attn.tile<128x96xbf16, #attn.boxed>
!pq = !attn.pipe<!q, stages = 1>
!o = !attn.tile<128x96xf32, #attn.fragment<acc, warps = 8, split = rows>>
!map = !attn.tensor_map<64 x 64 x bf16>
!t = memref<?x?x8x96xbf16, strided<[?, ?, ?, 1]>>
func.func @store(%O: !t, %m: !map {attn.tensor_map_of = 0 : i64}, %n: index, %row: index, %head: index) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create readers(8) offset = 0 barriers = 49152 : !pq
    attn.roles producer registers(24) {
    } consumer warps(8) registers(240) {
      %q = attn.pipe_tile %pq[%row] : !pq -> !q
      %o = attn.fill 1.0 : !o
      attn.bulk_store %o via %q, %O[%b, %row, %head] map(%m : !map) : !o, !q, !t
      attn.bulk_store_wait %q : !q
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 49168 : i64}
  return
}

// -----

// f16 rounds with its own instruction. A tile narrower than the buffer leaves the buffer's other
// boxes alone.
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: nvvm.cp.async.bulk.tensor.global.shared.cta
!q = !attn.tile<64x128xf16, #attn.boxed>
!pq = !attn.pipe<!q, stages = 1>
!o = !attn.tile<64x32xf32, #attn.fragment<acc, warps = 4, split = rows>>
!map = !attn.tensor_map<64 x 64 x f16>
!t = memref<?x?x8x32xf16, strided<[?, ?, ?, 1]>>
func.func @narrow(%O: !t, %m: !map {attn.tensor_map_of = 0 : i64}, %n: index, %row: index, %head: index) {
  scf.forall (%b) in (%n) {
    %pq = attn.pipe_create readers(4) offset = 0 barriers = 16384 : !pq
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %q = attn.pipe_tile %pq[%row] : !pq -> !q
      %o = attn.fill 1.0 : !o
      attn.bulk_store %o via %q, %O[%b, %row, %head] map(%m : !map) : !o, !q, !t
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 16400 : i64}
  return
}
