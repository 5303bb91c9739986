// Accumulators in flight may reach waits alone.
// RUN: not attn-opt %s -split-input-file --convert-nvvm-to-emulator 2>&1 | FileCheck %s

llvm.func @read_early(%a: i64, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  attn_nv.wgmma_fence
  // CHECK: [[# @LINE + 5]]:8: error: accumulator read before its wait: operand {{[01]}} of 'llvm.fadd' is in flight
  // CHECK: [[# @LINE + 1]]:10: note: started here; tie it with attn_nv.wgmma_wait
  %d:4 = attn_nv.wgmma n = 8, a(%a) b(%a) : bf16, bf16
  llvm.br ^next(%d#0 : f32)
^next(%x: f32):
  %y = llvm.fadd %x, %x : f32
  llvm.store %y, %out : f32, !llvm.ptr<1>
  llvm.return
}

// -----

// A select moves registers, and so reads them.
llvm.func @selected_early(%a: i64, %p: i1) attributes {nvvm.kernel} {
  attn_nv.wgmma_fence
  %d:4 = attn_nv.wgmma n = 8, a(%a) b(%a) : bf16, bf16
  // CHECK: [[# @LINE + 1]]:8: error: accumulator read before its wait: operand 1 of 'llvm.select' is in flight
  %s = llvm.select %p, %d#0, %d#1 : i1, f32
  nvvm.wgmma.commit.group.sync.aligned
  %e = attn_nv.wgmma_wait 0 acc(%s)
  llvm.return
}

// -----

// Registers that a product reads are written before its fence.
llvm.func @written_late(%a: i64, %x: i32) attributes {nvvm.kernel} {
  // CHECK: [[# @LINE + 6]]:10: error: missing wgmma fence: a register of the product is written after it
  // CHECK: [[# @LINE + 3]]:8: note: written here
  // CHECK: [[# @LINE + 1]]:3: note: the fence; pass the value through it
  attn_nv.wgmma_fence
  %y = llvm.add %x, %x : i32
  // The first is the fence's argument.
  %d:4 = attn_nv.wgmma n = 8, a_registers(%x, %x, %x, %y) b(%a) : bf16, bf16
  llvm.return
}
