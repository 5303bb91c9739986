// Tensor maps that are not those of what is copied, and limits that a map does not know.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -convert-attn-to-nvvm

!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 1>
!map = !attn.tensor_map<64 x 64 x f16>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @map_of_another(%n: index, %k: !m, %v: !m, %m: !map {attn.tensor_map_of = 2 : i64}) {
  %c1 = arith.constant 1 : index
  %keys = memref.dim %k, %c1 : !m
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.copy_tile' op expected a tensor map of its source, got that of argument 2; leave the map out and run attn-assign-tensor-maps}}
      attn.copy_tile %k[%b, %b, %b] limit(%keys) into %p[%b] alignment(16) map(%m : !map) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 1>
!map = !attn.tensor_map<64 x 64 x f16>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @map_of_nothing(%n: index, %k: !m, %m: !map) {
  %c1 = arith.constant 1 : index
  %keys = memref.dim %k, %c1 : !m
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{expected a tensor map of its source, got one without attn.tensor_map_of; leave the map out and run attn-assign-tensor-maps}}
      attn.copy_tile %k[%b, %b, %b] limit(%keys) into %p[%b] alignment(16) map(%m : !map) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

!q = !attn.tile<64x64xf16, #attn.boxed>
!p = !attn.pipe<!q, stages = 1>
!o = !attn.tile<64x64xf32, #attn.fragment<acc, warps = 4, split = rows>>
!map = !attn.tensor_map<64 x 64 x f16>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @map_of_another_output(%n: index, %q: !m, %o: !m, %m: !map {attn.tensor_map_of = 1 : i64}) {
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
    } consumer warps(4) registers(240) {
      %t = attn.pipe_tile %p[%b] : !p -> !q
      %z = attn.fill 0.0 : !o
      // expected-error @below {{'attn.bulk_store' op expected a tensor map of its destination, got that of argument 1}}
      attn.bulk_store %z via %t, %o[%b, %b, %b] map(%m : !map) : !o, !q, !m
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 1>
!map = !attn.tensor_map<64 x 64 x f16>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @constant_limit(%n: index, %k: !m, %m: !map {attn.tensor_map_of = 1 : i64}) {
  %c100 = arith.constant 100 : index
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.copy_tile' op expected limit to be the rows of its source (memref.dim of dim 1), where its tensor map ends, got 100; pipes with writers, those of producer = cp_async, end at any limit}}
      attn.copy_tile %k[%b, %b, %b] limit(%c100) into %p[%b] alignment(16) map(%m : !map) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

// The queries are as many as they like.
!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 1>
!map = !attn.tensor_map<64 x 64 x f16>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @limit_of_another(%n: index, %q: !m, %k: !m, %m: !map {attn.tensor_map_of = 2 : i64}) {
  %c1 = arith.constant 1 : index
  %queries = memref.dim %q, %c1 : !m
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{expected limit to be the rows of its source (memref.dim of dim 1), where its tensor map ends, got another value}}
      attn.copy_tile %k[%b, %b, %b] limit(%queries) into %p[%b] alignment(16) map(%m : !map) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

// Another dim of the source.
!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 1>
!map = !attn.tensor_map<64 x 64 x f16>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @limit_of_another_dim(%n: index, %k: !m, %m: !map {attn.tensor_map_of = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %batch = memref.dim %k, %c0 : !m
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{expected limit to be the rows of its source (memref.dim of dim 1)}}
      attn.copy_tile %k[%b, %b, %b] limit(%batch) into %p[%b] alignment(16) map(%m : !map) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}

// -----

!p = !attn.pipe<!attn.tile<64x64xf16, #attn.boxed>, stages = 1>
!map = !attn.tensor_map<64 x 64 x f16>
!m = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @alignment(%n: index, %k: !m, %m: !map {attn.tensor_map_of = 1 : i64}) {
  %c1 = arith.constant 1 : index
  %rows = memref.dim %k, %c1 : !m
  scf.forall (%b) in (%n) {
    %p = attn.pipe_create readers(4) offset = 0 barriers = 8192 : !p
    attn.roles producer registers(24) {
      // expected-error @below {{'attn.copy_tile' op expected an alignment of at least 16 bytes, which tensor maps want, got 8; choose producer = cp_async}}
      attn.copy_tile %k[%b, %b, %b] limit(%rows) into %p[%b] alignment(8) map(%m : !map) : !m, !p
    } consumer warps(4) registers(240) {
    }
  } {attn.schedule = #attn.schedule<q_tile = 64, warps = 4, instruction = wgmma>, attn.smem_bytes = 8208 : i64}
  return
}
