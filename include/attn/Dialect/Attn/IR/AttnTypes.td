//===- AttnTypes.td - Tiles, softmax states, pipes ------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TYPES
#define ATTN_TYPES

include "attn/Dialect/Attn/IR/AttnDialect.td"

class Attn_Type<string name, string typeMnemonic> : TypeDef<Attn_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Attn_TileType : Attn_Type<"Tile", "tile"> {
  let summary = "a matrix or vector of static shape, owned by one CTA";
  let description = [{
    `!attn.tile<64x128xbf16>` is a value. Before stage 6 it has no location; then
    its layout says where its elements are (shared memory, mma fragments).
    Element types: f32, f16, bf16. At most 65536 rows or columns and 2^20 elements.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::Attribute">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                        "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(), shape, elementType, ::mlir::Attribute());
    }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getRows() const { return getShape()[0]; }
    int64_t getCols() const { return getShape()[1]; }
    TileType withLayout(::mlir::Attribute layout) const {
      return get(getContext(), getShape(), getElementType(), layout);
    }
  }];
}

def Attn_SoftmaxStateType : Attn_Type<"SoftmaxState", "softmax_state"> {
  let summary = "running maximum m and sum l of `rows` softmax rows, f32";
  let description = [{
    m is the reference that exponentials of raw scores are taken against (-inf before
    any), l the sum of exp((s - m) * scale) over the scores seen so far (0 before any).
    The reference is their maximum, or, on targets that rescale lazily, a value that no
    score exceeds by more than 8 powers of two; O / l and LSE do not depend on which.
  }];
  let parameters = (ins "int64_t":$rows, OptionalParameter<"::mlir::Attribute">:$layout);
  let assemblyFormat = "`<` $rows (`,` $layout^)? `>`";
  let genVerifyDecl = 1;
}

def Attn_MailboxType : Attn_Type<"Mailbox", "mailbox"> {
  let summary = "a ring of messages of a few numbers in shared memory, from one role to another";
  let description = [{
    A message is `values` numbers in [-2^31, 2^31); `stages` of them are kept until they are read.

    Example: `!attn.mailbox<values = 3, stages = 2>`
  }];
  let parameters = (ins "int64_t":$values, "int64_t":$stages);
  let assemblyFormat = "`<` `values` `=` $values `,` `stages` `=` $stages `>`";
  let genVerifyDecl = 1;
}

def Attn_PipeType : Attn_Type<"Pipe", "pipe"> {
  let summary = "a ring of shared-memory tile buffers that copies fill ahead of use";
  let description = [{
    With `parts`, tiles are cut into as many equal parts of rows, of which each has a stage, is filled
    and released by itself: part p of tile i is number i parts + p. Fills count such parts, as
    do the stages; who reads counts tiles, of which each warpgroup sees its own part.

    Examples:
    `!attn.pipe<<64x128xbf16>, stages = 2>`,
    `!attn.pipe<<128x256xbf16>, stages = 3, parts = 2>`
  }];
  let parameters = (ins "::attn::TileType":$tile, "int64_t":$stages,
                        DefaultValuedParameter<"int64_t", "1">:$parts);
  let assemblyFormat = "`<` $tile `,` `stages` `=` $stages (`,` `parts` `=` $parts^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Rows of a stage.
    int64_t getStageRows() const { return getTile().getRows() / getParts(); }
  }];
}

def Attn_InFlightType : Attn_Type<"InFlight", "in_flight"> {
  let summary = "accumulators that an asynchronous product is still writing";
  let description = [{
    Only `attn.mma_start` makes one, and only another product or `attn.mma_wait` may take
    it: nothing else can read registers that hardware is still writing.
  }];
  let parameters = (ins "::attn::TileType":$tile);
  let assemblyFormat = "`<` $tile `>`";
}

def Attn_TensorMapType : Attn_Type<"TensorMap", "tensor_map"> {
  let summary = "how hardware addresses boxes of `rows` x `cols` elements of a tensor";
  let description = [{
    An argument of a kernel that the runtime encodes from one of the tensors of the call
    (`attn.tensor_map_of` says which): four dims, the 128-byte swizzle, zeros outside.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $rows `x` $cols `x` $elementType `>`";
}

#endif // ATTN_TYPES
