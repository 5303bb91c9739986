// RUN: attn-opt %s --split-input-file --verify-diagnostics

llvm.func @c1_n_not_multiple(%a: i64) {
  // expected-error @+1 {{C1: expected n to be a multiple of 8 in [8, 256], got 12}}
  %d:6 = attn_nv.wgmma n = 12, a(%a) b(%a) : bf16, bf16
  llvm.return
}

// -----

llvm.func @c1_n_too_large(%a: i64) {
  // expected-error @+1 {{C1: expected n to be a multiple of 8 in [8, 256], got 264}}
  %d:132 = attn_nv.wgmma n = 264, a(%a) b(%a) : bf16, bf16
  llvm.return
}

// -----

llvm.func @c1_n_negative(%a: i64) {
  // expected-error @+1 {{C1: expected n to be a multiple of 8 in [8, 256], got -8}}
  attn_nv.wgmma n = -8, a(%a) b(%a) : bf16, bf16
  llvm.return
}

// -----

llvm.func @c2_mixed_types(%a: i64) {
  // expected-error @+1 {{C2: expected both operands to be f16, both bf16, or each f8E4M3FN or f8E5M2, got 'bf16' and 'f16'}}
  %d:4 = attn_nv.wgmma n = 8, a(%a) b(%a) : bf16, f16
  llvm.return
}

// -----

llvm.func @c2_wide_types(%a: i64) {
  // expected-error @+1 {{C2: expected both operands to be f16, both bf16}}
  %d:4 = attn_nv.wgmma n = 8, a(%a) b(%a) : f32, f32
  llvm.return
}

// -----

llvm.func @c3_no_a(%a: i64) {
  // expected-error @+1 {{C3: expected A as one descriptor or as four registers, got 0 registers}}
  %d:4 = attn_nv.wgmma n = 8, b(%a) : bf16, bf16
  llvm.return
}

// -----

llvm.func @c3_two_registers(%a: i64, %r: i32) {
  // expected-error @+1 {{C3: expected A as one descriptor or as four registers, got 2 registers}}
  %d:4 = attn_nv.wgmma n = 8, a_registers(%r, %r) b(%a) : bf16, bf16
  llvm.return
}

// -----

llvm.func @c3_both(%a: i64, %r: i32) {
  // expected-error @+1 {{C3: expected A as one descriptor or as four registers, got a descriptor and 4 registers}}
  %d:4 = attn_nv.wgmma n = 8, a(%a) a_registers(%r, %r, %r, %r) b(%a) : bf16, bf16
  llvm.return
}

// -----

llvm.func @c4_transposed_bytes(%a: i64) {
  // expected-error @+1 {{C4: expected K-major operands of 8-bit elements}}
  %d:4 = attn_nv.wgmma n = 8, a(%a) b(%a) transpose_b : f8E4M3FN, f8E4M3FN
  llvm.return
}

// -----

llvm.func @c4_transposed_registers(%a: i64, %r: i32) {
  // expected-error @+1 {{C4: expected transpose_a with a descriptor, got registers}}
  %d:4 = attn_nv.wgmma n = 8, a_registers(%r, %r, %r, %r) b(%a) transpose_a : f16, f16
  llvm.return
}

// -----

llvm.func @c5_three_accumulators(%a: i64, %x: f32) {
  // expected-error @+1 {{C5: expected n / 2 = 4 accumulators, got 3}}
  %d:4 = attn_nv.wgmma n = 8, a(%a) b(%a) acc(%x, %x, %x) : f16, f16
  llvm.return
}

// -----

llvm.func @c5_scale_without_accumulators(%a: i64, %p: i1) {
  // expected-error @+1 {{C5: expected accumulators with scale_d}}
  %d:4 = attn_nv.wgmma n = 8, a(%a) b(%a) scale_d(%p) : f16, f16
  llvm.return
}

// -----

llvm.func @wrong_number_of_results(%a: i64) {
  // expected-error @+1 {{operation defines 4 results but was provided 5 to bind}}
  %d:5 = attn_nv.wgmma n = 8, a(%a) b(%a) : f16, f16
  llvm.return
}

// -----

llvm.func @c1_pending(%x: f32) {
  // expected-error @+1 {{C1: expected pending to be in [0, 7], got 8}}
  %r = attn_nv.wgmma_wait 8 acc(%x)
  llvm.return
}

// -----

llvm.func @c1_barrier_id(%n: i32) {
  %id = llvm.mlir.constant(16 : i32) : i32
  // expected-error @+1 {{C1: expected the id to be in [0, 15], got 16}}
  attn_nv.barrier_arrive %id, %n
  llvm.return
}

// -----

llvm.func @c1_barrier_threads(%id: i32) {
  %n = llvm.mlir.constant(100 : i32) : i32
  // expected-error @+1 {{C1: expected the number of threads to be a multiple of 32 in [32, 1024], got 100}}
  attn_nv.barrier_arrive %id, %n
  llvm.return
}

// -----

llvm.func @c1_reduced_type(%g: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i32) {
  // expected-error @+1 {{C1: expected f32, f16, bf16 or i32 elements, got 'f64'}}
  attn_nv.bulk_reduce %g, %s, %n : f64, !llvm.ptr<1>, !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @c2_reduced_bytes(%g: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
  %n = llvm.mlir.constant(24 : i32) : i32
  // expected-error @+1 {{C2: expected a positive multiple of 16 bytes, got 24}}
  attn_nv.bulk_reduce %g, %s, %n : f32, !llvm.ptr<1>, !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @generic_barrier(%bar: !llvm.ptr) {
  // expected-error @+1 {{must be LLVM pointer in address space 3 or LLVM pointer in address space 7}}
  attn_nv.mbarrier_arrive %bar : !llvm.ptr
  llvm.return
}
