// RUN: attn-opt %s -attn-pack-kernel-arguments -split-input-file -verify-diagnostics -o /dev/null

// expected-error@+1 {{expected a tile counter 'f_num_tiles' beside the kernel}}
llvm.func @f(%x: f32) attributes {attn.kernel} {
  llvm.return
}

// -----

// expected-error@+1 {{needs the name 'g_packed' for its packed entry}}
llvm.func @g(%x: f32) attributes {attn.kernel} {
  llvm.return
}
llvm.func @g_num_tiles(%x: f32) -> i64
// expected-note@+1 {{which is taken here}}
llvm.func @g_packed()
