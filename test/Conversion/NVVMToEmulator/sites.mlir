// RUN: attn-opt %s --convert-nvvm-to-emulator | FileCheck %s

llvm.mlir.global internal @flag() {addr_space = 3 : i32} : i32
llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// Shared memory is part of the thread's CTA: its symbols are gone.
// CHECK-NOT: llvm.mlir.global

// CHECK-LABEL: llvm.func @shuffle(%arg0: !llvm.ptr, %arg1: !llvm.ptr<1>)
// CHECK-NOT: nvvm.kernel
// CHECK: %[[ARGS:.*]] = llvm.alloca
// CHECK: %[[RESULTS:.*]] = llvm.alloca
// CHECK: llvm.call @attn_emu_op(%arg0, %{{.*}}, %[[ARGS]], %[[RESULTS]])
// CHECK: %[[TID:.*]] = llvm.load %[[RESULTS]] {alignment = 8 : i64} : !llvm.ptr -> i32
// CHECK: llvm.store %{{.*}}, %[[ARGS]] {alignment = 8 : i64} : i32, !llvm.ptr
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[ARGS]][8]
// CHECK: llvm.store %[[TID]], %[[SECOND]] {alignment = 8 : i64} : i32, !llvm.ptr
// CHECK: llvm.call @attn_emu_op
// CHECK-NEXT: %[[V:.*]] = llvm.load %[[RESULTS]]
// CHECK: llvm.store %[[V]], %[[ARGS]]
// CHECK-NEXT: llvm.call @attn_emu_access(%arg0, %{{.*}}, %{{.*}}, %[[ARGS]])
// CHECK-NEXT: llvm.store %[[V]], %arg1
llvm.func @shuffle(%x: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %all = llvm.mlir.constant(-1 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %v = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> i32
  llvm.store %v, %x : i32, !llvm.ptr<1>
  llvm.return
}

// Members of a result are loaded one by one.
// CHECK-LABEL: llvm.func @members
// CHECK: llvm.call @attn_emu_op
// CHECK-NEXT: %[[THIRD:.*]] = llvm.getelementptr %{{.*}}[8]
// CHECK-NEXT: llvm.load %[[THIRD]] : !llvm.ptr -> i32
// CHECK-NOT: llvm.extractvalue
llvm.func @members(%x: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %smem = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
  %m = nvvm.ldmatrix %smem {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %v = llvm.extractvalue %m[2] : !llvm.struct<(i32, i32, i32, i32)>
  llvm.store %v, %x : i32, !llvm.ptr<1>
  llvm.return
}

// Dynamic shared memory follows the static one, aligned.
// CHECK-LABEL: llvm.func @places
// CHECK: %[[BASE:.*]] = llvm.load %arg0 : !llvm.ptr -> !llvm.ptr<3>
// CHECK: %[[DYNAMIC:.*]] = llvm.getelementptr %[[BASE]][1024]
// CHECK: llvm.load %[[BASE]] : !llvm.ptr<3> -> i32
// CHECK: llvm.store %{{.*}}, %[[DYNAMIC]] : i32, !llvm.ptr<3>
llvm.func @places() attributes {nvvm.kernel} {
  %flag = llvm.mlir.addressof @flag : !llvm.ptr<3>
  %dynamic = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
  %v = llvm.load %flag : !llvm.ptr<3> -> i32
  llvm.store %v, %dynamic : i32, !llvm.ptr<3>
  llvm.return
}

// 32-bit shared addresses are the low halves of pointers.
// CHECK-LABEL: llvm.func @addresses
// CHECK: %[[REGION:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[WIDE:.*]] = llvm.zext %arg1 : i32 to i64
// CHECK: %[[WHOLE:.*]] = llvm.or %[[WIDE]], %[[REGION]]
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[WHOLE]] : i64 to !llvm.ptr<3>
// CHECK: %[[BITS:.*]] = llvm.ptrtoint %[[POINTER]] : !llvm.ptr<3> to i64
// CHECK: llvm.and %[[BITS]], %{{.*}}
llvm.func @addresses(%a: i32, %x: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %p = llvm.inttoptr %a : i32 to !llvm.ptr<3>
  %i = llvm.ptrtoint %p : !llvm.ptr<3> to i64
  llvm.store %i, %x : i64, !llvm.ptr<1>
  llvm.return
}

// Rounds of loops count as steps, divisions are checked unless the divisor is harmless.
// CHECK-LABEL: llvm.func @control
// CHECK: ^bb1
// CHECK: llvm.call @attn_emu_step
// CHECK-NOT: attn_emu_check
// CHECK: llvm.udiv %{{.*}}, %{{.*}} : i32
// CHECK: llvm.call @attn_emu_check
// CHECK-NEXT: llvm.sdiv
// CHECK: llvm.call @attn_emu_check
// CHECK-NEXT: llvm.unreachable
llvm.func @control(%a: i32, %b: i32) attributes {nvvm.kernel} {
  %c3 = llvm.mlir.constant(3 : i32) : i32
  llvm.br ^loop(%a : i32)
^loop(%i: i32):
  %q = llvm.udiv %i, %c3 : i32
  %r = llvm.sdiv %q, %b : i32
  %more = llvm.icmp "ugt" %r, %c3 : i32
  llvm.cond_br %more, ^loop(%r : i32), ^end
^end:
  llvm.unreachable
}

// The entry loads the parameters; what is passed by value is not loaded.
// CHECK-LABEL: llvm.func @attn_emu_entry_shuffle(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
// CHECK-NEXT: %[[SLOT:.*]] = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: %[[X:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr<1>
// CHECK-NEXT: llvm.call @shuffle(%arg0, %[[X]])
// CHECK-LABEL: llvm.func @attn_emu_entry_by_value
// CHECK-NEXT: %[[MAP:.*]] = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: llvm.call @by_value(%arg0, %[[MAP]])
llvm.func @by_value(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>}) attributes {nvvm.kernel} {
  llvm.return
}
