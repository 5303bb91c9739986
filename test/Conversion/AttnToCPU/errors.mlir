// RUN: attn-opt %s -convert-attn-to-cpu -split-input-file -verify-diagnostics -o /dev/null

// expected-error@+1 {{expected a kernel with one scf.forall and no results, got 2 scf.forall and 0 results; run attn-outline-kernels first}}
func.func @two_grids() attributes {attn.kernel} {
  scf.forall (%i) in (4) {
  }
  scf.forall (%i) in (4) {
  }
  return
}

// -----

// expected-error@+1 {{expected arguments of type memref, f32, index or i64, got 'f64' for argument 0}}
func.func @argument(%x: f64) attributes {attn.kernel} {
  scf.forall (%i) in (4) {
  }
  return
}

// -----

// expected-error@+1 {{needs the name 'taken_num_tiles' for its tile counter}}
func.func @taken() attributes {attn.kernel} {
  scf.forall (%i) in (4) {
  }
  return
}
// expected-note@+1 {{which is taken here}}
func.func private @taken_num_tiles()

// -----

func.func @effect(%m: memref<4xf32>) attributes {attn.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected only effect-free ops of other dialects beside the scf.forall of a kernel}}
  memref.store %zero, %m[%c0] : memref<4xf32>
  scf.forall (%i) in (4) {
  }
  return
}

// -----

func.func @problem(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) attributes {attn.kernel} {
  scf.forall (%i) in (4) {
    // expected-error@+1 {{'attn.forward' op cannot be run on the CPU: expected an op of the tile program (level L1) that attn-lower-to-tiles writes}}
    attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
                 outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  }
  return
}

// -----

func.func @pipe() attributes {attn.kernel} {
  scf.forall (%i) in (4) {
    // expected-error@+1 {{'attn.pipe_create' op cannot be run on the CPU}}
    %p = attn.pipe_create : !attn.pipe<!attn.tile<64x128xbf16>, stages = 2>
  }
  return
}

// -----

func.func @dynamic(%m: memref<?x?x8x?xf32>) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (4) {
    // expected-error@+1 {{expected a static head dim, got 'memref<?x?x8x?xf32>'}}
    %t = attn.load_tile %m[%i, %c0, %c0] : memref<?x?x8x?xf32> -> <8x64xf32>
  }
  return
}

// -----

func.func @select(%m: memref<?x?x8x64xf32>, %n: index) attributes {attn.kernel} {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (4) {
    %t = attn.load_tile %m[%i, %c0, %c0] : memref<?x?x8x64xf32> -> <8x64xf32>
    %u = attn.load_tile %m[%c0, %i, %c0] : memref<?x?x8x64xf32> -> <8x64xf32>
    %is = arith.cmpi eq, %i, %n : index
    // expected-error@+1 {{'arith.select' op cannot be run on the CPU around or on tiles: expected scf.for or scf.if}}
    %v = arith.select %is, %t, %u : !attn.tile<8x64xf32>
    attn.store_tile %v, %m[%i, %c0, %c0] : <8x64xf32>, memref<?x?x8x64xf32>
  }
  return
}
