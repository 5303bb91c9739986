// Constraints C1 to C11 of attn.forward; those of its score region are in invalid-score-region.mlir.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @c1_q_rank(%q: memref<?x?x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                     %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{'attn.forward' op C1: expected q to be a memref of rank 4, got 'memref<?x?x64xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c1_k_rank(%q: memref<?x?x8x64xf16>, %k: memref<?x?x?x2x64xf16>,
                     %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C1: expected k to be a memref of rank 4, got 'memref<?x?x?x2x64xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c1_v_unranked(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<*xf16>,
                         %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<*xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c1_o_rank(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                     %o: memref<64xf16>, %scale: f32) {
  // expected-error@+1 {{C1: expected o to be a memref of rank 4, got 'memref<64xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<64xf16>) scale(%scale)
  return
}

// -----

func.func @c1_o_unranked(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                         %v: memref<?x?x2x64xf16>, %o: memref<*xf16>, %scale: f32) {
  // expected-error@+2 {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<*xf16>) scale(%scale)
  return
}

// -----

func.func @c1_q_scalar(%q: memref<f16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                       %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C1: expected q to be a memref of rank 4, got 'memref<f16>'}}
  attn.forward ins(%q, %k, %v : memref<f16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c1_lse_rank(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                       %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %lse: memref<?x8xf32>,
                       %scale: f32) {
  // expected-error@+1 {{C1: expected lse to be a memref of rank 3, got 'memref<?x8xf32>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8xf32>) scale(%scale)
  return
}

// -----

func.func @c1_lse_unranked(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %lse: memref<*xf32>,
                           %scale: f32) {
  // expected-error@+1 {{operand #4 must be memref of any type values, but got 'memref<*xf32>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<*xf32>) scale(%scale)
  return
}

// -----

func.func @c1_lse_element_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                               %lse: memref<?x8x?xf16>, %scale: f32) {
  // expected-error@+1 {{C1: expected lse to have element type f32, got 'f16'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8x?xf16>) scale(%scale)
  return
}

// -----

