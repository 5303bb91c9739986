// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-split-kv))' | FileCheck %s
// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-split-kv,attn-split-kv))' | FileCheck %s

// CHECK-LABEL: func.func @split(
// CHECK-SAME:    %[[Q:.*]]: memref<?x?x8x64xf16>, %[[K:[^,]*]]: {{[^,]*}}, %[[V:[^,]*]]: {{[^,]*}},
// CHECK-SAME:    %[[O:[^:]*]]: memref<?x?x8x32xf16>, %[[LSE:[^:]*]]: memref<?x8x?xf32>, %[[SCALE:[^:]*]]: f32,
// CHECK-SAME:    %[[PO:[^:]*]]: memref<4x?x?x8x32xf32> {attn.workspace = [4, [3, 0], [3, 1], 8, 32]},
// CHECK-SAME:    %[[PL:[^:]*]]: memref<4x?x8x?xf32> {attn.workspace = [4, [3, 0], 8, [3, 1]]},
// CHECK-SAME:    %[[PT:[^:]*]]: memref<4x?x8x?xf32> {attn.workspace = [4, [3, 0], 8, [3, 1]]})
// CHECK:         attn.forward ins(%[[Q]], %[[K]], %[[V]]
// CHECK-SAME:      outs(%[[PO]], %[[PL]]
// CHECK-SAME:      lse_tail(%[[PT]]
// CHECK-SAME:      schedule(<split_kv = 4>)
// CHECK:         attn.merge_states ins(%[[PO]], %[[PL]]
// CHECK-SAME:      partial_tail(%[[PT]]
// CHECK-SAME:      outs(%[[O]], %[[LSE]]
// CHECK-SAME:      schedule(<>) {attn.alignment = 2 : i64}
func.func @split(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x32xf16>,
                 %o: memref<?x?x8x32xf16>, %lse: memref<?x8x?xf32>, %scale: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x32xf16>)
               outs(%o, %lse : memref<?x?x8x32xf16>, memref<?x8x?xf32>)
               scale(%scale) schedule(#attn.schedule<split_kv = 4>)
  return
}

// The merge needs no lse; a static size is a constant of the workspace.
// CHECK-LABEL: func.func @no_lse(
// CHECK-SAME:    memref<2x3x1x8x64xf32> {attn.workspace = [2, 3, 1, 8, 64]}
// CHECK:         attn.merge_states
// CHECK-SAME:      outs(%{{[^,]*}} : memref<3x1x8x64xf16>)
func.func @no_lse(%q: memref<3x1x8x64xf16>, %k: memref<3x?x8x64xf16>, %v: memref<3x?x8x64xf16>,
                  %o: memref<3x1x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %v : memref<3x1x8x64xf16>, memref<3x?x8x64xf16>, memref<3x?x8x64xf16>)
               outs(%o : memref<3x1x8x64xf16>) scale(%scale) schedule(#attn.schedule<split_kv = 2>)
  return
}

// CHECK-LABEL: func.func @whole(
// CHECK-NOT:     attn.workspace
// CHECK-NOT:     attn.merge_states
func.func @whole(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) schedule(#attn.schedule<q_tile = 16>)
  return
}

// fa1 merges as it goes, so it needs the tail of LSE.
// CHECK-LABEL: func.func @fa1(
// CHECK-SAME:    %[[TAIL:[^:]*]]: memref<?x8x?xf32> {attn.workspace = {{\[\[}}1, 0], 8, [1, 1]]})
// CHECK:         lse_tail(%[[TAIL]] : memref<?x8x?xf32>)
// CHECK-NOT:     attn.merge_states
func.func @fa1(%q: memref<?x?x8x64xf32>, %o: memref<?x?x8x64xf32>, %lse: memref<?x8x?xf32>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf32>, memref<?x?x8x64xf32>, memref<?x?x8x64xf32>)
               outs(%o, %lse : memref<?x?x8x64xf32>, memref<?x8x?xf32>) scale(%scale)
               schedule(#attn.schedule<algorithm = fa1>)
  return
}
