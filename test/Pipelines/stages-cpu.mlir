// The stages of the CPU one by one are its pipeline.
// RUN: rm -rf %t && attn-opt %s --attn-pipeline="target=cpu vector-width=8" --attn-dump-stages=%t/cpu -o %t.whole
// RUN: attn-opt %s --attn-stage-normalize="target=cpu" --attn-stage-configure="target=cpu" \
// RUN:   --attn-stage-split="target=cpu" --attn-stage-tile="target=cpu" \
// RUN:   --attn-stage-convert="target=cpu vector-width=8" --attn-stage-lower="target=cpu" -o %t.steps
// RUN: diff %t.whole %t.steps
// RUN: attn-opt %t/cpu/4-tile.mlir | FileCheck %s

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    attributes {attn.kernel}
// CHECK:         scf.forall
// CHECK-NOT:     attn.forward
func.func @forward(%q: memref<?x?x4x64xbf16>, %k: memref<?x?x2x64xbf16>, %v: memref<?x?x2x64xbf16>,
                   %o: memref<?x?x4x64xbf16>, %scale: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x4x64xbf16>, memref<?x?x2x64xbf16>, memref<?x?x2x64xbf16>)
               outs(%o : memref<?x?x4x64xbf16>) scale(%scale) mask(#attn.causal<bottom_right>)
               alignment(16)
  return
}
