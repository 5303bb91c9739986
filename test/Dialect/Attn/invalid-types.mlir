// Tiles, softmax states, pipes and mailboxes that their verifiers or parsers refuse.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

// expected-error@+1 {{expected a tile of rank 1 or 2, got rank 0}}
func.func private @f(!attn.tile<f32>)

// -----

// expected-error@+1 {{expected a tile of rank 1 or 2, got rank 3}}
func.func private @f(!attn.tile<2x2x2xf32>)

// -----

// expected-error@+1 {{expected tile sizes in [1, 65536], got 0}}
func.func private @f(!attn.tile<0x16xf32>)

// -----

// expected-error@+1 {{expected tile sizes in [1, 65536], got 65537}}
func.func private @f(!attn.tile<65537xf32>)

// -----

// expected-error@+1 {{expected a tile of at most 1048576 elements, got 4096x4096}}
func.func private @f(!attn.tile<4096x4096xf32>)

// -----

// expected-error@+1 {{expected static shape}}
func.func private @f(!attn.tile<?x16xf32>)

// -----

// expected-error@+1 {{invalid dimension}}
func.func private @f(!attn.tile<99999999999999999999x16xf32>)

// -----

// expected-error@+1 {{expected}}
func.func private @f(!attn.tile<-16x16xf32>)

// -----

// expected-error@+1 {{expected element type f32, f16 or bf16, got 'f64'}}
func.func private @f(!attn.tile<16x16xf64>)

// -----

// expected-error@+1 {{expected element type f32, f16 or bf16, got 'i32'}}
func.func private @f(!attn.tile<16x16xi32>)

// -----

// expected-error@+1 {{expected element type f32, f16 or bf16, got 'vector<4xf32>'}}
func.func private @f(!attn.tile<16x16xvector<4xf32>>)

// -----

