// RUN: attn-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func @one_member
func.func @one_member(%s: !attn.tile<64x32xf32>, %i: index) -> !attn.tile<64x32xf32> {
  // CHECK: attn.mask_scores {{.*}} mask(#attn.causal<bottom_right>) :
  %t = attn.mask_scores %s rows(%i) keys(%i) lengths(%i, %i)
     mask(#attn.all_of<#attn.causal<bottom_right>>) : !attn.tile<64x32xf32>
  // CHECK: attn.mask_scores {{.*}} mask(#attn.window<?, 3>) mask_args(%{{.*}} : index) :
  %u = attn.mask_scores %t rows(%i) keys(%i) lengths(%i, %i)
     mask(#attn.any_of<#attn.all_of<#attn.window<?, 3>>>) mask_args(%i : index)
     : !attn.tile<64x32xf32>
  return %u : !attn.tile<64x32xf32>
}

// -----

// A member that keeps everything decides nothing in all_of, and everything in any_of:
// then the operands of the others are not needed.
// CHECK-LABEL: func @none_members
func.func @none_members(%s: !attn.tile<64x32xf32>, %i: index) -> !attn.tile<64x32xf32> {
  // CHECK: attn.mask_scores {{.*}} mask(#attn.window<7, 0>) :
  %t = attn.mask_scores %s rows(%i) keys(%i) lengths(%i, %i)
     mask(#attn.all_of<#attn.none, #attn.window<7, 0>, #attn.window<-1, -1>>)
     : !attn.tile<64x32xf32>
  // CHECK: attn.mask_scores {{.*}} mask(#attn.none) :
  %u = attn.mask_scores %t rows(%i) keys(%i) lengths(%i, %i)
     mask(#attn.any_of<#attn.window<?, 0>, #attn.none>) mask_args(%i : index)
     : !attn.tile<64x32xf32>
  // CHECK: attn.mask_scores {{.*}} mask(#attn.none) :
  %w = attn.mask_scores %u rows(%i) keys(%i) lengths(%i, %i)
     mask(#attn.all_of<#attn.none, #attn.none>) : !attn.tile<64x32xf32>
  return %w : !attn.tile<64x32xf32>
}

// -----

// CHECK-LABEL: func @convert_to_same_type
// CHECK-SAME: %[[T:.*]]: !attn.tile<16x16xf32>
// CHECK-NEXT: return %[[T]]
func.func @convert_to_same_type(%t: !attn.tile<16x16xf32>) -> !attn.tile<16x16xf32> {
  %u = attn.convert %t : !attn.tile<16x16xf32> -> !attn.tile<16x16xf32>
  return %u : !attn.tile<16x16xf32>
}

// -----

// CHECK-LABEL: func @convert_stays
// CHECK: attn.convert
func.func @convert_stays(%t: !attn.tile<16x16xf32>) -> !attn.tile<16x16xf16> {
  %u = attn.convert %t : !attn.tile<16x16xf32> -> !attn.tile<16x16xf16>
  return %u : !attn.tile<16x16xf16>
}

// -----

// CHECK-LABEL: func @identity_score
// CHECK: attn.forward
// CHECK-NOT: score
func.func @identity_score(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                          %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %unused = attn.softcap %s, 5.0e+01
    attn.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func @constant_score
// CHECK: attn.forward
// CHECK-SAME: score
func.func @constant_score(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                          %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    attn.yield %scale : f32
  }
  return
}

// -----

// An op that writes memory is not dead, whatever it reads: problems are kept.
// CHECK-LABEL: func @forward_is_kept
// CHECK: attn.forward
// CHECK: attn.merge_states
func.func @forward_is_kept(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %o: memref<?x?x8x64xf16>, %po: memref<2x?x?x8x64xf32>,
                           %pl: memref<2x?x8x?xf32>, %scale: f32) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  attn.merge_states ins(%po, %pl : memref<2x?x?x8x64xf32>, memref<2x?x8x?xf32>)
                    outs(%o : memref<?x?x8x64xf16>)
  return
}

// -----

// CHECK-LABEL: func @unused_tiles
// CHECK-NEXT: return
func.func @unused_tiles(%s: !attn.tile<64x32xf32>, %K: memref<?x?x8x64xf16>, %scale: f32,
                        %i: index) {
  %st = attn.softmax_init : !attn.softmax_state<64>
  %k = attn.load_tile %K[%i, %i, %i] : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>
  %u:3 = attn.softmax_update %st, %s scale(%scale)
       : !attn.softmax_state<64>, !attn.tile<64x32xf32> -> !attn.tile<64xf32>
  return
}