func.func @c2_q_element_type(%q: memref<?x?x8x64xf64>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C2: expected element type f32, f16 or bf16 of q, got 'f64'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf64>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c2_integer(%q: memref<?x?x8x64xi8>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                      %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C2: expected element type f32, f16 or bf16 of q, got 'i8'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xi8>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c2_vector_elements(%q: memref<?x?x8x64xvector<2xf16>>, %k: memref<?x?x2x64xf16>,
                              %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C2: expected element type f32, f16 or bf16 of q, got 'vector<2xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xvector<2xf16>>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c2_index_elements(%q: memref<?x?x8x64xindex>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C2: expected element type f32, f16 or bf16 of q, got 'index'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xindex>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c2_k_element_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xbf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C2: expected q and k to have one element type, got 'f16' and 'bf16'; convert one of them}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xbf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c2_v_element_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf32>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C2: expected q and v to have one element type, got 'f16' and 'f32'; convert one of them}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf32>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c2_o_element_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xbf16>, %scale: f32) {
  // expected-error@+1 {{C2: expected o to have the element type of q ('f16') or f32, got 'bf16'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xbf16>) scale(%scale)
  return
}

// -----

func.func @c3_q_head_dim_dynamic(%q: memref<?x?x8x?xf16>, %k: memref<?x?x2x64xf16>,
                                 %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected a static head dim of q, got ?}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x?xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c3_v_head_dim_dynamic(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                                 %v: memref<?x?x2x?xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected a static head dim of v, got ?}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x?xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c3_head_dim_multiple(%q: memref<?x?x8x60xf16>, %k: memref<?x?x2x64xf16>,
                                %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected the head dim of q to be a multiple of 8 in [8, 256], got 60; pad the tensors to the next multiple of 8}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x60xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c3_head_dim_zero(%q: memref<?x?x8x0xf16>, %k: memref<?x?x2x64xf16>,
                            %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected the head dim of q to be a multiple of 8 in [8, 256], got 0}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x0xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c3_head_dim_limit(%q: memref<?x?x8x264xf16>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected the head dim of q to be a multiple of 8 in [8, 256], got 264}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x264xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c3_k_head_dim_limit(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x512xf16>,
                               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected the head dim of k to be a multiple of 8 in [8, 256], got 512}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x512xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c3_v_head_dim_limit(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                               %v: memref<?x?x2x520xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected the head dim of v to be a multiple of 8 in [8, 512], got 520}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x520xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c3_o_head_dim_limit(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x4xf16>, %scale: f32) {
  // expected-error@+1 {{C3: expected the head dim of o to be a multiple of 8 in [8, 512], got 4}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x4xf16>) scale(%scale)
  return
}

// -----

func.func @c4_q_k_head_dim(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x128xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C4: expected q and k to agree in head dim, got 64 and 128}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x128xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c4_v_o_head_dim(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x128xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C4: expected v and o to agree in head dim, got 128 and 64}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x128xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c5_heads_dynamic(%q: memref<?x?x?x64xf16>, %k: memref<?x?x2x64xf16>,
                            %v: memref<?x?x2x64xf16>, %o: memref<?x?x?x64xf16>, %scale: f32) {
  // expected-error@+1 {{C5: expected static, positive head counts, got 'memref<?x?x?x64xf16>' and 'memref<?x?x2x64xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x?x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x?x64xf16>) scale(%scale)
  return
}

// -----

func.func @c5_heads_kv_dynamic(%q: memref<?x?x8x64xf16>, %k: memref<?x?x?x64xf16>,
                               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C5: expected static, positive head counts, got 'memref<?x?x8x64xf16>' and 'memref<?x?x?x64xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x?x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c5_heads_zero(%q: memref<?x?x8x64xf16>, %k: memref<?x?x0x64xf16>,
                         %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C5: expected static, positive head counts, got 'memref<?x?x8x64xf16>' and 'memref<?x?x0x64xf16>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x0x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c5_group(%q: memref<?x?x8x64xf16>, %k: memref<?x?x3x64xf16>, %v: memref<?x?x2x64xf16>,
                    %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C5: expected heads_q to be a multiple of heads_kv, got heads_q = 8 and heads_kv = 3}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x3x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_batch(%q: memref<2x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                    %o: memref<3x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C6: expected q and o to agree in batch, got 2 and 3}}
  attn.forward ins(%q, %k, %v : memref<2x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<3x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_seq_len_q(%q: memref<?x16x8x64xf16>, %k: memref<?x?x2x64xf16>,
                        %v: memref<?x?x2x64xf16>, %o: memref<?x17x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C6: expected q and o to agree in seq_len_q, got 16 and 17}}
  attn.forward ins(%q, %k, %v : memref<?x16x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x17x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_heads_q(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                      %o: memref<?x?x4x64xf16>, %scale: f32) {
  // expected-error@+1 {{C6: expected q and o to agree in heads_q, got 8 and 4}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x4x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_batch_kv(%q: memref<?x?x8x64xf16>, %k: memref<1x?x2x64xf16>,
                       %v: memref<2x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C6: expected k and v to agree in batch, got 1 and 2}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<1x?x2x64xf16>, memref<2x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_seq_len_kv(%q: memref<?x?x8x64xf16>, %k: memref<?x9x2x64xf16>,
                         %v: memref<?x8x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C6: expected k and v to agree in seq_len_kv, got 9 and 8}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x9x2x64xf16>, memref<?x8x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_heads_kv(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                       %v: memref<?x?x4x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C6: expected k and v to agree in heads_kv, got 2 and 4}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x4x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_batch_q_kv(%q: memref<2x?x8x64xf16>, %k: memref<3x?x2x64xf16>,
                         %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C6: expected q and k to agree in batch, got 2 and 3}}
  attn.forward ins(%q, %k, %v : memref<2x?x8x64xf16>, memref<3x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c6_lse_batch(%q: memref<2x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                        %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                        %lse: memref<3x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C6: expected q and lse to agree in batch, got 2 and 3}}
  attn.forward ins(%q, %k, %v : memref<2x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<3x8x?xf32>) scale(%scale)
  return
}

