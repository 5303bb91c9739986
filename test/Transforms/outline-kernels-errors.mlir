// RUN: attn-opt %s -attn-outline-kernels -split-input-file -verify-diagnostics -o /dev/null

func.func @effect(%m: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'memref.store' op has side effects outside of an scf.forall; expected only effect-free ops beside the grids of 'effect'}}
  memref.store %zero, %m[%c0] : memref<4xf32>
  scf.forall (%i) in (4) {
    memref.store %zero, %m[%i] : memref<4xf32>
  }
  return
}

// -----

// expected-error@+1 {{expected no results: a kernel writes to its memref arguments, got 1}}
func.func @result(%n: index) -> index {
  scf.forall (%i) in (4) {
  }
  return %n : index
}

// -----

// expected-error@+1 {{expected one block around the scf.forall ops, got 2}}
func.func @blocks() {
  scf.forall (%i) in (4) {
  }
  cf.br ^end
^end:
  return
}

// -----

// expected-error@+1 {{becomes 2 kernels and cannot keep its name, but is referred to}}
func.func @called() {
  scf.forall (%i) in (4) {
  }
  scf.forall (%i) in (4) {
  }
  return
}
func.func @caller() {
  func.call @called() : () -> ()
  return
}

// -----

// expected-error@+1 {{needs the name 'pair_1' for kernel 1}}
func.func @pair() {
  scf.forall (%i) in (4) {
  }
  scf.forall (%i) in (4) {
  }
  return
}
// expected-note@+1 {{which is taken here}}
func.func private @pair_1()

// -----

func.func @forall_result(%t: tensor<4xf32>) {
  // expected-error@+1 {{expected an scf.forall without results: a kernel writes to memrefs}}
  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> tensor<4xf32> {
    scf.forall.in_parallel {
    }
  }
  return
}
