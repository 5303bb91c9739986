// RUN: attn-opt %s -attn-verify-no-attn-ops -split-input-file -verify-diagnostics

// Attributes of attn on other ops are no part of the program.
func.func @clean(%x: f32) attributes {attn.kernel} {
  return
}

// -----

func.func @op(%x: f32) {
  // expected-error@+1 {{'attn.softcap' op is left after the conversion out of the attn dialect}}
  %c = attn.softcap %x, 5.0
  return
}

// -----

// expected-error@+1 {{'func.func' op still has the type '!attn.tile<8x8xf32>' after the conversion out of the attn dialect}}
func.func private @declaration(!attn.tile<8x8xf32>)

// -----

func.func @result() {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' op still has the type '!attn.softmax_state<8>'}}
  %s = builtin.unrealized_conversion_cast to !attn.softmax_state<8>
  return
}