// expected-error@+1 {{expected a shared, boxed or fragment layout, got #attn.none}}
func.func private @f(!attn.tile<16x16xf32, #attn.none>)

// -----

// expected-error@+1 {{expected a shared, boxed or fragment layout, got 7 : i64}}
func.func private @f(!attn.tile<16x16xf32, 7>)

// -----

// expected-error@+1 {{expected attribute value}}
func.func private @f(!attn.tile<16x16xf32,>)

// -----

// expected-error@+1 {{expected}}
func.func private @f(!attn.tile<16x16>)

// -----

// expected-error@+1 {{expected a pitch of at least 128 bytes for rows of 64 elements, got #attn.shared<pitch = 64, xor_mask = 3>}}
func.func private @f(!attn.tile<16x64xf16, #attn.shared<pitch = 64, xor_mask = 3>>)

// -----

// expected-error@+1 {{expected a multiple of 64 rows for #attn.fragment<acc, warps = 4, split = rows>, got 32}}
func.func private @f(!attn.tile<32x64xf32, #attn.fragment<acc, warps = 4, split = rows>>)

// -----

// expected-error@+1 {{expected a multiple of 32 columns for #attn.fragment<acc, warps = 4, split = cols>, got 24}}
func.func private @f(!attn.tile<16x24xf32, #attn.fragment<acc, warps = 4, split = cols>>)

// -----

// expected-error@+1 {{expected a multiple of 16 rows for #attn.fragment<acc, warps = 4, split = partial>, got 8}}
func.func private @f(!attn.tile<8xf32, #attn.fragment<acc, warps = 4, split = partial>>)

// -----

// expected-error@+1 {{expected rows in [1, 65536], got 0}}
func.func private @f(!attn.softmax_state<0>)

// -----

// expected-error@+1 {{expected rows in [1, 65536], got -1}}
func.func private @f(!attn.softmax_state<-1>)

// -----

// expected-error@+1 {{expected rows in [1, 65536], got 65537}}
func.func private @f(!attn.softmax_state<65537>)

// -----

// expected-error@+1 {{expected '>'}}
func.func private @f(!attn.softmax_state<64xf32>)

// -----

// expected-error@+1 {{expected a fragment layout, got #attn.shared<pitch = 16, xor_mask = 0>}}
func.func private @f(!attn.softmax_state<64, #attn.shared<pitch = 16, xor_mask = 0>>)

// -----

// expected-error@+1 {{expected a multiple of 16 rows for #attn.fragment<acc, warps = 1, split = rows>, got 40}}
func.func private @f(!attn.softmax_state<40, #attn.fragment<acc, warps = 1, split = rows>>)

// -----

// expected-error@+1 {{expected a pipe of rank-2 tiles, got '!attn.tile<64xf32>'}}
func.func private @f(!attn.pipe<!attn.tile<64xf32>, stages = 2>)

// -----

// expected-error@+1 {{expected stages in [1, 8], got 0}}
func.func private @f(!attn.pipe<!attn.tile<64x64xf32>, stages = 0>)

// -----

// expected-error@+1 {{expected stages in [1, 8], got 9}}
func.func private @f(!attn.pipe<!attn.tile<64x64xf32>, stages = 9>)

// -----

// expected-error@+1 {{expected parts in [1, stages], got 3 of 2 stages}}
func.func private @f(!attn.pipe<!attn.tile<64x64xf16>, stages = 2, parts = 3>)

// -----

// expected-error@+1 {{expected parts in [1, stages], got 0 of 2 stages}}
func.func private @f(!attn.pipe<!attn.tile<64x64xf16>, stages = 2, parts = 0>)

// -----

// expected-error@+1 {{expected tiles of a multiple of 3 rows for as many parts, got '!attn.tile<64x64xf16>'}}
func.func private @f(!attn.pipe<!attn.tile<64x64xf16>, stages = 3, parts = 3>)

// -----

// expected-error@+1 {{expected tiles in the pipe's parts, got 4 and 2}}
func.func private @f(!attn.pipe<!attn.tile<64x64xf16, #attn.boxed<parts = 4>>, stages = 2, parts = 2>)

// -----

// expected-error@+1 {{expected 16-bit elements and a multiple of 24 rows for #attn.boxed<parts = 3>, got 64 rows of 'f16'}}
func.func private @f(!attn.tile<64x64xf16, #attn.boxed<parts = 3>>)

// -----

// expected-error@+1 {{expected parts in [1, 8], got 9}}
func.func private @f(!attn.tile<72x64xf16, #attn.boxed<parts = 9>>)

// -----

// expected-error@+2 {{expected '<'}}
// expected-error@+1 {{failed to parse Attn_PipeType parameter 'tile'}}
func.func private @f(!attn.pipe<f32, stages = 2>)

// -----

// expected-error@+1 {{expected ','}}
func.func private @f(!attn.pipe<!attn.tile<64x64xf32>>)

// -----

// expected-error@+1 {{unknown  type `queue` in dialect `attn`}}
func.func private @f(!attn.queue<3>)

// -----

// expected-error@+1 {{expected values in [1, 4], got 0}}
func.func private @f(!attn.mailbox<values = 0, stages = 2>)

// -----

// expected-error@+1 {{expected values in [1, 4], got 5}}
func.func private @f(!attn.mailbox<values = 5, stages = 2>)

// -----

// expected-error@+1 {{expected values in [1, 4], got -1}}
func.func private @f(!attn.mailbox<values = -1, stages = 2>)

// -----

// expected-error@+1 {{expected stages in [1, 8], got 0}}
func.func private @f(!attn.mailbox<values = 3, stages = 0>)

// -----

// expected-error@+1 {{expected stages in [1, 8], got 9}}
func.func private @f(!attn.mailbox<values = 3, stages = 9>)

// -----

// expected-error@+1 {{expected 'stages'}}
func.func private @f(!attn.mailbox<values = 3, depth = 2>)
