// RUN: attn-opt %s -attn-normalize-problem | FileCheck %s
// Normalizing twice changes nothing.
// RUN: attn-opt %s -attn-normalize-problem -o %t.once
// RUN: attn-opt %t.once -attn-normalize-problem -o %t.twice
// RUN: cmp %t.once %t.twice

!q = memref<?x?x8x64xf16>
!k = memref<?x?x2x64xf16>
!q32 = memref<?x?x8x64xf32>

// CHECK-LABEL: func @alignment
func.func @alignment(%q: !q, %k: !k, %q32: !q32, %o: !q, %o32: !q32, %scale: f32) {
  // CHECK: attn.forward {{.*}} scale(%{{.*}}) alignment(2)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
  // CHECK: attn.forward {{.*}} scale(%{{.*}}) alignment(4)
  attn.forward ins(%q32, %q32, %q32 : !q32, !q32, !q32) outs(%o32 : !q32) scale(%scale)
  // CHECK: attn.forward {{.*}} scale(%{{.*}}) alignment(16)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale) alignment(16)
  return
}

// CHECK-LABEL: func @flatten_sort_unique
func.func @flatten_sort_unique(%q: !q, %k: !k, %o: !q, %scale: f32) {
  // CHECK: mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<-1, 5, top_left>, #attn.window<3, 5, top_left>>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.window<3, 5, top_left>,
                        #attn.all_of<#attn.causal<bottom_right>, #attn.window<-1, 5, top_left>>,
                        #attn.none, #attn.causal<bottom_right>>)
  // CHECK: mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<-1, 5, top_left>, #attn.window<3, 5, top_left>>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<3, 5, top_left>,
                        #attn.window<-1, 5, top_left>>)
  // Compositions of another kind are kept, in canonical form themselves.
  // CHECK: mask(#attn.any_of<#attn.all_of<#attn.causal<bottom_right>, #attn.causal<top_left>>, #attn.window<0, 0>>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.any_of<#attn.window<0, 0>,
                        #attn.all_of<#attn.causal<top_left>, #attn.causal<bottom_right>>>)
  return
}

// CHECK-LABEL: func @keeps_all
func.func @keeps_all(%q: !q, %k: !k, %o: !q, %scale: f32, %n: index) {
  // CHECK-COUNT-3: attn.forward {{.*}} scale(%{{.*}}) alignment(2)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale) mask(#attn.none)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale) mask(#attn.window<-1, -1>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.any_of<#attn.window<?, 0>, #attn.all_of<#attn.none>>) mask_args(%n : index)
  return
}

// CHECK-LABEL: func @windows
func.func @windows(%q: !q, %k: !k, %o: !q, %scale: f32, %n: index, %m: index) {
  // A window that is causal says so.
  // CHECK: mask(#attn.causal<top_left>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.window<-1, 0, top_left>)
  // Causal closes the right side of a window of its diagonal.
  // CHECK: mask(#attn.window<1023, 0>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<1023, -1>>)
  // CHECK: mask(#attn.causal<bottom_right>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.window<-1, 5>, #attn.causal<bottom_right>>)
  // It leaves the other diagonal alone.
  // CHECK: mask(#attn.all_of<#attn.causal<bottom_right>, #attn.window<8, 8, top_left>>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.window<8, 8, top_left>, #attn.causal<bottom_right>>)
  // In a union it closes nothing.
  // CHECK: mask(#attn.any_of<#attn.causal<bottom_right>, #attn.window<8, 8>>)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.any_of<#attn.window<8, 8>, #attn.causal<bottom_right>>)
  return
}

// Operands follow their members.
// CHECK-LABEL: func @operands
// CHECK-SAME: %[[N:[^:]*]]: index, %[[M:[^:]*]]: index
func.func @operands(%n: index, %m: index, %q: !q, %k: !k, %o: !q, %scale: f32) {
  // CHECK: mask(#attn.all_of<#attn.causal<top_left>, #attn.window<0, ?>, #attn.window<?, 0>>) mask_args(%[[M]], %[[N]] : index, index)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.window<?, 0>, #attn.causal<top_left>, #attn.window<0, ?>>)
      mask_args(%n, %m : index, index)
  // The bound that causal closes is no longer an operand.
  // CHECK: mask(#attn.window<?, 0>) mask_args(%[[N]] : index)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.window<?, ?>, #attn.causal<bottom_right>>)
      mask_args(%n, %m : index, index)
  // Equal masks with equal operands are one member; with others they are two.
  // CHECK: mask(#attn.all_of<#attn.window<?, 1>, #attn.window<?, 1>>) mask_args(%[[N]], %[[M]] : index, index)
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
      mask(#attn.all_of<#attn.window<?, 1>, #attn.window<?, 1>, #attn.window<?, 1>>)
      mask_args(%n, %m, %n : index, index, index)
  return
}

// CHECK-LABEL: func @identity_score
func.func @identity_score(%q: !q, %k: !k, %o: !q, %scale: f32) {
  // CHECK: attn.forward
  // CHECK-NOT: score
  attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    attn.yield %s : f32
  }
  // CHECK: return
  return
}