// -----

func.func @c6_lse_heads(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                        %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                        %lse: memref<?x7x?xf32>, %scale: f32) {
  // expected-error@+1 {{C6: expected q and lse to agree in heads_q, got 8 and 7}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x7x?xf32>) scale(%scale)
  return
}

// -----

func.func @c6_lse_seq_len(%q: memref<?x5x8x64xf16>, %k: memref<?x?x2x64xf16>,
                          %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                          %lse: memref<?x8x6xf32>, %scale: f32) {
  // expected-error@+1 {{C6: expected q and lse to agree in seq_len_q, got 5 and 6}}
  attn.forward ins(%q, %k, %v : memref<?x5x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8x6xf32>) scale(%scale)
  return
}

// -----

func.func @c7_stride(%q: memref<?x?x8x64xf16, strided<[?, ?, ?, 2]>>, %k: memref<?x?x2x64xf16>,
                     %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C7: expected the last dim of q to be contiguous (stride 1), got stride 2 in 'memref<?x?x8x64xf16, strided<[?, ?, ?, 2]>>'; copy the tensor or pass a view with stride 1}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16, strided<[?, ?, ?, 2]>>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c7_stride_dynamic(%q: memref<?x?x8x64xf16>,
                             %k: memref<?x?x2x64xf16, strided<[?, ?, ?, ?]>>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C7: expected the last dim of k to be contiguous (stride 1), got stride ?}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16, strided<[?, ?, ?, ?]>>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c7_stride_zero(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                          %v: memref<?x?x2x64xf16, strided<[?, ?, ?, 0]>>,
                          %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C7: expected the last dim of v to be contiguous (stride 1), got stride 0}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16, strided<[?, ?, ?, 0]>>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c7_o_stride(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                       %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16, strided<[?, ?, 1, 8]>>,
                       %scale: f32) {
  // expected-error@+1 {{C7: expected the last dim of o to be contiguous (stride 1), got stride 8}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16, strided<[?, ?, 1, 8]>>) scale(%scale)
  return
}

// -----

func.func @c7_no_strides(%q: memref<?x?x8x64xf16, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3 floordiv 2, d3 mod 2)>>,
                         %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                         %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C7: expected q to have a strided layout, got 'memref<?x?x8x64xf16, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3 floordiv 2, d3 mod 2)>>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3 floordiv 2, d3 mod 2)>>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c7_lse_no_strides(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                             %lse: memref<?x8x?xf32, affine_map<(d0, d1, d2) -> (d0, d1 mod 2, d2)>>,
                             %scale: f32) {
  // expected-error@+1 {{C7: expected lse to have a strided layout, got 'memref<?x8x?xf32, affine_map<(d0, d1, d2) -> (d0, d1 mod 2, d2)>>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8x?xf32, affine_map<(d0, d1, d2) -> (d0, d1 mod 2, d2)>>) scale(%scale)
  return
}

// -----

func.func @c7_o_expanded(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                         %v: memref<?x?x2x64xf16>,
                         %o: memref<?x?x8x64xf16, strided<[0, 512, 64, 1]>>, %scale: f32) {
  // expected-error@+1 {{C7: expected the elements of o to lie at different addresses, got stride 0 in dim 0 of 'memref<?x?x8x64xf16, strided<[0, 512, 64, 1]>>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16, strided<[0, 512, 64, 1]>>) scale(%scale)
  return
}

// -----

func.func @c7_lse_expanded(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                           %lse: memref<?x8x?xf32, strided<[?, 0, 1]>>, %scale: f32) {
  // expected-error@+1 {{C7: expected the elements of lse to lie at different addresses, got stride 0 in dim 1}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8x?xf32, strided<[?, 0, 1]>>) scale(%scale)
  return
}

// -----

func.func @c7_memory_space(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16, 3>,
                           %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C7: expected k to be in the default memory space, got 3 : i64}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16, 3>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----

func.func @c7_lse_memory_space(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                               %lse: memref<?x8x?xf32, "host">, %scale: f32) {
  // expected-error@+1 {{C7: expected lse to be in the default memory space, got "host"}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8x?xf32, "host">) scale(%scale)
  return
}

