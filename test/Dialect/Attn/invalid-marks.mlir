// Attributes of the dialect on loops of tile programs, on kernels and on their arguments.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @f(%n: index) {
  // expected-error@+1 {{'scf.for' op expected 'attn.kv_pass' to be an i64 that is not negative, got unit}}
  scf.for %j = %n to %n step %n {
  } {attn.kv_pass}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.kv_pass' to be an i64 that is not negative, got -1 : i64}}
  scf.for %j = %n to %n step %n {
  } {attn.kv_pass = -1 : i64}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.kv_pass' to be an i64 that is not negative, got 0 : i32}}
  scf.for %j = %n to %n step %n {
  } {attn.kv_pass = 0 : i32}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.kv_pass' to stand on an scf.for}}
  %c = arith.constant {attn.kv_pass = 0 : i64} 0 : index
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.mask_class' to be "masked" or "full", got "half"}}
  scf.for %j = %n to %n step %n {
  } {attn.mask_class = "half"}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.mask_class' to be "masked" or "full", got 1 : i32}}
  scf.for %j = %n to %n step %n {
  } {attn.mask_class = 1 : i32}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.schedule' to be a schedule, got "fa2"}}
  scf.forall (%j) in (%n) {
  } {attn.schedule = "fa2"}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.schedule' to stand on an scf.forall}}
  scf.for %j = %n to %n step %n {
  } {attn.schedule = #attn.schedule<>}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.alignment' to be a power of two of type i64, got 0 : i64}}
  scf.forall (%j) in (%n) {
  } {attn.alignment = 0 : i64}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.alignment' to be a power of two of type i64, got 12 : i64}}
  scf.forall (%j) in (%n) {
  } {attn.alignment = 12 : i64}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.alignment' to be a power of two of type i64, got 16 : i32}}
  scf.forall (%j) in (%n) {
  } {attn.alignment = 16 : i32}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.smem_bytes' to be an i64 that is not negative, got -1 : i64}}
  scf.forall (%j) in (%n) {
  } {attn.smem_bytes = -1 : i64}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{expected 'attn.smem_bytes' to be an i64 that is not negative, got 1.000000e+00 : f32}}
  scf.forall (%j) in (%n) {
  } {attn.smem_bytes = 1.0 : f32}
  return
}

// -----

// expected-error@+1 {{expected 'attn.threads' to be an i64 in [1, 1024], got 0 : i64}}
func.func private @f() attributes {attn.threads = 0 : i64}

// -----

// expected-error@+1 {{expected 'attn.threads' to be an i64 in [1, 1024], got 2048 : i64}}
func.func private @f() attributes {attn.threads = 2048 : i64}

// -----

// expected-error@+1 {{expected 'attn.kernel' to be a unit attribute, got 1 : i64}}
func.func private @f() attributes {attn.kernel = 1 : i64}

// -----

// expected-error@+1 {{'func.func' op argument 0 has 'attn.tile_counter', expected a unit attribute, got 1 : i64}}
func.func private @f(memref<1xi32> {attn.tile_counter = 1 : i64})

// -----

// expected-error@+1 {{argument 1 has 'attn.tile_counter', expected an argument of memref<1xi32>, got 'memref<2xi32>'}}
func.func private @f(index, memref<2xi32> {attn.tile_counter})

// -----

// expected-error@+1 {{argument 0 has 'attn.tile_counter', expected an argument of memref<1xi32>, got 'i32'}}
func.func private @f(i32 {attn.tile_counter})

// -----

// expected-error@+1 {{argument 2 has 'attn.tile_counter', expected one counter in a kernel, got another as argument 0}}
func.func private @f(memref<1xi32> {attn.tile_counter}, index, memref<1xi32> {attn.tile_counter})

// -----

// expected-error@+1 {{argument 1 has 'attn.tensor_map_of', expected an argument that is a tensor map, got 'index'}}
func.func private @f(memref<?x?x8x64xf16>, index {attn.tensor_map_of = 0 : i64})

// -----

// expected-error@+1 {{argument 1 has 'attn.tensor_map_of', expected the position of a tensor among the arguments (i64), got 0 : i32}}
func.func private @f(memref<?x?x8x64xf16>, !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 0 : i32})

// -----

// expected-error@+1 {{expected the position of a tensor among the arguments (i64), got 2 : i64}}
func.func private @f(memref<?x?x8x64xf16>, !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 2 : i64})

// -----

// expected-error@+1 {{expected the position of a tensor among the arguments (i64), got 1 : i64}}
func.func private @f(memref<?x?x8x64xf16>, !attn.tensor_map<64 x 64 x f16> {attn.tensor_map_of = 1 : i64})
