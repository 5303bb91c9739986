// The instruction of each attn_nv op.
// RUN: attn-translate %s --mlir-to-ptx --chip=sm_90a | FileCheck %s

llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK: .version 8.0
// CHECK: .target sm_90a
// CHECK-LABEL: .visible .entry products
llvm.func @products(%a: i64, %b: i64, %p: i32, %more: i1, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  // CHECK: wgmma.fence.sync.aligned;
  attn_nv.wgmma_fence
  // CHECK: { .reg .pred scale; setp.ne.b32 scale, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, scale, 1, 1, 0, 0; }
  %s:4 = attn_nv.wgmma n = 8, a(%a) b(%b) : bf16, bf16
  // CHECK: setp.ne.b32 scale, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{.*}}, scale, 1, 1, 1, 1; }
  %t:4 = attn_nv.wgmma n = 8, a(%a) b(%b) transpose_a transpose_b acc(%s#0, %s#1, %s#2, %s#3) : bf16, bf16
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{{.*}}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, %p{{[0-9]+}}, 1, 1, 1;
  %u:4 = attn_nv.wgmma n = 8, a_registers(%p, %p, %p, %p) b(%b) transpose_b acc(%t#0, %t#1, %t#2, %t#3) scale_d(%more) : bf16, bf16
  // CHECK: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {{.*}}, scale, 1, 1; }
  %v:4 = attn_nv.wgmma n = 8, a(%a) b(%b) acc(%u#0, %u#1, %u#2, %u#3) : f8E4M3FN, f8E5M2
  // CHECK: wgmma.commit_group.sync.aligned;
  nvvm.wgmma.commit.group.sync.aligned
  // CHECK: wgmma.wait_group.sync.aligned 0;
  %r:4 = attn_nv.wgmma_wait 0 acc(%v#0, %v#1, %v#2, %v#3)
  llvm.store %r#0, %out : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: .visible .entry barriers
llvm.func @barriers(%x: i32, %p: i1) attributes {nvvm.kernel} {
  %bar = llvm.mlir.addressof @smem : !llvm.ptr<3>
  // CHECK: mbarrier.arrive.release.cta.shared::cta.b64 _, [%r{{[0-9]+}}];
  attn_nv.mbarrier_arrive %bar : !llvm.ptr<3>
  // CHECK: @%p{{[0-9]+}} mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r{{[0-9]+}}], %r{{[0-9]+}};
  attn_nv.mbarrier_arrive %bar expect_tx(%x) predicate(%p) : !llvm.ptr<3>
  %far = nvvm.mapa %bar, %x : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: @%p{{[0-9]+}} mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r{{[0-9]+}}];
  attn_nv.mbarrier_arrive %far predicate(%p) : !llvm.ptr<7>
  // CHECK: { .reg .pred done; wait: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%r{{[0-9]+}}], %r{{[0-9]+}}; @!done bra wait; }
  attn_nv.mbarrier_wait %bar, %x : !llvm.ptr<3>
  // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64
  attn_nv.mbarrier_wait %bar, %x cluster : !llvm.ptr<3>
  // CHECK: bar{{.*}}arrive{{.*}}%r{{[0-9]+}}, %r{{[0-9]+}};
  attn_nv.barrier_arrive %x, %x
  llvm.return
}

// CHECK-LABEL: .visible .entry copies
llvm.func @copies(%g: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
  %s = llvm.mlir.addressof @smem : !llvm.ptr<3>
  // CHECK: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd{{[0-9]+}}], [%r{{[0-9]+}}], %r{{[0-9]+}};
  attn_nv.bulk_reduce %g, %s, %x : f32, !llvm.ptr<1>, !llvm.ptr<3>
  // CHECK: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16
  attn_nv.bulk_reduce %g, %s, %x : bf16, !llvm.ptr<1>, !llvm.ptr<3>
  // CHECK: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32
  attn_nv.bulk_reduce %g, %s, %x : i32, !llvm.ptr<1>, !llvm.ptr<3>
  llvm.return
}