// -----

func.func @c8_missing_operand(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                              %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C8: expected 1 mask operands for #attn.window<?, 0>, got 0}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) mask(#attn.window<?, 0>)
  return
}

// -----

func.func @c8_extra_operand(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                            %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32,
                            %n: index) {
  // expected-error@+1 {{C8: expected 0 mask operands for #attn.causal<bottom_right>, got 1}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) 
               mask(#attn.causal<bottom_right>) mask_args(%n : index)
  return
}

// -----

func.func @c8_operand_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32,
                           %n: i32) {
  // expected-error@+1 {{C8: expected a window bound of type 'index', got 'i32'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) 
               mask(#attn.window<?, 0>) mask_args(%n : i32)
  return
}

// -----

func.func @c8_member_operand_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                                  %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32,
                                  %n: index) {
  // expected-error@+1 {{C8: expected a window bound of type 'index', got 'f32'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) 
               mask(#attn.all_of<#attn.causal<top_left>, #attn.window<?, ?>>)
               mask_args(%n, %scale : index, f32)
  return
}

// -----

func.func @c8_any_of_operand_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                                  %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32,
                                  %n: index) {
  // expected-error@+1 {{C8: expected a window bound of type 'index', got 'f32'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) 
               mask(#attn.any_of<#attn.causal<top_left>, #attn.window<?, ?>>)
               mask_args(%n, %scale : index, f32)
  return
}

// -----

func.func @c8_kv_operand(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                         %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32,
                         %n: index) {
  // expected-error@+1 {{C8: expected 0 KV operands for #attn.dense, got 1}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) kv(#attn.dense) kv_args(%n : index)
  return
}

// -----

func.func @c9_no_arguments(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C9: expected a score region of (f32, index, index, index, index), got ()}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
    attn.yield %scale : f32
  }
  return
}

// -----

func.func @c9_argument_count(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C9: expected a score region of (f32, index, index, index, index), got ('f32', 'index')}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index):
    attn.yield %s : f32
  }
  return
}

// -----

func.func @c9_argument_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                            %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C9: expected a score region of (f32, index, index, index, index), got ('f16', 'index', 'index', 'index', 'index')}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f16, %b: index, %h: index, %i: index, %j: index):
    attn.yield %scale : f32
  }
  return
}

// -----

func.func @c9_position_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                            %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C9: expected a score region of (f32, index, index, index, index), got ('f32', 'i32', 'index', 'index', 'index')}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: i32, %h: index, %i: index, %j: index):
    attn.yield %s : f32
  }
  return
}

// -----

func.func @c10_alignment_not_a_power(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                                     %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
                                     %scale: f32) {
  // expected-error@+1 {{C10: expected alignment to be a power of two of at least 2 bytes, got 24}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) alignment(24)
  return
}

// -----

func.func @c10_alignment_small(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C10: expected alignment to be a power of two of at least 2 bytes, got 1}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) alignment(1)
  return
}

// -----

func.func @c10_alignment_zero(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                              %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C10: expected alignment to be a power of two of at least 2 bytes, got 0}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) alignment(0)
  return
}

// -----

func.func @c10_alignment_negative(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                                  %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C10: expected alignment to be a power of two of at least 2 bytes, got -16}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) alignment(-16)
  return
}

// -----

func.func @c11_no_schedule(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<4x?x?x8x64xf32>,
                           %lse: memref<4x?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C11: expected a schedule with split_kv = 4 for partial outputs of leading dim 4, got none}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>) scale(%scale)
  return
}

// -----

func.func @c11_other_split(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                           %v: memref<?x?x2x64xf16>, %o: memref<4x?x?x8x64xf32>,
                           %lse: memref<4x?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C11: expected a schedule with split_kv = 4 for partial outputs of leading dim 4, got split_kv = 2}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>) scale(%scale) schedule(<split_kv = 2>)
  return
}

// -----

