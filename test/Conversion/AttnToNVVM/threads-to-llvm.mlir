// RUN: attn-opt %s --attn-gpu-to-llvm | FileCheck %s --enable-var-scope

// Arithmetic and control flow are converted in one go: no cast is left between dialects.
// CHECK-LABEL: llvm.func @scalars(
// CHECK-SAME:    %[[A:[^:]*]]: f32, %[[N:[^:]*]]: i64)
// CHECK:         llvm.cond_br
// CHECK:         llvm.fmul %[[A]], %{{.*}} : f32
// CHECK:         llvm.intr.fma
// CHECK-NOT:     builtin.unrealized_conversion_cast
func.func @scalars(%a: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (f32) {
    %y = arith.mulf %a, %x : f32
    %z = math.fma %y, %x, %a : f32
    scf.yield %z : f32
  }
  return %r : f32
}

// ceil(n / 4) of an index has no LLVM op: it is expanded.
// CHECK-LABEL: llvm.func @division(
// CHECK:         llvm.sdiv
// CHECK:         llvm.return
func.func @division(%n: index) -> index {
  %c4 = arith.constant 4 : index
  %r = arith.ceildivsi %n, %c4 : index
  return %r : index
}

// A view is its base's pointer and arithmetic on offsets.
// CHECK-LABEL: llvm.func @view(
// CHECK-NOT:     memref
// CHECK-DAG:     llvm.mul
// CHECK-DAG:     llvm.ptrtoint
// CHECK:         llvm.return
func.func @view(%m: memref<?x?x8xf32, strided<[?, ?, 1]>>, %i: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = memref.dim %m, %c1 : memref<?x?x8xf32, strided<[?, ?, 1]>>
  %v = memref.subview %m[%i, 0, 0] [1, %d, 8] [1, 1, 1]
      : memref<?x?x8xf32, strided<[?, ?, 1]>> to memref<?x8xf32, strided<[?, 1], offset: ?>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %v
      : memref<?x8xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  %p = memref.extract_aligned_pointer_as_index %v
      : memref<?x8xf32, strided<[?, 1], offset: ?>> -> index
  return %offset, %p : index, index
}

// Instructions stay what they are.
// CHECK-LABEL: llvm.func @instruction(
// CHECK:         attn_nv.barrier_arrive
func.func @instruction(%id: i32, %threads: i32) {
  attn_nv.barrier_arrive %id, %threads
  return
}

// A dimension whose number is the cast of a constant is read from the descriptor, not the stack.
// CHECK-LABEL: llvm.func @dimension(
// CHECK-NOT:     llvm.alloca
// CHECK:         llvm.return
func.func @dimension(%m: memref<?x?xf32>) -> index {
  %c1 = arith.constant 1 : i32
  %dim = arith.index_cast %c1 : i32 to index
  %size = memref.dim %m, %dim : memref<?x?xf32>
  return %size : index
}
