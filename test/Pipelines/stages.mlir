// Each stage leaves a file; each file is read back and lowered from there to the same PTX.
// RUN: rm -rf %t && attn-opt %s --attn-pipeline=target=sm_80 --attn-dump-stages=%t/gpu -o %t.llvm.mlir
// RUN: ls %t/gpu | FileCheck %s --check-prefixes=FILES,GPU
// RUN: FileCheck %s --check-prefix=PTX < %t/gpu/9-emit.ptx
// RUN: attn-opt %s --attn-pipeline=target=cpu --attn-dump-stages=%t/cpu -o /dev/null
// RUN: ls %t/cpu | FileCheck %s --check-prefixes=FILES,CPU
//
// RUN: attn-opt %t/gpu/1-normalize.mlir -o %t/1-normalize.mlir && attn-opt %t/1-normalize.mlir | diff %t/1-normalize.mlir -
// RUN: attn-opt %t/gpu/2-configure.mlir -o %t/2-configure.mlir && attn-opt %t/2-configure.mlir | diff %t/2-configure.mlir -
// RUN: attn-opt %t/gpu/3-split.mlir -o %t/3-split.mlir && attn-opt %t/3-split.mlir | diff %t/3-split.mlir -
// RUN: attn-opt %t/gpu/4-tile.mlir -o %t/4-tile.mlir && attn-opt %t/4-tile.mlir | diff %t/4-tile.mlir -
// RUN: attn-opt %t/gpu/5-schedule.mlir -o %t/5-schedule.mlir && attn-opt %t/5-schedule.mlir | diff %t/5-schedule.mlir -
// RUN: attn-opt %t/gpu/6-place.mlir -o %t/6-place.mlir && attn-opt %t/6-place.mlir | diff %t/6-place.mlir -
// RUN: attn-opt %t/gpu/7-convert.mlir -o %t/7-convert.mlir && attn-opt %t/7-convert.mlir | diff %t/7-convert.mlir -
// RUN: attn-opt %t/gpu/8-lower.mlir -o %t/8-lower.mlir && attn-opt %t/8-lower.mlir | diff %t/8-lower.mlir -
// RUN: attn-opt %t/gpu/8-lower.mlir | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/7-convert.mlir --attn-stage-lower=target=sm_80 -o %t/lower.mlir
// RUN: diff %t/lower.mlir %t.llvm.mlir
// RUN: attn-opt %t/gpu/6-place.mlir --pass-pipeline="builtin.module(attn-stage-convert{target=sm_80},attn-stage-lower{target=sm_80})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/4-tile.mlir --pass-pipeline="builtin.module(attn-stage-schedule{target=sm_80},attn-stage-place{target=sm_80},attn-stage-convert{target=sm_80},attn-stage-lower{target=sm_80})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/2-configure.mlir --pass-pipeline="builtin.module(attn-pipeline{target=sm_80})" | diff - %t.llvm.mlir
// RUN: attn-translate --mlir-to-ptx %t.llvm.mlir | diff - %t/gpu/9-emit.ptx

// FILES:      1-normalize.mlir
// FILES-NEXT: 2-configure.mlir
// FILES-NEXT: 3-split.mlir
// FILES-NEXT: 4-tile.mlir
// FILES-NEXT: 5-schedule.mlir
// FILES-NEXT: 6-place.mlir
// FILES-NEXT: 7-convert.mlir
// FILES-NEXT: 8-lower.mlir
// GPU-NEXT:   9-emit.ptx
// CPU-NOT:    {{.}}

// PTX: .visible .entry f

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16)
  return
}
