// ERROR: expected operation name in quotes
func.func @f() {
  return
}}

// -----
// ERROR: custom op 'attn.backwards' is unknown
func.func @f() {
  attn.backwards
  return
}

// -----
// ERROR: use of undeclared SSA value name
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %k, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: expects different type than prior uses
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x32xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: expected 'ins'
func.func @f(%q: memref<?x?x8x64xf16>) {
  attn.forward %q
  return
}

// -----
// ERROR: expected 'outs'
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               scale(%scale)
  return
}

// -----
// ERROR: expected 'scale'
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>)
  return
}

// -----
// ERROR: expected ','
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: use of value '%scale' expects different type than prior uses: 'f32' vs 'f64'
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f64) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale)
  return
}

// -----
// ERROR: invalid kind of attribute specified
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) mask("causal")
  return
}

// -----
// ERROR: invalid kind of attribute specified
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) kv(#attn.none)
  return
}

// -----
// ERROR: integer constant out of range for attribute
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) alignment(99999999999999999999)
  return
}

// -----
// ERROR: unknown attribute `cauzal` in dialect `attn`
func.func @f(%q: memref<?x?x8x64xf16>, %o: memref<?x?x8x64xf16>, %scale: f32) {
  attn.forward ins(%q, %q, %q : memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>)
               outs(%o : memref<?x?x8x64xf16>) scale(%scale) mask(#attn.cauzal)
  return
}

// -----
// ERROR: expected valid keyword
func.func private @f() attributes {m = #attn<"{}">}

// -----
// ERROR: unbalanced
func.func private @f() attributes {m = #attn.all_of<#attn.none, #attn.window<1, 2>}

// -----
// ERROR: unbalanced '<' character in pretty dialect name
func.func private @f() attributes {m = #attn.window<1,

// -----
// ERROR: unknown  type `tiles` in dialect `attn`
func.func private @f(!attn.tiles<16x16xf32>)

// -----
// ERROR: unbalanced '<' character in pretty dialect name
func.func private @f(!attn.tile<16x16xf32)

// -----
// ERROR: attribute created with unregistered dialect
#attrs = #nvgpu.something
module attributes {attn.x = #attrs} {}

// -----
// ERROR: size mismatch in attribute conversion: 3 vs 9
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  "attn.forward"(%q, %q, %q, %q, %scale) <{operandSegmentSizes = array<i32: 1, 1, 1>}> ({})
     : (memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, f32) -> ()
  return
}

// -----
// ERROR: operand count (5) does not match with the total size (9)
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  "attn.forward"(%q, %q, %q, %q, %scale) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1>}> ({})
     : (memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, f32) -> ()
  return
}

// -----
// ERROR: operand #4 must be memref of any type values, but got 'f32'
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  "attn.forward"(%q, %q, %q, %q, %scale) <{operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0, 0, 0, 0>}> ({})
     : (memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, f32) -> ()
  return
}

// -----
// ERROR: region
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  "attn.forward"(%q, %q, %q, %q, %scale) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1, 0, 0>}>
     : (memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, f32) -> ()
  return
}

// -----
// ERROR: result
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  %r = "attn.forward"(%q, %q, %q, %q, %scale) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1, 0, 0>}> ({})
     : (memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, f32) -> f32
  return
}

// -----
// ERROR: invalid properties
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  "attn.forward"(%q, %q, %q, %q, %scale) <{alignment = "16", operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1, 0, 0>}> ({})
     : (memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, f32) -> ()
  return
}

// -----
// ERROR: invalid properties
func.func @f(%q: memref<?x?x8x64xf16>, %scale: f32) {
  "attn.forward"(%q, %q, %q, %q, %scale) <{schedule = #attn.none, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1, 0, 0>}> ({})
     : (memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, memref<?x?x8x64xf16>, f32) -> ()
  return
}
