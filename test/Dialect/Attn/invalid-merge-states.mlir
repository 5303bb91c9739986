// Constraints C1 to C4 of attn.merge_states.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @c1_partial_o_rank(%po: memref<?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                             %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{'attn.merge_states' op C1: expected partial_o to be a memref of rank 5, got 'memref<?x?x8x64xf32>'}}
  attn.merge_states ins(%po, %pl : memref<?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c1_partial_o_unranked(%po: memref<*xf32>, %pl: memref<4x?x8x?xf32>,
                                 %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xf32>'}}
  attn.merge_states ins(%po, %pl : memref<*xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c1_partial_lse_rank(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8xf32>,
                               %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C1: expected partial_lse to be a memref of rank 4, got 'memref<4x?x8xf32>'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c1_o_rank(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                     %o: memref<?x?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C1: expected o to be a memref of rank 4, got 'memref<?x?x?x8x64xbf16>'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c1_lse_rank(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                       %o: memref<?x?x8x64xbf16>, %lse: memref<f32>) {
  // expected-error@+1 {{C1: expected lse to be a memref of rank 3, got 'memref<f32>'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<f32>)
  return
}

// -----

func.func @c2_partial_o_type(%po: memref<4x?x?x8x64xf16>, %pl: memref<4x?x8x?xf32>,
                             %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C2: expected partial_o to have element type f32, got 'f16'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf16>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c2_partial_lse_type(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xbf16>,
                               %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C2: expected partial_lse to have element type f32, got 'bf16'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xbf16>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c2_lse_type(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                       %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf64>) {
  // expected-error@+1 {{C2: expected lse to have element type f32, got 'f64'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf64>)
  return
}

// -----

func.func @c2_o_type(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                     %o: memref<?x?x8x64xi32>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C2: expected element type f32, f16 or bf16 of o, got 'i32'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xi32>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_parts_dynamic(%po: memref<?x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                            %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected static parts, heads and head dim, got 'memref<?x?x?x8x64xf32>'}}
  attn.merge_states ins(%po, %pl : memref<?x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_heads_dynamic(%po: memref<4x?x?x?x64xf32>, %pl: memref<4x?x8x?xf32>,
                            %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected static parts, heads and head dim, got 'memref<4x?x?x?x64xf32>'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x?x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_head_dim_dynamic(%po: memref<4x?x?x8x?xf32>, %pl: memref<4x?x8x?xf32>,
                               %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected static parts, heads and head dim, got 'memref<4x?x?x8x?xf32>'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x?xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_no_parts(%po: memref<0x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                       %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected positive parts and heads, got 'memref<0x?x?x8x64xf32>'}}
  attn.merge_states ins(%po, %pl : memref<0x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_no_heads(%po: memref<4x?x?x0x64xf32>, %pl: memref<4x?x8x?xf32>,
                       %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected positive parts and heads, got 'memref<4x?x?x0x64xf32>'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x0x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_head_dim_limit(%po: memref<4x?x?x8x520xf32>, %pl: memref<4x?x8x?xf32>,
                             %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected the head dim to be in [1, 512], got 520}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x520xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_parts_differ(%po: memref<4x?x?x8x64xf32>, %pl: memref<3x?x8x?xf32>,
                           %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and partial_lse to agree in parts, got 4 and 3}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<3x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_batch_differs(%po: memref<4x1x?x8x64xf32>, %pl: memref<4x2x8x?xf32>,
                            %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and partial_lse to agree in batch, got 1 and 2}}
  attn.merge_states ins(%po, %pl : memref<4x1x?x8x64xf32>, memref<4x2x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_seq_len_differs(%po: memref<4x?x7x8x64xf32>, %pl: memref<4x?x8x8xf32>,
                              %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and partial_lse to agree in seq_len_q, got 7 and 8}}
  attn.merge_states ins(%po, %pl : memref<4x?x7x8x64xf32>, memref<4x?x8x8xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_heads_differ(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x4x?xf32>,
                           %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and partial_lse to agree in heads, got 8 and 4}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x4x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_o_batch_differs(%po: memref<4x1x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                              %o: memref<2x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and o to agree in batch, got 1 and 2}}
  attn.merge_states ins(%po, %pl : memref<4x1x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<2x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_o_seq_len_differs(%po: memref<4x?x7x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                                %o: memref<?x8x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and o to agree in seq_len_q, got 7 and 8}}
  attn.merge_states ins(%po, %pl : memref<4x?x7x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x8x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_o_heads_differ(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                             %o: memref<?x?x2x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and o to agree in heads, got 8 and 2}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x2x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_o_head_dim_differs(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                                 %o: memref<?x?x8x32xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and o to agree in head dim, got 64 and 32}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x32xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c3_lse_batch_differs(%po: memref<4x1x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                                %o: memref<?x?x8x64xbf16>, %lse: memref<2x8x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and lse to agree in batch, got 1 and 2}}
  attn.merge_states ins(%po, %pl : memref<4x1x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<2x8x?xf32>)
  return
}

// -----

func.func @c3_lse_heads_differ(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                               %o: memref<?x?x8x64xbf16>, %lse: memref<?x9x?xf32>) {
  // expected-error@+1 {{C3: expected partial_o and lse to agree in heads, got 8 and 9}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x9x?xf32>)
  return
}

// -----

func.func @c3_lse_seq_len_differs(%po: memref<4x?x7x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                                  %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x8xf32>) {
  // expected-error@+1 {{C3: expected partial_o and lse to agree in seq_len_q, got 7 and 8}}
  attn.merge_states ins(%po, %pl : memref<4x?x7x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x8xf32>)
  return
}

// -----

func.func @c4_partial_o_stride(%po: memref<4x?x?x8x64xf32, strided<[?, ?, ?, ?, 2]>>,
                               %pl: memref<4x?x8x?xf32>, %o: memref<?x?x8x64xbf16>,
                               %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C4: expected the last dim of partial_o to be contiguous (stride 1), got stride 2}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32, strided<[?, ?, ?, ?, 2]>>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c4_o_stride(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                       %o: memref<?x?x8x64xbf16, strided<[?, ?, ?, ?]>>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C4: expected the last dim of o to be contiguous (stride 1), got stride ?}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c4_partial_lse_no_strides(%po: memref<4x?x?x8x64xf32>,
                                     %pl: memref<4x?x8x?xf32, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3 mod 8)>>,
                                     %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C4: expected partial_lse to have a strided layout, got 'memref<4x?x8x?xf32, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3 mod 8)>>'}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3 mod 8)>>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c4_o_expanded(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                         %o: memref<?x?x8x64xbf16, strided<[?, ?, 0, 1]>>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C4: expected the elements of o to lie at different addresses, got stride 0 in dim 2}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16, strided<[?, ?, 0, 1]>>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c4_lse_expanded(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                           %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32, strided<[?, ?, 0]>>) {
  // expected-error@+1 {{C4: expected the elements of lse to lie at different addresses, got stride 0 in dim 2}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32, strided<[?, ?, 0]>>)
  return
}

// -----

func.func @c4_memory_space(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32, 1>,
                           %o: memref<?x?x8x64xbf16>, %lse: memref<?x8x?xf32>) {
  // expected-error@+1 {{C4: expected partial_lse to be in the default memory space, got 1 : i64}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32, 1>)
                    outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
  return
}

// -----

func.func @c5_tail_parts(%po: memref<4x?x?x8x64xf32>, %pl: memref<4x?x8x?xf32>,
                         %pt: memref<3x?x8x?xf32>, %o: memref<?x?x8x64xbf16>) {
  // expected-error@+1 {{C5: expected partial_lse and partial_tail to agree in sizes, got 4 and 3}}
  attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                    partial_tail(%pt : memref<3x?x8x?xf32>) outs(%o : memref<?x?x8x64xbf16>)
  return
}