// Problems inside loops are problems too.
// CHECK-LABEL: func @nested
func.func @nested(%q: !q, %k: !k, %o: !q, %scale: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: attn.forward {{.*}} mask(#attn.causal<bottom_right>) alignment(2)
    attn.forward ins(%q, %k, %k : !q, !k, !k) outs(%o : !q) scale(%scale)
        mask(#attn.all_of<#attn.causal<bottom_right>>)
  }
  return
}

// Tensors of problems get run-time strides; other arguments keep their types, and so does a
// tensor with another use or with strides that the text promises not to be contiguous.
// CHECK-LABEL: func @strides(
// CHECK-SAME: memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x?x2x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: %{{[^:]*}}: memref<?x?x2x64xf16>,
// CHECK-SAME: %{{[^:]*}}: memref<8xf32>
func.func @strides(%q: !q, %k: !k, %v: !k, %o: !q, %slopes: memref<8xf32>, %scale: f32) -> !k {
  attn.forward ins(%q, %k, %v : !q, !k, !k) outs(%o : !q) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %a = attn.alibi %s, %slopes[%h], %i, %j : memref<8xf32>
    attn.yield %a : f32
  }
  return %v : !k
}

// Batch and lengths become run-time sizes, heads and head dims stay.
// CHECK-LABEL: func @sizes(
// CHECK-SAME: memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x?x2x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x8x?xf32, strided<[?, ?, 1]>>
func.func @sizes(%q: memref<1x64x8x64xf16>, %k: memref<1x1x2x64xf16>, %o: memref<1x64x8x64xf16>,
                 %lse: memref<1x8x64xf32>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<1x64x8x64xf16>, memref<1x1x2x64xf16>, memref<1x1x2x64xf16>)
      outs(%o, %lse : memref<1x64x8x64xf16>, memref<1x8x64xf32>) scale(%scale)
  return
}

// That there is one query is what schedules for decode go by.
// CHECK-LABEL: func @one_query(
// CHECK-SAME: memref<?x1x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x?x2x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x1x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x8x1xf32, strided<[?, ?, 1]>>
func.func @one_query(%q: memref<2x1x8x64xf16>, %k: memref<2x64x2x64xf16>,
                     %o: memref<2x1x8x64xf16>, %lse: memref<2x8x1xf32>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<2x1x8x64xf16>, memref<2x64x2x64xf16>, memref<2x64x2x64xf16>)
      outs(%o, %lse : memref<2x1x8x64xf16>, memref<2x8x1xf32>) scale(%scale)
  return
}

// One query that is the keys too: their length is not known.
// CHECK-LABEL: func @one_tensor(
// CHECK-SAME: memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x1x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @one_tensor(%x: memref<1x1x8x64xf16>, %o: memref<1x1x8x64xf16>, %scale: f32) {
  attn.forward ins(%x, %x, %x : memref<1x1x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x1x8x64xf16>) scale(%scale)
  return
}

// CHECK-LABEL: func @merge(
// CHECK-SAME: memref<4x?x?x8x64xf32, strided<[?, ?, ?, ?, 1]>>
// CHECK-SAME: memref<4x?x8x?xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME: memref<?x8x?xf32, strided<[?, ?, 1]>>
func.func @merge(%po: memref<4x2x64x8x64xf32>, %pl: memref<4x2x8x64xf32>,
                 %o: memref<2x64x8x64xf16>, %lse: memref<2x8x64xf32>) {
  attn.merge_states ins(%po, %pl : memref<4x2x64x8x64xf32>, memref<4x2x8x64xf32>)
                    outs(%o, %lse : memref<2x64x8x64xf16>, memref<2x8x64xf32>)
  return
}
