// attn.roles: the fence and the barrier after the pipes' barriers, the branch on the warp's number,
// the registers of both roles; the size of a persistent grid, and the tiles that its CTAs draw.
// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -canonicalize -cse | FileCheck %s

// Warps 0 to 7 compute; of the four behind them the first one copies. The warp's number is that of
// a broadcast.
// CHECK-LABEL: func.func @roles
// CHECK-SAME: attributes {attn.smem_bytes = 16 : i64, attn.threads = 384 : i64}
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[NUMBER:.*]] = arith.divui %[[THREAD]], %c32_i32
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[NUMBER]], %c0_i32, %c31_i32
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: nvvm.barrier0
// CHECK-NEXT: %[[COMPUTES:.*]] = arith.cmpi slt, %[[WARP]], %c8_i32
// CHECK-NEXT: scf.if %[[COMPUTES]] {
// CHECK-NEXT:   nvvm.setmaxregister increase 240
// CHECK-NEXT:   memref.store %c1_i32
// CHECK-NEXT: } else {
// CHECK-NEXT:   nvvm.setmaxregister decrease 24
// CHECK-NEXT:   %[[COPIES:.*]] = arith.cmpi eq, %[[WARP]], %c8_i32
// CHECK-NEXT:   scf.if %[[COPIES]] {
// CHECK-NEXT:     memref.store %c2_i32
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @roles(%n: index, %seen: memref<?xi32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
      memref.store %two, %seen[%b] : memref<?xi32>
    } consumer warps(8) registers(240) {
      memref.store %one, %seen[%b] : memref<?xi32>
    }
  } {attn.schedule = #attn.schedule<q_tile = 128, warps = 8, instruction = wgmma>, attn.smem_bytes = 16 : i64}
  return
}

// -----

// Roles with an equal share keep what they were launched with.
// CHECK-LABEL: func.func @equal_shares
// CHECK-SAME: attn.threads = 256 : i64
// CHECK-NOT: nvvm.setmaxregister
// CHECK: arith.cmpi slt, %{{.*}}, %c4_i32
// CHECK-NOT: nvvm.setmaxregister
func.func @equal_shares(%n: index, %seen: memref<?xi32>) {
  %one = arith.constant 1 : i32
  scf.forall (%b) in (%n) {
    attn.roles producer registers(0) {
    } consumer warps(4) registers(0) {
      memref.store %one, %seen[%b] : memref<?xi32>
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// A persistent CTA starts at its block number and goes on by the size of the grid, in both roles.
// CHECK-LABEL: func.func @persistent
// CHECK-SAME: (%[[TILES:.*]]: index, %{{.*}}: memref<?xindex>)
// CHECK: %[[GRID:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK: %[[CTAS:.*]] = arith.index_cast %[[GRID]] : i32 to index
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[CTA:.*]] = arith.index_cast %[[BLOCK]] : i32 to index
// CHECK: scf.for %{{.*}} = %[[CTA]] to %[[TILES]] step %[[CTAS]]
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[CTA]] to %[[TILES]] step %[[CTAS]]
func.func @persistent(%tiles: index, %seen: memref<?xindex>) {
  %ctas = attn.num_ctas %tiles
  scf.forall (%cta) in (%ctas) {
    attn.roles producer registers(24) {
      scf.for %tile = %cta to %tiles step %ctas {
        memref.store %tile, %seen[%cta] : memref<?xindex>
      }
    } consumer warps(4) registers(240) {
      scf.for %tile = %cta to %tiles step %ctas {
        memref.store %tile, %seen[%tile] : memref<?xindex>
      }
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma, persistent = static>, attn.smem_bytes = 0 : i64}
  return
}

// -----

// One lane draws for its warp. The counter goes back to 0 behind tiles - 1; what comes out are the
// tiles behind those that CTAs start with.
// CHECK-LABEL: func.func @draw
// CHECK-SAME: (%{{.*}}: index, %[[COUNTER:.*]]: memref<1xi32> {attn.tile_counter}, %[[TILES:.*]]: i32, %[[SEEN:.*]]: memref<?xi32>)
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.if
// CHECK-NEXT: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[COUNTER]]
// CHECK-NEXT: %[[WIDE:.*]] = arith.index_cast %[[ADDRESS]] : index to i64
// CHECK-NEXT: %[[POINTER:.*]] = llvm.inttoptr %[[WIDE]] : i64 to !llvm.ptr<1>
// CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[TILES]], %c1_i32
// CHECK-NEXT: %[[LANE:.*]] = arith.andi %[[THREAD]], %c31_i32
// CHECK-NEXT: %[[IS_LANE0:.*]] = arith.cmpi eq, %[[LANE]], %c0_i32
// CHECK-NEXT: %[[OF_LANE:.*]] = scf.if %[[IS_LANE0]] -> (i32) {
// CHECK-NEXT:   %[[DRAWN:.*]] = llvm.atomicrmw uinc_wrap %[[POINTER]], %[[LAST]] syncscope("device") monotonic : !llvm.ptr<1>, i32
// CHECK-NEXT:   scf.yield %[[DRAWN]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %c0_i32
// CHECK-NEXT: }
// CHECK-NEXT: %[[NUMBER:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[OF_LANE]], %c0_i32, %c31_i32
// CHECK-NEXT: %[[CTAS:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK-NEXT: %[[TILE:.*]] = arith.addi %[[NUMBER]], %[[CTAS]]
// CHECK-NEXT: memref.store %[[TILE]], %[[SEEN]]
func.func @draw(%n: index, %counter: memref<1xi32> {attn.tile_counter}, %tiles: i32, %seen: memref<?xi32>) {
  scf.forall (%b) in (%n) {
    attn.roles producer registers(24) {
      %tile = attn.next_tile %counter of(%tiles) : memref<1xi32>
      memref.store %tile, %seen[%b] : memref<?xi32>
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma, persistent = dynamic>, attn.smem_bytes = 0 : i64}
  return
}
