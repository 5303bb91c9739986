// Score regions and the ops made for them.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

// The region of attn.forward, C9.
func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.addf %s, %s : f32
    // expected-error@+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region}}
    scf.yield %c : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{empty block: expect at least a terminator}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error@+1 {{block with no terminator}}
    %c = arith.addf %s, %s : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{C9: expected the ops of the score region to write no memory}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'memref.store' may write memory}}
    memref.store %s, %m[%n] : memref<8xf32>
    attn.yield %s : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index, %flag: i1) {
  // expected-error@+1 {{C9: expected the ops of the score region to write no memory}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'scf.if' may write memory}}
    scf.if %flag {
      memref.store %s, %m[%n] : memref<8xf32>
    }
    attn.yield %s : f32
  }
  return
}

// -----

func.func private @g(f32) -> f32
func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{C9: expected the ops of the score region to write no memory}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'func.call' may write memory}}
    %c = func.call @g(%s) : (f32) -> f32
    attn.yield %c : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{C9: expected the ops of the score region to work on scalars}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'attn.fill' gives '!attn.tile<16x16xf32>'}}
    %t = attn.fill 0.0 : !attn.tile<16x16xf32>
    attn.yield %s : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{C9: expected the ops of the score region to work on scalars}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'attn.load_tile' gives}}
    %t = attn.load_tile %q[%n, %n, %n] : memref<?x?x8x64xf16> -> !attn.tile<16x64xf16>
    attn.yield %s : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{C9: expected the ops of the score region to write no memory}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'attn.forward' may write memory}}
    attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
                 outs(%o : memref<?x?x8x64xf16>) scale(%scale)
    attn.yield %s : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c = arith.truncf %s : f32 to f16
    // expected-error@+1 {{operand #0 must be 32-bit float, but got 'f16'}}
    attn.yield %c : f16
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{region #0 ('score') failed to verify constraint: region with at most 1 blocks}}
  "attn.forward"(%q, %k, %k, %o, %scale) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1, 0, 0>}> ({
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    attn.yield %s : f32
  ^bb1:
    attn.yield %scale : f32
  }) : (memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>, memref<?x?x8x64xf16>, f32) -> ()
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %n: index) {
  // expected-error@+1 {{C9: expected the score region to end with attn.yield}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    "ub.unreachable"() : () -> ()
  }
  return
}

// -----

// attn.map_scores.
func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64x32xf16>'}}
  %r = attn.map_scores %u rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64x32xf16> {
  ^bb0(%a: f32, %b: index, %c: index):
    attn.yield %a : f32
  }
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{C1: expected scores to be a rank-2 f32 tile, got '!attn.tile<64xf32>'}}
  %r = attn.map_scores %v rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64xf32> {
  ^bb0(%a: f32, %b: index, %c: index):
    attn.yield %a : f32
  }
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{C2: expected a score region of (f32, index, index), got ('f32', 'index')}}
  %r = attn.map_scores %t rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64x32xf32> {
  ^bb0(%a: f32, %b: index):
    attn.yield %a : f32
  }
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{C2: expected a score region of (f32, index, index), got ('f16', 'index', 'index')}}
  %r = attn.map_scores %t rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64x32xf32> {
  ^bb0(%a: f16, %b: index, %c: index):
    attn.yield %x : f32
  }
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %r = attn.map_scores %t rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64x32xf32> {
  }
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %r = "attn.map_scores"(%t, %i, %i, %i, %i, %x) ({}) : (!attn.tile<64x32xf32>, index, index, index, index, f32) -> !attn.tile<64x32xf32>
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{C2: expected the ops of the score region to write no memory}}
  %r = attn.map_scores %t rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64x32xf32> {
  ^bb0(%a: f32, %b: index, %c: index):
    // expected-note@+1 {{'memref.store' may write memory}}
    memref.store %a, %m[%b] : memref<8xf32>
    attn.yield %a : f32
  }
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{C2: expected the ops of the score region to work on scalars}}
  %r = attn.map_scores %t rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64x32xf32> {
  ^bb0(%a: f32, %b: index, %c: index):
    // expected-note@+1 {{'attn.fill' gives '!attn.tile<64xf32>'}}
    %w = attn.fill 0.0 : !attn.tile<64xf32>
    attn.yield %a : f32
  }
  return
}

// -----