func.func @c11_dynamic_parts(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                             %v: memref<?x?x2x64xf16>, %o: memref<?x?x?x8x64xf32>,
                             %lse: memref<?x?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C11: expected partial outputs of a static number of parts, at least 2, got 'memref<?x?x?x8x64xf32>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x?x8x64xf32>, memref<?x?x8x?xf32>) scale(%scale) schedule(<split_kv = 2>)
  return
}

// -----

func.func @c11_one_part(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                        %v: memref<?x?x2x64xf16>, %o: memref<1x?x?x8x64xf32>,
                        %lse: memref<1x?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C11: expected partial outputs of a static number of parts, at least 2, got 'memref<1x?x?x8x64xf32>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<1x?x?x8x64xf32>, memref<1x?x8x?xf32>) scale(%scale) schedule(<split_kv = 1>)
  return
}

// -----

func.func @c11_no_lse(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %v: memref<?x?x2x64xf16>,
                      %o: memref<4x?x?x8x64xf32>, %scale: f32) {
  // expected-error@+1 {{C11: expected a partial lse with leading dim 4, got none}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<4x?x?x8x64xf32>) scale(%scale) schedule(<split_kv = 4>)
  return
}

// -----

func.func @c11_lse_parts(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                         %v: memref<?x?x2x64xf16>, %o: memref<4x?x?x8x64xf32>,
                         %lse: memref<2x?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C11: expected a partial lse with leading dim 4, got 'memref<2x?x8x?xf32>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<4x?x?x8x64xf32>, memref<2x?x8x?xf32>) scale(%scale) schedule(<split_kv = 4>)
  return
}

// -----

func.func @c11_lse_rank(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                        %v: memref<?x?x2x64xf16>, %o: memref<4x?x?x8x64xf32>,
                        %lse: memref<?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C1: expected lse to be a memref of rank 4, got 'memref<?x8x?xf32>'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<4x?x?x8x64xf32>, memref<?x8x?xf32>) scale(%scale) schedule(<split_kv = 4>)
  return
}

// -----

func.func @c11_element_type(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
                            %v: memref<?x?x2x64xf16>, %o: memref<4x?x?x8x64xf16>,
                            %lse: memref<4x?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C11: expected partial outputs of element type f32, got 'f16'}}
  attn.forward ins(%q, %k, %v : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<4x?x?x8x64xf16>, memref<4x?x8x?xf32>) scale(%scale) schedule(<split_kv = 4>)
  return
}

// -----

func.func @c12_none(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %l: memref<?x8x?xf32>,
                  %t: memref<?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C12: expected lse_tail together with an lse, got none}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) lse_tail(%t : memref<?x8x?xf32>) scale(%scale)
  return
}

// -----

func.func @c12_type(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %l: memref<?x8x?xf32>,
                  %t: memref<?x8x?xf16>, %scale: f32) {
  // expected-error@+1 {{C12: expected lse_tail to have element type f32, got 'f16'}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o, %l : memref<?x?x8x64xf16>, memref<?x8x?xf32>) lse_tail(%t : memref<?x8x?xf16>) scale(%scale)
  return
}

// -----

func.func @c12_rank(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %l: memref<?x8x?xf32>,
                  %t: memref<?x8xf32>, %scale: f32) {
  // expected-error@+1 {{C12: expected lse_tail to be a memref of rank 3, got 'memref<?x8xf32>'}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o, %l : memref<?x?x8x64xf16>, memref<?x8x?xf32>) lse_tail(%t : memref<?x8xf32>) scale(%scale)
  return
}

// -----

func.func @c12_size(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %l: memref<?x8x?xf32>,
                  %t: memref<?x4x?xf32>, %scale: f32) {
  // expected-error@+1 {{C12: expected lse and lse_tail to agree in sizes, got 8 and 4}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o, %l : memref<?x?x8x64xf16>, memref<?x8x?xf32>) lse_tail(%t : memref<?x4x?xf32>) scale(%scale)
  return
}

// -----

func.func @c13_no_length(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  // expected-error@+1 {{C13: expected max_seq_len in [1, 2147483647], got 0}}
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) max_seq_len(0)
  return
}
