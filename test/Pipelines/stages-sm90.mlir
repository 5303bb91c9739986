// Each stage of a kernel with roles leaves a file; each file prints as it was parsed, in both forms,
// and is lowered from there to the same program.
// RUN: rm -rf %t && attn-opt %s --attn-pipeline=target=sm_90a --attn-dump-stages=%t/gpu -o %t.llvm.mlir
// RUN: ls %t/gpu | FileCheck %s --check-prefix=FILES
// RUN: attn-opt %t/gpu/1-normalize.mlir -o %t/1-normalize.mlir && attn-opt %t/1-normalize.mlir | diff %t/1-normalize.mlir -
// RUN: attn-opt %t/gpu/2-configure.mlir -o %t/2-configure.mlir && attn-opt %t/2-configure.mlir | diff %t/2-configure.mlir -
// RUN: attn-opt %t/gpu/3-split.mlir -o %t/3-split.mlir && attn-opt %t/3-split.mlir | diff %t/3-split.mlir -
// RUN: attn-opt %t/gpu/4-tile.mlir -o %t/4-tile.mlir && attn-opt %t/4-tile.mlir | diff %t/4-tile.mlir -
// RUN: attn-opt %t/gpu/5-schedule.mlir -o %t/5-schedule.mlir && attn-opt %t/5-schedule.mlir | diff %t/5-schedule.mlir -
// RUN: attn-opt %t/gpu/6-place.mlir -o %t/6-place.mlir && attn-opt %t/6-place.mlir | diff %t/6-place.mlir -
// RUN: attn-opt %t/gpu/7-convert.mlir -o %t/7-convert.mlir && attn-opt %t/7-convert.mlir | diff %t/7-convert.mlir -
// RUN: attn-opt %t/gpu/8-lower.mlir -o %t/8-lower.mlir && attn-opt %t/8-lower.mlir | diff %t/8-lower.mlir -
// RUN: attn-opt %t/gpu/2-configure.mlir --mlir-print-op-generic | attn-opt | diff %t/2-configure.mlir -
// RUN: attn-opt %t/gpu/3-split.mlir --mlir-print-op-generic | attn-opt | diff %t/3-split.mlir -
// RUN: attn-opt %t/gpu/4-tile.mlir --mlir-print-op-generic | attn-opt | diff %t/4-tile.mlir -
// RUN: attn-opt %t/gpu/5-schedule.mlir --mlir-print-op-generic | attn-opt | diff %t/5-schedule.mlir -
// RUN: attn-opt %t/gpu/6-place.mlir --mlir-print-op-generic | attn-opt | diff %t/6-place.mlir -
// RUN: attn-opt %t/gpu/7-convert.mlir --mlir-print-op-generic | attn-opt | diff %t/7-convert.mlir -
// RUN: attn-opt %t/gpu/8-lower.mlir --mlir-print-op-generic | attn-opt | diff %t/8-lower.mlir -
// RUN: attn-opt %t/gpu/1-normalize.mlir --pass-pipeline="builtin.module(attn-stage-configure{target=sm_90a},attn-stage-split{target=sm_90a},attn-stage-tile{target=sm_90a},attn-stage-schedule{target=sm_90a},attn-stage-place{target=sm_90a},attn-stage-convert{target=sm_90a},attn-stage-lower{target=sm_90a})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/2-configure.mlir --pass-pipeline="builtin.module(attn-stage-split{target=sm_90a},attn-stage-tile{target=sm_90a},attn-stage-schedule{target=sm_90a},attn-stage-place{target=sm_90a},attn-stage-convert{target=sm_90a},attn-stage-lower{target=sm_90a})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/3-split.mlir --pass-pipeline="builtin.module(attn-stage-tile{target=sm_90a},attn-stage-schedule{target=sm_90a},attn-stage-place{target=sm_90a},attn-stage-convert{target=sm_90a},attn-stage-lower{target=sm_90a})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/4-tile.mlir --pass-pipeline="builtin.module(attn-stage-schedule{target=sm_90a},attn-stage-place{target=sm_90a},attn-stage-convert{target=sm_90a},attn-stage-lower{target=sm_90a})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/5-schedule.mlir --pass-pipeline="builtin.module(attn-stage-place{target=sm_90a},attn-stage-convert{target=sm_90a},attn-stage-lower{target=sm_90a})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/6-place.mlir --pass-pipeline="builtin.module(attn-stage-convert{target=sm_90a},attn-stage-lower{target=sm_90a})" | diff - %t.llvm.mlir
// RUN: attn-opt %t/gpu/7-convert.mlir --pass-pipeline="builtin.module(attn-stage-lower{target=sm_90a})" | diff - %t.llvm.mlir

// FILES:      1-normalize.mlir
// FILES-NEXT: 2-configure.mlir
// FILES-NEXT: 3-split.mlir
// FILES-NEXT: 4-tile.mlir
// FILES-NEXT: 5-schedule.mlir
// FILES-NEXT: 6-place.mlir
// FILES-NEXT: 7-convert.mlir
// FILES-NEXT: 8-lower.mlir
// FILES-NEXT: 9-emit.ptx

!t = memref<?x?x8x64xf16, strided<[?, ?, ?, 1]>>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t, %s: f32) {
  attn.forward ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16)
  return
}
