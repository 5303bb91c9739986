// RUN: attn-opt %s --convert-nvvm-to-emulator --split-input-file --verify-diagnostics

llvm.func @unknown_op() attributes {nvvm.kernel} {
  // expected-error @below {{'nvvm.read.ptx.sreg.clock' has no semantics in the emulator}}
  %t = nvvm.read.ptx.sreg.clock : i32
  llvm.return
}

// -----

llvm.func @unknown_intrinsic(%a: i32) attributes {nvvm.kernel} {
  // expected-error @below {{'llvm.nvvm.fns' has no semantics in the emulator}}
  %t = llvm.call_intrinsic "llvm.nvvm.fns"(%a, %a, %a) : (i32, i32, i32) -> i32
  llvm.return
}

// -----

llvm.func @assembly() attributes {nvvm.kernel} {
  // expected-error @below {{'llvm.inline_asm' has no semantics in the emulator}}
  llvm.inline_asm has_side_effects "trap;", "" : () -> ()
  llvm.return
}

// -----

llvm.func @callee()
llvm.func @call() attributes {nvvm.kernel} {
  // expected-error @below {{the emulator runs kernels that call nothing; inline the callee}}
  llvm.call @callee() : () -> ()
  llvm.return
}

// -----

llvm.func @stack(%n: i64) attributes {nvvm.kernel} {
  // expected-error @below {{expected an alloca of at most 65536 bytes in the entry block}}
  %p = llvm.alloca %n x i8 : (i64) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @negative_stack() attributes {nvvm.kernel} {
  %n = llvm.mlir.constant(-1 : i64) : i64
  // expected-error @below {{expected an alloca of at most 65536 bytes in the entry block}}
  %p = llvm.alloca %n x i8 : (i64) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @set(%p: !llvm.ptr, %v: i8, %n: i64, %f: i1) attributes {nvvm.kernel} {
  // expected-error @below {{'llvm.memset.p0.i64' has no semantics in the emulator}}
  llvm.call_intrinsic "llvm.memset.p0.i64"(%p, %v, %n, %f) : (!llvm.ptr, i8, i64, i1) -> ()
  llvm.return
}

// -----

llvm.func @divide(%a: vector<2xi32>) attributes {nvvm.kernel} {
  // expected-error @below {{the emulator divides scalars only, got 'vector<2xi32>'}}
  %q = llvm.udiv %a, %a : vector<2xi32>
  llvm.return
}

// -----

llvm.func @half_accumulators(%a: vector<2xf16>) attributes {nvvm.kernel} {
  // expected-error @below {{mma.sync takes m16n8k8 and m16n8k16 of f16 or bf16 with f32 accumulators}}
  %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%a, %a] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
  llvm.return
}

// -----

// expected-error @below {{expected llvm.func and llvm.mlir.global, got 'func.func'; lower the module first}}
func.func private @early()
