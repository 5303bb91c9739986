// Masks, KV layouts, schedules and tile layouts that their verifiers or parsers refuse.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

// expected-error@+1 {{expected a left window bound >= -1, got -2}}
func.func private @f() attributes {a = #attn.window<-2, 0>}

// -----

// expected-error@+1 {{expected a right window bound >= -1, got -2}}
func.func private @f() attributes {a = #attn.window<0, -2>}

// -----

// expected-error@+1 {{expected a window bound >= -1, got -9223372036854775808}}
func.func private @f() attributes {a = #attn.window<-9223372036854775808, 0>}

// -----

// expected-error@+1 {{integer value too large}}
func.func private @f() attributes {a = #attn.window<99999999999999999999, 0>}

// -----

// expected-error@+1 {{expected ','}}
func.func private @f() attributes {a = #attn.window<1>}

// -----

// expected-error@+1 {{expected keyword for}}
func.func private @f() attributes {a = #attn.window<1, 2, 3>}

// -----

// expected-error@+1 {{expected one of [bottom_right, top_left] for which corner the diagonal runs through, got: middle}}
func.func private @f() attributes {a = #attn.window<1, 0, middle>}

// -----

// expected-error@+1 {{expected integer value}}
func.func private @f() attributes {a = #attn.window<a, 0>}

// -----

// expected-error@+1 {{expected '<'}}
func.func private @f() attributes {a = #attn.window}

// -----

// expected-error@+1 {{expected '<'}}
func.func private @f() attributes {a = #attn.causal}

// -----

// expected-error@+2 {{expected keyword for which corner the diagonal runs through}}
// expected-error@+1 {{failed to parse Attn_CausalMask parameter 'alignment'}}
func.func private @f() attributes {a = #attn.causal<>}

// -----

// expected-error@+2 {{expected one of [bottom_right, top_left] for which corner the diagonal runs through, got: bottom_left}}
// expected-error@+1 {{failed to parse Attn_CausalMask parameter 'alignment'}}
func.func private @f() attributes {a = #attn.causal<bottom_left>}

// -----

// expected-error@+1 {{expected at least one mask in the composition}}
func.func private @f() attributes {a = #attn.all_of<>}

// -----

// expected-error@+1 {{expected at least one mask in the composition}}
func.func private @f() attributes {a = #attn.any_of<>}

// -----

// expected-error@+1 {{expected a mask attribute, got 3 : i32}}
func.func private @f() attributes {a = #attn.all_of<#attn.none, 3 : i32>}

// -----

// expected-error@+1 {{expected a mask attribute, got #attn.dense}}
func.func private @f() attributes {a = #attn.any_of<#attn.dense>}

// -----

// expected-error@+1 {{expected a mask attribute, got "x"}}
func.func private @f() attributes {a = #attn.any_of<#attn.all_of<"x">>}

// -----

// expected-error@+1 {{expected a left window bound >= -1, got -5}}
func.func private @f() attributes {a = #attn.all_of<#attn.none, #attn.window<-5, 0>>}

// -----

// expected-error@+1 {{unknown attribute `tree` in dialect `attn`}}
func.func private @f() attributes {a = #attn.tree}

// -----

// expected-error@+1 {{expected no parameters}}
func.func private @f() attributes {a = #attn.dense<3>}

// -----

// expected-error@+1 {{expected no parameters}}
func.func private @f() attributes {a = #attn.none<causal>}

// -----

// expected-error@+1 {{expected q_tile in [1, 1024], got 0}}
func.func private @f() attributes {a = #attn.schedule<q_tile = 0>}

// -----

// expected-error@+1 {{expected q_tile in [1, 1024], got 1025}}
func.func private @f() attributes {a = #attn.schedule<q_tile = 1025>}

// -----

// expected-error@+1 {{expected kv_tile in [1, 1024], got -64}}
func.func private @f() attributes {a = #attn.schedule<kv_tile = -64>}

// -----

// expected-error@+1 {{expected stages in [1, 8], got 9}}
func.func private @f() attributes {a = #attn.schedule<stages = 9>}

// -----

// expected-error@+1 {{expected warps in [1, 32], got 33}}
func.func private @f() attributes {a = #attn.schedule<warps = 33>}

// -----

// expected-error@+1 {{expected split_kv in [1, 1024], got 0}}
func.func private @f() attributes {a = #attn.schedule<split_kv = 0>}

// -----

// expected-error@+1 {{expected split_kv = 1 with algorithm = fa1, got 2}}
func.func private @f() attributes {a = #attn.schedule<algorithm = fa1, split_kv = 2>}

// -----

// expected-error@+2 {{integer value too large}}
// expected-error@+1 {{failed to parse Attn_Schedule parameter 'q_tile'}}
func.func private @f() attributes {a = #attn.schedule<q_tile = 123456789012345678901>}

// -----

// expected-error@+1 {{duplicate or unknown struct parameter name: q_tile}}
func.func private @f() attributes {a = #attn.schedule<q_tile = 64, q_tile = 64>}

// -----

// expected-error@+1 {{duplicate or unknown struct parameter name: tile_q}}
func.func private @f() attributes {a = #attn.schedule<tile_q = 64>}

// -----

// expected-error@+1 {{expected '='}}
func.func private @f() attributes {a = #attn.schedule<q_tile 64>}

// -----

// expected-error@+2 {{integer value too large}}
// expected-error@+1 {{failed to parse Attn_Schedule parameter 'q_in_registers'}}
func.func private @f() attributes {a = #attn.schedule<q_in_registers = 2>}

// -----

// expected-error@+2 {{expected integer value}}
// expected-error@+1 {{failed to parse Attn_Schedule parameter 'q_tile'}}
func.func private @f() attributes {a = #attn.schedule<q_tile = 6.4e+01>}

// -----

// expected-error@+1 {{expected pitch to be a positive multiple of 16 bytes, got 0}}
func.func private @f() attributes {a = #attn.shared<pitch = 0, xor_mask = 0>}

// -----

// expected-error@+1 {{expected pitch to be a positive multiple of 16 bytes, got 100}}
func.func private @f() attributes {a = #attn.shared<pitch = 100, xor_mask = 0>}

// -----

// expected-error@+1 {{expected pitch to be a positive multiple of 16 bytes, got -128}}
func.func private @f() attributes {a = #attn.shared<pitch = -128, xor_mask = 7>}

// -----

// expected-error@+1 {{expected xor_mask to be 0, 1, 3 or 7, got 5}}
func.func private @f() attributes {a = #attn.shared<pitch = 128, xor_mask = 5>}

// -----

// expected-error@+1 {{expected a pitch of a multiple of 128 bytes for xor_mask = 7, got 80}}
func.func private @f() attributes {a = #attn.shared<pitch = 80, xor_mask = 7>}

// -----

// expected-error@+1 {{expected warps in [1, 32], got 0}}
func.func private @f() attributes {a = #attn.fragment<acc, warps = 0, split = rows>}

// -----

// expected-error@+1 {{expected warps in [1, 32], got 64}}
func.func private @f() attributes {a = #attn.fragment<acc, warps = 64, split = rows>}

// -----

// expected-error@+2 {{expected one of [acc, a] for which operand of mma.m16n8k16, got: b}}
// expected-error@+1 {{failed to parse Attn_FragmentLayout parameter 'role'}}
func.func private @f() attributes {a = #attn.fragment<b, warps = 4, split = rows>}

// -----

// expected-error@+2 {{expected one of [rows, cols, partial] for what each warp of the CTA holds, got: diagonal}}
// expected-error@+1 {{failed to parse Attn_FragmentLayout parameter 'split'}}
func.func private @f() attributes {a = #attn.fragment<acc, warps = 4, split = diagonal>}

// -----

// expected-error@+2 {{expected one of [naive, two_pass, fa1, fa2]}}
// expected-error@+1 {{failed to parse Attn_Schedule parameter 'algorithm'}}
func.func private @f() attributes {a = #attn.schedule<algorithm = best>}

// -----

// expected-error@+2 {{expected one of [rows, keys]}}
// expected-error@+1 {{failed to parse Attn_Schedule parameter 'warp_split'}}
func.func private @f() attributes {a = #attn.schedule<warp_split = best>}

// -----

// expected-error@+2 {{expected one of [mma, fma, wgmma]}}
// expected-error@+1 {{failed to parse Attn_Schedule parameter 'instruction'}}
func.func private @f() attributes {a = #attn.schedule<instruction = best>}

// -----

// expected-error@+2 {{expected one of [linear, longest_first]}}
// expected-error@+1 {{failed to parse Attn_Schedule parameter 'order'}}
func.func private @f() attributes {a = #attn.schedule<order = best>}

// -----

// expected-error@+1 {{expected masks composed at most 32 levels deep; write all_of of all_of, and any_of of any_of, as one composition}}
func.func private @f() attributes {a = #attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.all_of<#attn.none>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>}
