// RUN: attn-opt %s -convert-attn-to-cpu -attn-cpu-to-llvm | FileCheck %s --enable-var-scope

// Everything ends in the LLVM dialect; a kernel and its counter get packed entries.

// CHECK-NOT:   math.
// CHECK-NOT:   memref.
// CHECK-NOT:   vector.
// CHECK-DAG:   llvm.func @softmax_num_tiles(
// CHECK-DAG:   llvm.func @softmax_num_tiles_packed(%{{.+}}: !llvm.ptr)
// CHECK-DAG:   llvm.func @softmax({{.+}}: i64, %{{.+}}: i64) attributes {attn.argument_types = [memref<2x?x2x8xbf16>, f32], attn.kernel}
// CHECK-LABEL: llvm.func @softmax_packed(
// CHECK-SAME:    %[[ENTRIES:[^:]+]]: !llvm.ptr)
// CHECK:         %[[SLOT:.+]] = llvm.getelementptr %[[ENTRIES]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK:         %[[ADDRESS:.+]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.load %[[ADDRESS]] : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.call @softmax(
func.func @softmax(%m: memref<2x?x2x8xbf16>, %scale: f32) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%h) in (2) {
    %view = memref.subview %m[0, 0, 0, 0] [1, 1, 2, 8] [1, 1, 1, 1]
        : memref<2x?x2x8xbf16> to memref<1x1x2x8xbf16, strided<[?, 16, 8, 1]>>
    %s = attn.load_tile %view[%c0, %c0, %h] : memref<1x1x2x8xbf16, strided<[?, 16, 8, 1]>> -> <4x8xbf16>
    %f = attn.convert %s : <4x8xbf16> -> <4x8xf32>
    %init = attn.softmax_init : <4>
    %st, %p, %alpha = attn.softmax_update %init, %f scale(%scale) : <4>, <4x8xf32> -> <4xf32>
    %o, %lse = attn.finalize %p, %st scale(%scale) : <4x8xf32>, <4> -> <4x8xf32>, <4xf32>
    attn.store_tile %o, %m[%c0, %c0, %h] : <4x8xf32>, memref<2x?x2x8xbf16>
  }
  return
}
