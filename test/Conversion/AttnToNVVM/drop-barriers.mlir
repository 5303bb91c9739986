// RUN: attn-opt %s --pass-pipeline="builtin.module(llvm.func(attn-drop-barriers))" | FileCheck %s

// The second barrier says what the first one would: nothing between them is shared.
// CHECK-LABEL: @twice
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: llvm.store
// CHECK-NEXT: nvvm.barrier0
// CHECK-NEXT: llvm.load
llvm.func @twice(%global: !llvm.ptr, %shared: !llvm.ptr<3>, %x: f32) -> f32 {
  nvvm.cp.async.wait.group 1
  nvvm.barrier0
  nvvm.cp.async.wait.group 0
  llvm.store %x, %global : f32, !llvm.ptr
  nvvm.barrier0
  %y = llvm.load %shared : !llvm.ptr<3> -> f32
  llvm.return %y : f32
}

// An access to shared memory between two barriers needs both.
// CHECK-LABEL: @store_between
// CHECK-COUNT-2: nvvm.barrier0
// CHECK: llvm.return
llvm.func @store_between(%shared: !llvm.ptr<3>, %x: f32) -> f32 {
  nvvm.barrier0
  llvm.store %x, %shared : f32, !llvm.ptr<3>
  nvvm.barrier0
  %y = llvm.load %shared : !llvm.ptr<3> -> f32
  llvm.return %y : f32
}

// So does an op that may do anything.
// CHECK-LABEL: @unknown_between
// CHECK-COUNT-2: nvvm.barrier0
// CHECK: llvm.return
llvm.func @unknown_between(%shared: !llvm.ptr<3>, %global: !llvm.ptr<1>) {
  nvvm.barrier0
  nvvm.cp.async.shared.global %shared, %global, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.barrier0
  llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"() : () -> ()
  nvvm.barrier0
  llvm.return
}

// Every way has to lead to another barrier: here the loop may run no time, and what follows it reads.
// CHECK-LABEL: @loop_or_read
// CHECK-COUNT-2: nvvm.barrier0
// CHECK: llvm.return
llvm.func @loop_or_read(%shared: !llvm.ptr<3>, %more: i1) -> f32 {
  nvvm.barrier0
  llvm.br ^head
^head:
  llvm.cond_br %more, ^body, ^end
^body:
  nvvm.barrier0
  %x = llvm.load %shared : !llvm.ptr<3> -> f32
  llvm.store %x, %shared : f32, !llvm.ptr<3>
  llvm.br ^head
^end:
  %y = llvm.load %shared : !llvm.ptr<3> -> f32
  llvm.return %y : f32
}

// The barrier before a loop goes where both the loop and what follows it begin with one; the loop's
// own, which only it itself follows, stays.
// CHECK-LABEL: @loop_or_barrier
// CHECK-NEXT: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NEXT: llvm.br
// CHECK-COUNT-2: nvvm.barrier0
// CHECK: llvm.return
llvm.func @loop_or_barrier(%shared: !llvm.ptr<3>, %more: i1, %z: f32) -> f32 {
  nvvm.barrier0
  %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%z) : (f32) -> f32
  llvm.br ^head
^head:
  llvm.cond_br %more, ^body, ^end
^body:
  nvvm.barrier0
  %x = llvm.load %shared : !llvm.ptr<3> -> f32
  llvm.br ^head
^end:
  nvvm.barrier0
  %y = llvm.load %shared : !llvm.ptr<3> -> f32
  %w = llvm.fadd %y, %e : f32
  llvm.return %w : f32
}

// Nothing comes after it.
// CHECK-LABEL: @at_the_end
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
llvm.func @at_the_end(%shared: !llvm.ptr<3>, %x: f32) {
  llvm.store %x, %shared : f32, !llvm.ptr<3>
  nvvm.barrier0
  llvm.return
}
