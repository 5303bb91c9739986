// Causal attention of a decoder with grouped queries: 32 query heads read 8 KV heads of dimension 128.
// Batch and lengths are arguments of the kernel: a new sequence length never recompiles.
//
//   attn-opt examples/forward.mlir --attn-pipeline="target=sm_80" --attn-dump-stages=stages
//   attnc compile examples/forward.mlir --target sm_80 --emit ptx -o forward.ptx

func.func @forward(%q: memref<?x?x32x128xbf16>, %k: memref<?x?x8x128xbf16>,
                   %v: memref<?x?x8x128xbf16>, %o: memref<?x?x32x128xbf16>,
                   %lse: memref<?x32x?xf32>, %scale: f32) {
  attn.forward ins(%q, %k, %v : memref<?x?x32x128xbf16>, memref<?x?x8x128xbf16>,
                                memref<?x?x8x128xbf16>)
               outs(%o, %lse : memref<?x?x32x128xbf16>, memref<?x32x?xf32>)
               scale(%scale) mask(#attn.causal<bottom_right>) alignment(16)
  return
}
