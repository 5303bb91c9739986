// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: llvm.func @products
// CHECK-SAME: (%[[A:[^:]*]]: i64, %[[B:[^:]*]]: i64, %[[P:[^:]*]]: i32, %[[MORE:[^:]*]]: i1)
llvm.func @products(%a: i64, %b: i64, %p: i32, %more: i1) -> f32 {
  // CHECK: attn_nv.wgmma_fence
  attn_nv.wgmma_fence
  // CHECK: %[[S:.*]]:4 = attn_nv.wgmma n = 8, a(%[[A]]) b(%[[B]]) : bf16, bf16
  %s:4 = attn_nv.wgmma n = 8, a(%a) b(%b) : bf16, bf16
  // CHECK: %[[T:.*]]:4 = attn_nv.wgmma n = 8, a(%[[A]]) b(%[[B]]) transpose_a transpose_b acc(%[[S]]#0, %[[S]]#1, %[[S]]#2, %[[S]]#3) : bf16, bf16
  %t:4 = attn_nv.wgmma n = 8, a(%a) b(%b) transpose_a transpose_b acc(%s#0, %s#1, %s#2, %s#3) : bf16, bf16
  // CHECK: %[[U:.*]]:4 = attn_nv.wgmma n = 8, a_registers(%[[P]], %[[P]], %[[P]], %[[P]]) b(%[[B]]) acc(%[[T]]#0, %[[T]]#1, %[[T]]#2, %[[T]]#3) scale_d(%[[MORE]]) : bf16, bf16
  %u:4 = attn_nv.wgmma n = 8, a_registers(%p, %p, %p, %p) b(%b) acc(%t#0, %t#1, %t#2, %t#3) scale_d(%more) : bf16, bf16
  nvvm.wgmma.commit.group.sync.aligned
  // CHECK: %{{.*}}:4 = attn_nv.wgmma_wait 0 acc(%[[U]]#0, %[[U]]#1, %[[U]]#2, %[[U]]#3)
  %r:4 = attn_nv.wgmma_wait 0 acc(%u#0, %u#1, %u#2, %u#3)
  // CHECK: attn_nv.wgmma_fence acc(%{{.*}}#0) a_registers(%[[P]])
  %f:2 = attn_nv.wgmma_fence acc(%r#0) a_registers(%p)
  // CHECK: attn_nv.wgmma_fence acc(%{{.*}}#1, %{{.*}}#2){{$}}
  %acc:2 = attn_nv.wgmma_fence acc(%r#1, %r#2)
  // CHECK: attn_nv.wgmma_fence a_registers(%[[P]], %[[P]]){{$}}
  %regs:2 = attn_nv.wgmma_fence a_registers(%p, %p)
  // CHECK: attn_nv.wgmma_wait 1{{$}}
  attn_nv.wgmma_wait 1
  // CHECK: attn_nv.wgmma n = 16, a({{.*}}) b({{.*}}) : f8E4M3FN, f8E5M2
  %w:8 = attn_nv.wgmma n = 16, a(%a) b(%b) : f8E4M3FN, f8E5M2
  // CHECK: attn_nv.wgmma n = 8, a_registers(%[[P]], %[[P]], %[[P]], %[[P]]) b(%[[B]]) transpose_b : f16, f16
  %v:4 = attn_nv.wgmma n = 8, a_registers(%p, %p, %p, %p) b(%b) transpose_b : f16, f16
  // CHECK: attn_nv.wgmma n = 8, a(%[[A]]) b(%[[B]]) transpose_a acc({{.*}}) scale_d(%[[MORE]]) : f16, f16
  %y:4 = attn_nv.wgmma n = 8, a(%a) b(%b) transpose_a acc(%v#0, %v#1, %v#2, %v#3) scale_d(%more) : f16, f16
  // CHECK: attn_nv.wgmma n = 256, a(%[[A]]) b(%[[B]]) : f8E5M2, f8E4M3FN
  %z:128 = attn_nv.wgmma n = 256, a(%a) b(%b) : f8E5M2, f8E4M3FN
  llvm.return %f#0 : f32
}

// CHECK-LABEL: llvm.func @barriers
// CHECK-SAME: (%[[BAR:[^:]*]]: !llvm.ptr<3>, %[[FAR:[^:]*]]: !llvm.ptr<7>, %[[X:[^:]*]]: i32, %[[P:[^:]*]]: i1)
llvm.func @barriers(%bar: !llvm.ptr<3>, %far: !llvm.ptr<7>, %x: i32, %p: i1) {
  // CHECK: attn_nv.mbarrier_arrive %[[BAR]] : !llvm.ptr<3>
  attn_nv.mbarrier_arrive %bar : !llvm.ptr<3>
  // CHECK: attn_nv.mbarrier_arrive %[[BAR]] expect_tx(%[[X]]) predicate(%[[P]]) : !llvm.ptr<3>
  attn_nv.mbarrier_arrive %bar expect_tx(%x) predicate(%p) : !llvm.ptr<3>
  // CHECK: attn_nv.mbarrier_arrive %[[BAR]] expect_tx(%[[X]]) : !llvm.ptr<3>
  attn_nv.mbarrier_arrive %bar expect_tx(%x) : !llvm.ptr<3>
  // CHECK: attn_nv.mbarrier_arrive %[[FAR]] predicate(%[[P]]) : !llvm.ptr<7>
  attn_nv.mbarrier_arrive %far predicate(%p) : !llvm.ptr<7>
  // CHECK: attn_nv.mbarrier_wait %[[BAR]], %[[X]] : !llvm.ptr<3>
  attn_nv.mbarrier_wait %bar, %x : !llvm.ptr<3>
  // CHECK: attn_nv.mbarrier_wait %[[BAR]], %[[X]] cluster : !llvm.ptr<3>
  attn_nv.mbarrier_wait %bar, %x cluster : !llvm.ptr<3>
  // CHECK: attn_nv.barrier_arrive %[[X]], %[[X]]
  attn_nv.barrier_arrive %x, %x
  llvm.return
}

// CHECK-LABEL: llvm.func @copies
// CHECK-SAME: (%[[G:[^:]*]]: !llvm.ptr<1>, %[[S:[^:]*]]: !llvm.ptr<3>, %[[X:[^:]*]]: i32)
llvm.func @copies(%g: !llvm.ptr<1>, %s: !llvm.ptr<3>, %x: i32) {
  // CHECK: attn_nv.bulk_reduce %[[G]], %[[S]], %[[X]] : f32, !llvm.ptr<1>, !llvm.ptr<3>
  attn_nv.bulk_reduce %g, %s, %x : f32, !llvm.ptr<1>, !llvm.ptr<3>
  // CHECK: attn_nv.bulk_reduce %[[G]], %[[S]], %[[X]] : f16,
  attn_nv.bulk_reduce %g, %s, %x : f16, !llvm.ptr<1>, !llvm.ptr<3>
  // CHECK: attn_nv.bulk_reduce %[[G]], %[[S]], %[[X]] : bf16,
  attn_nv.bulk_reduce %g, %s, %x : bf16, !llvm.ptr<1>, !llvm.ptr<3>
  // CHECK: attn_nv.bulk_reduce %[[G]], %[[S]], %[[X]] : i32,
  attn_nv.bulk_reduce %g, %s, %x : i32, !llvm.ptr<1>, !llvm.ptr<3>
  llvm.return
}
