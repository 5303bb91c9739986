//===- AttnTileOps.td - L1: what one CTA computes -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TILE_OPS
#define ATTN_TILE_OPS

include "attn/Dialect/Attn/IR/AttnProblemOps.td"

class Attn_TileOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, traits # [Pure]>;

def Attn_LoadTileOp : Attn_Op<"load_tile", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile of rows of a tensor; outside the tensor it is `pad`";
  let description = [{
    Rank-2 tile, element (r, c): source[batch, row + r, head, c];
    rank-1 tile, element r: source[batch, head, row + r].
    Rows at or past `limit` (default: the size of the row dim) and columns at or past
    the head dim read as `pad` (default 0), whatever memory holds there.

    - C1: rank-2 tiles read rank-4 sources, rank-1 tiles rank-3 sources.
    - C2: tile and source have the same element type.
    - C3: the source is strided; the last dim of a rank-4 source is contiguous.

    Example:
    `%k = attn.load_tile %K[%b, %j, %h] limit(%n) : memref<?x?x8x64xf16> -> !attn.tile<64x64xf16>`
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Index:$batch, Index:$row, Index:$head,
                       Optional<Index>:$limit, OptionalAttr<F32Attr>:$pad);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = [{
    $source `[` $batch `,` $row `,` $head `]` (`limit` `(` $limit^ `)`)? (`pad` `(` $pad^ `)`)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_StoreTileOp : Attn_Op<"store_tile", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile to rows of a tensor, rounding to its element type";
  let description = [{
    The addressing of `attn.load_tile`; nothing is written outside the tensor.
    f32 is rounded to the nearest even value of a narrower element type. `synced`, set by
    `attn-allocate-smem`: what the tile passes through in shared memory is free already.

    - C1: rank-2 tiles write rank-4 tensors, rank-1 tiles rank-3 tensors.
    - C2: the tensor's element type is f32, f16 or bf16.
    - C3: the tensor is strided; the last dim of a rank-4 tensor is contiguous.

    Example:
    `attn.store_tile %o, %O[%b, %i, %h] : !attn.tile<64x64xf32>, memref<?x?x8x64xf16>`
  }];
  let arguments = (ins Attn_TileType:$tile, Arg<AnyMemRef, "", [MemWrite]>:$dest,
                       Index:$batch, Index:$row, Index:$head, UnitAttr:$synced);
  let assemblyFormat = [{
    $tile `,` $dest `[` $batch `,` $row `,` $head `]` (`synced` $synced^)? attr-dict `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Attn_FillOp : Attn_TileOp<"fill"> {
  let summary = "a tile of one value";
  let description = "Example: `%z = attn.fill 0.0 : !attn.tile<64x64xf32>`";
  let arguments = (ins F32Attr:$value);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Attn_TileMmaOp : Attn_TileOp<"tile_mma", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a b, or acc + a b^T, accumulated in f32";
  let description = [{
    - C1: a is MxK, acc MxN, b KxN (NxK with `transpose_b`).
    - C2: a and b have one element type; acc is f32.

    Example:
    ```mlir
    %s = attn.tile_mma %q, %k, %zero transpose_b
       : !attn.tile<128x64xf16>, !attn.tile<32x64xf16>, !attn.tile<128x32xf32>
    ```
  }];
  let arguments = (ins Attn_TileType:$a, Attn_TileType:$b, Attn_TileType:$acc,
                       UnitAttr:$transpose_b);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`transpose_b` $transpose_b^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Attn_MapScoresOp : Attn_Op<"map_scores", [AllTypesMatch<["scores", "result"]>,
                                               RecursiveMemoryEffects]> {
  let summary = "maps each score of a tile through a scalar region";
  let description = [{
    Element (r, c) becomes region(scores[r, c] * scale, row + r, key + c): the region sees
    natural units and positions in the sequence.

    A tile may reach past the last query or key. Elements there are unspecified, but have no
    effect: a region that reads memory by position, or divides by one, gets the last position
    instead, min(row + r, seq_len_q - 1) and min(key + c, seq_len_kv - 1). So a bias of
    exactly seq_len_q x seq_len_kv elements is read in bounds on every target. Both lengths
    are at least 1 where the op runs.

    - C1: scores is a rank-2 f32 tile.
    - C2: the region takes (f32, index, index) and yields an f32; its ops work on scalars and do
      not write memory.

    Example:
    ```mlir
    %t = attn.map_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk) scale(%scale)
       : !attn.tile<64x64xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      %y = attn.softcap %x, 5.0e+01
      attn.yield %y : f32
    }
    ```
  }];
  let arguments = (ins Attn_TileType:$scores, Index:$row, Index:$key, Index:$seq_len_q,
                       Index:$seq_len_kv, F32:$scale);
  let results = (outs Attn_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $scores `rows` `(` $row `)` `keys` `(` $key `)` `lengths` `(` $seq_len_q `,` $seq_len_kv `)`
    `scale` `(` $scale `)` attr-dict `:` type($scores) $body
  }];
  let extraClassDeclaration = [{
    /// True when an op of the region must not be given a position outside the sequences:
    /// it depends on one and may read memory or be undefined for some operands.
    bool needsPositionsInside();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_MaskScoresOp : Attn_TileOp<"mask_scores", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "sets scores that the mask or the end of the keys rejects to -inf";
  let description = [{
    Element (r, c) is kept when key + c < seq_len_kv and the mask keeps the pair
    (row + r, key + c); otherwise it becomes -inf.

    - C1: scores is a rank-2 f32 tile.
    - C2: the mask gets the operands that it asks for.

    Example:
    ```mlir
    %t = attn.mask_scores %s rows(%i0) keys(%j0) lengths(%sq, %sk) mask(#attn.none)
       : !attn.tile<64x64xf32>
    ```
  }];
  let arguments = (ins Attn_TileType:$scores, Index:$row, Index:$key, Index:$seq_len_q,
                       Index:$seq_len_kv, Variadic<AnyType>:$mask_args, Attn_MaskAttr:$mask);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = [{
    $scores `rows` `(` $row `)` `keys` `(` $key `)` `lengths` `(` $seq_len_q `,` $seq_len_kv `)`
    `mask` `(` $mask `)` (`mask_args` `(` $mask_args^ `:` type($mask_args) `)`)? attr-dict
    `:` type($scores)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Attn_SoftmaxInitOp : Attn_TileOp<"softmax_init"> {
  let summary = "the empty softmax state: m = -inf, l = 0";
  let results = (outs Attn_SoftmaxStateType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Attn_SoftmaxUpdateOp : Attn_TileOp<"softmax_update", [
    AllTypesMatch<["state", "new_state"]>, AllTypesMatch<["scores", "p"]>]> {
  let summary = "one step of online softmax";
  let description = [{
    With n the row maximum of scores and m' = max(m, n):

    ```
    p      = exp((scores - m') scale)          0 where scores is -inf
    alpha  = exp((m - m') scale)               1 while both are -inf
    l'     = alpha l + rowsum(p)
    ```
    scale >= 0. (Online normalizer calculation for softmax, arXiv:1805.02867.)

    - C1: scores is a rank-2 f32 tile; state, scores and alpha agree in rows; alpha is a rank-1
      f32 tile.

    Example:
    ```mlir
    %st1, %p, %alpha = attn.softmax_update %st, %s scale(%c)
       : !attn.softmax_state<64>, !attn.tile<64x32xf32> -> !attn.tile<64xf32>
    ```
  }];
  let arguments = (ins Attn_SoftmaxStateType:$state, Attn_TileType:$scores, F32:$scale);
  let results = (outs Attn_SoftmaxStateType:$new_state, Attn_TileType:$p, Attn_TileType:$alpha);
  let assemblyFormat = [{
    $state `,` $scores `scale` `(` $scale `)` attr-dict
    `:` type($state) `,` type($scores) `->` type($alpha)
  }];
  let hasVerifier = 1;
}

class Attn_SoftmaxPassOp<string mnemonic>
    : Attn_TileOp<mnemonic, [AllTypesMatch<["state", "new_state"]>]> {
  let arguments = (ins Attn_SoftmaxStateType:$state, Attn_TileType:$scores, F32:$scale);
  let results = (outs Attn_SoftmaxStateType:$new_state);
  let assemblyFormat = [{
    $state `,` $scores `scale` `(` $scale `)` attr-dict `:` type($state) `,` type($scores)
  }];
  let hasVerifier = 1;
}

def Attn_SoftmaxMaxOp : Attn_SoftmaxPassOp<"softmax_max"> {
  let summary = "first pass of safe softmax: m' = max(m, rowmax(scores)), l' = l";
  let description = "- C1: scores is a rank-2 f32 tile; state and scores agree in rows.";
}

def Attn_SoftmaxSumOp : Attn_SoftmaxPassOp<"softmax_sum"> {
  let summary = "second pass of safe softmax: l' = l + rowsum(exp((scores - m) scale)), m' = m";
  let description = "- C1: scores is a rank-2 f32 tile; state and scores agree in rows.";
}

def Attn_SoftmaxApplyOp : Attn_TileOp<"softmax_apply", [AllTypesMatch<["scores", "p"]>]> {
  let summary = "unnormalized probabilities of a finished state: exp((scores - m) scale)";
  let description = "- C1: scores is a rank-2 f32 tile; state and scores agree in rows.";
  let arguments = (ins Attn_SoftmaxStateType:$state, Attn_TileType:$scores, F32:$scale);
  let results = (outs Attn_TileType:$p);
  let assemblyFormat = [{
    $state `,` $scores `scale` `(` $scale `)` attr-dict `:` type($state) `,` type($scores)
  }];
  let hasVerifier = 1;
}

def Attn_RescaleOp : Attn_TileOp<"rescale", [AllTypesMatch<["tile", "result"]>]> {
  let summary = "multiplies row r of a tile by factors[r]";
  let description = [{
    - C1: the tile has rank 2; factors is a rank-1 f32 tile with as many elements as it has rows.
  }];
  let arguments = (ins Attn_TileType:$tile, Attn_TileType:$factors);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = "$tile `,` $factors attr-dict `:` type($tile) `,` type($factors)";
  let hasVerifier = 1;
}

def Attn_ConvertOp : Attn_TileOp<"convert"> {
  let summary = "rounds a tile to another element type, to nearest even";
  let description = [{
    - C1: operand and result agree in shape.
    - C2: fragments of operand and result are shared out among the same warps in the same way:
      elements stay in their warp.
  }];
  let arguments = (ins Attn_TileType:$tile);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Attn_FinalizeOp : Attn_TileOp<"finalize"> {
  let summary = "the output and LSE of a finished softmax: acc / l, m scale + ln(l)";
  let description = [{
    Rows with l = 0 give 0 and -inf. The optional third result is what rounding to f32 left
    out: lse + lse_tail is the sum, to about twice f32's precision; 0 where lse is infinite.

    - C1: acc has rank 2; state, acc and lse agree in rows; lse is a rank-1 f32 tile, and so is
      lse_tail.
    - C2: acc and out are f32 tiles of one shape.
    - C3: where they have layouts, all are of the same warps. Either all are by rows, or acc and
      state are partial results of warps that split the keys, which are merged here, and out, lse
      and lse_tail by columns.

    Example:
    ```mlir
    %o, %lse = attn.finalize %acc, %st scale(%c) : !attn.tile<64x64xf32>,
       !attn.softmax_state<64> -> !attn.tile<64x64xf32>, !attn.tile<64xf32>
    ```
  }];
  let arguments = (ins Attn_TileType:$acc, Attn_SoftmaxStateType:$state, F32:$scale);
  let results = (outs Attn_TileType:$out, Attn_TileType:$lse, Optional<Attn_TileType>:$lse_tail);
  let assemblyFormat = [{
    $acc `,` $state `scale` `(` $scale `)` attr-dict `:` type($acc) `,` type($state)
    `->` type($out) `,` type($lse) (`,` type($lse_tail)^)?
  }];
  let hasVerifier = 1;
}

def Attn_MergeOp : Attn_TileOp<"merge", [
    AllTypesMatch<["o_a", "o_b", "o"]>, AllTypesMatch<["lse_a", "lse_b", "lse"]>]> {
  let summary = "combines two normalized partial results over disjoint keys";
  let description = [{
    With m = max(lse_a, lse_b), w_x = exp(lse_x - m):
    `o = (w_a o_a + w_b o_b) / (w_a + w_b)`, `lse = m + ln(w_a + w_b)`.
    With tails (see `attn.finalize`), those of a and of b, lse_x stands for the sum of lse_x
    and its tail, and the result has a tail too.
    A side with lse = -inf is empty: the other side is returned bit for bit.
    Commutative; exp is never given a positive argument.

    - C1: outputs are rank-2, LSEs rank-1 f32 tiles of as many rows.
    - C2: there are two tails and a tail among the results, or none; they have the type of lse.

    Example:
    ```mlir
    %o, %l, %t = attn.merge %oa, %la with %ob, %lb
       tails(%ta, %tb : !attn.tile<64xf32>, !attn.tile<64xf32>)
       : !attn.tile<64x16xf32>, !attn.tile<64xf32>, !attn.tile<64xf32>
    ```
  }];
  let arguments = (ins Attn_TileType:$o_a, Attn_TileType:$lse_a, Attn_TileType:$o_b,
                       Attn_TileType:$lse_b, Variadic<Attn_TileType>:$tails);
  let results = (outs Attn_TileType:$o, Attn_TileType:$lse, Optional<Attn_TileType>:$tail);
  let assemblyFormat = [{
    $o_a `,` $lse_a `with` $o_b `,` $lse_b (`tails` `(` $tails^ `:` type($tails) `)`)? attr-dict
    `:` type($o) `,` type($lse) (`,` type($tail)^)?
  }];
  let hasVerifier = 1;
}

#endif // ATTN_TILE_OPS