func.func @f(%t: !attn.tile<64x32xf32>, %u: !attn.tile<64x32xf16>, %v: !attn.tile<64xf32>, %m: memref<8xf32>, %i: index, %x: f32) {
  %r = attn.map_scores %t rows(%i) keys(%i) lengths(%i, %i) scale(%x) : !attn.tile<64x32xf32> {
  ^bb0(%a: f32, %b: index, %c: index):
    // expected-error@+1 {{'attn.alibi' op C2: expected to stand in the score region of an attn.forward}}
    %d = attn.alibi %a, %m[%b], %b, %c : memref<8xf32>
    attn.yield %d : f32
  }
  return
}

// -----

// attn.yield, attn.softcap, attn.alibi.
func.func @f(%x: f32) {
  // expected-error@+1 {{'attn.yield' op expects parent op to be one of 'attn.forward, attn.map_scores'}}
  attn.yield %x : f32
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{C1: expected a finite, positive cap, got 0.000000e+00}}
  %c = attn.softcap %x, 0.0
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{C1: expected a finite, positive cap, got -5.000000e+00}}
  %c = attn.softcap %x, -5.0
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{C1: expected a finite, positive cap, got}}
  %c = attn.softcap %x, 0x7F800000
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{C1: expected a finite, positive cap, got}}
  %c = attn.softcap %x, 0x7FC00000
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{invalid kind of attribute specified}}
  %c = attn.softcap %x, true
  return
}

// -----

// expected-note@+1 {{prior use here}}
func.func @f(%x: f16) {
  // expected-error@+1 {{use of value '%x' expects different type than prior uses: 'f32' vs 'f16'}}
  %c = attn.softcap %x, 1.0
  return
}

// -----

func.func @f(%x: f32, %m: memref<8xf32>, %i: index) {
  // expected-error@+1 {{'attn.alibi' op C2: expected to stand in the score region of an attn.forward}}
  %a = attn.alibi %x, %m[%i], %i, %i : memref<8xf32>
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %w: memref<8xf16>) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error@+1 {{operand #1 must be 1D memref of 32-bit float values}}
    %c = attn.alibi %s, %w[%h], %i, %j : memref<8xf16>
    attn.yield %c : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %w: memref<8x8xf32>) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error@+1 {{operand #1 must be 1D memref of 32-bit float values}}
    %c = attn.alibi %s, %w[%h], %i, %j : memref<8x8xf32>
    attn.yield %c : f32
  }
  return
}

// -----

func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %m: memref<8xf32>,
             %scale: f32, %w: memref<*xf32>) {
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-error@+1 {{invalid kind of type specified: expected builtin.memref}}
    %c = attn.alibi %s, %w[%h], %i, %j : memref<*xf32>
    attn.yield %c : f32
  }
  return
}

// -----

// What the op writes is not read, C9: neither a tensor itself,
func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
             %lse: memref<?x8x?xf32>, %scale: f32) {
  // expected-error@+1 {{C9: expected the score region not to read lse, which the op writes; pass it a copy}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o, %lse : memref<?x?x8x64xf16>, memref<?x8x?xf32>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'memref.load' reads memory of lse}}
    %x = memref.load %lse[%b, %h, %i] : memref<?x8x?xf32>
    %c = arith.addf %s, %x : f32
    attn.yield %c : f32
  }
  return
}

// -----

// nor one of which it is a view, within another op too,
func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %buffer: memref<2x9x8x64xf16>,
             %scale: f32, %flag: i1) {
  %o = memref.cast %buffer : memref<2x9x8x64xf16> to memref<?x?x8x64xf16>
  // expected-error@+1 {{C9: expected the score region not to read o, which the op writes}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %x = scf.if %flag -> f16 {
      // expected-note@+1 {{'memref.load' reads memory of o}}
      %y = memref.load %buffer[%b, %i, %h, %j] : memref<2x9x8x64xf16>
      scf.yield %y : f16
    } else {
      %zero = arith.constant 0.0 : f16
      scf.yield %zero : f16
    }
    %e = arith.extf %x : f16 to f32
    %c = arith.addf %s, %e : f32
    attn.yield %c : f32
  }
  return
}

// -----

// nor a choice between it and another.
func.func @f(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>,
             %m: memref<?x?x8x64xf16>, %scale: f32, %flag: i1) {
  %either = arith.select %flag, %m, %o : memref<?x?x8x64xf16>
  // expected-error@+1 {{C9: expected the score region not to read o, which the op writes}}
  attn.forward ins(%q, %k, %k : memref<?x?x8x64xf16>, memref<?x?x2x64xf16>, memref<?x?x2x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    // expected-note@+1 {{'memref.load' reads memory of o}}
    %x = memref.load %either[%b, %i, %h, %j] : memref<?x?x8x64xf16>
    %e = arith.extf %x : f16 to f32
    %c = arith.addf %s, %e : f32
    attn.yield %c : f32
  }
  return
}
