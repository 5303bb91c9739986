// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-convert-threads-to-llvm

// Structured control flow has to be gone.
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{failed to legalize operation 'scf.for'}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

func.func @tile() {
  // expected-error @+1 {{failed to legalize operation 'vector.print'}}
  vector.print str "left"
  return
}
