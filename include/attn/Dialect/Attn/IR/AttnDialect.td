//===- AttnDialect.td - The attn dialect ----------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT
#define ATTN_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "Attention problems, tile programs and their schedules";
  let description = [{
    The dialect holds three of the five levels of IR that an attention kernel
    passes through:

    - **L0, the problem**: which attention on which tensors (`attn.forward`,
      `attn.merge_states`), on memrefs.
    - **L1, the tile program**: what one CTA (or one CPU task) computes, with
      value semantics on `!attn.tile` and `!attn.softmax_state`.
    - **L2, the scheduled tile program**: the same program with pipes (staged
      shared-memory buffers that copies fill ahead of use) and layouts.

    Units: sequence positions and lengths are counted in rows (tokens), head
    dims in elements, `scale` in natural-logarithm units.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
  ];
}

#endif // ATTN_DIALECT
