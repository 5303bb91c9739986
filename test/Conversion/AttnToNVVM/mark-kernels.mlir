// RUN: attn-opt %s --attn-mark-kernels | FileCheck %s

// What the launch passes is in the manifest; the backend is to know how it passes maps.
// CHECK: llvm.func @drawing(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 128>, nvvm.minctasm = 1
// CHECK-NOT: attn.tile_counter
llvm.func @drawing(%counter: !llvm.ptr<1> {attn.tile_counter}, %offset: i64 {attn.tile_counter},
                   %map: !llvm.ptr {attn.tensor_map_of = 0 : i64})
    attributes {attn.threads = 128 : i64} {
  llvm.return
}
