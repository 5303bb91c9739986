// DEFINE: %{tiles} = func.func(attn-lower-to-tiles),canonicalize,cse,func.func(attn-split-mask-ranges),canonicalize,cse
// DEFINE: %{schedule} = func.func(attn-overlap-softmax,attn-start-products,attn-insert-pipes,attn-assign-roles),canonicalize,cse
// RUN: attn-opt %s --pass-pipeline="builtin.module(%{tiles},%{schedule},func.func(attn-assign-layouts,attn-allocate-smem,attn-assign-tensor-maps))" | FileCheck %s

!t = memref<?x?x8x96xf16, strided<[?, ?, ?, 1]>>

// One map for each tensor and box: q, k and v in tiles, o in the rows of a warpgroup.
// CHECK-LABEL: func @maps
// CHECK-SAME: %[[MQ:arg[0-9]+]]: !attn.tensor_map<128 x 64 x f16> {attn.tensor_map_of = 0 : i64}
// CHECK-SAME: %[[MK:arg[0-9]+]]: !attn.tensor_map<48 x 64 x f16> {attn.tensor_map_of = 1 : i64}
// CHECK-SAME: %[[MV:arg[0-9]+]]: !attn.tensor_map<48 x 64 x f16> {attn.tensor_map_of = 2 : i64}
// CHECK-SAME: %[[MO:arg[0-9]+]]: !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 3 : i64}
// Tiles of 96 columns take two boxes of 64; barriers lie behind them: 1 + 2 * 2 stages.
// CHECK: attn.pipe_create readers(8) offset = 0 barriers = 81920 : <<128x96xf16, #attn.boxed>, stages = 1>
// CHECK: attn.pipe_create readers(8) offset = 32768 barriers = 81936 : <<48x96xf16, #attn.boxed>, stages = 2>
// CHECK: attn.pipe_create readers(8) offset = 57344 barriers = 81968 : <<48x96xf16, #attn.boxed>, stages = 2>
// CHECK: attn.copy_tile %arg0[{{.*}} map(%[[MQ]] :
// CHECK: attn.copy_tile %arg1[{{.*}} map(%[[MK]] :
// CHECK: attn.copy_tile %arg2[{{.*}} map(%[[MV]] :
// CHECK: attn.bulk_store {{.*}} map(%[[MO]] :
// CHECK: attn.smem_bytes = 82000
func.func @maps(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 48, warps = 8, stages = 2, instruction = wgmma, overlap = true>)
  return
}

// Q by warpgroups: boxes of a warpgroup's rows, in stages of as many. Q and O of one tensor could share
// their map.
// CHECK-LABEL: func @by_warpgroup
// CHECK-SAME: %[[MQ:arg[0-9]+]]: !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 0 : i64}
// CHECK: attn.pipe_create readers(4) offset = 0 barriers = 98304 : <<128x96xf16, #attn.boxed<parts = 2>>, stages = 3, parts = 2>
// CHECK: attn.pipe_create readers(8) offset = 49152 barriers = 98352 : <<48x96xf16, #attn.boxed>, stages = 2>
// CHECK-COUNT-2: attn.copy_tile %arg0[{{.*}} map(%[[MQ]] :
// CHECK: attn.pipe_wait {{.*}} -> <128x96xf16, #attn.boxed<parts = 2>>
// CHECK: attn.bulk_store {{.*}}, <128x96xf16, #attn.boxed<parts = 2>>,
func.func @by_warpgroup(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(16)
    schedule(<q_tile = 128, kv_tile = 48, warps = 8, stages = 2, instruction = wgmma,
              q_stages = 3, q_by_warpgroup = true>)
  return
}

// Threads that copy need none.
// CHECK-LABEL: func @threads_copy
// CHECK-NOT: tensor_map
// CHECK: return
func.func @threads_copy(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s) alignment(8)
    schedule(<q_tile = 128, kv_tile = 48, warps = 8, stages = 2, instruction = wgmma,
              producer = cp_async>)
  return
}
