//===- AttnProblemOps.td - L0: attention problems on tensors --------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PROBLEM_OPS
#define ATTN_PROBLEM_OPS

include "attn/Dialect/Attn/IR/AttnAttrs.td"
include "attn/Dialect/Attn/IR/AttnTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

def Attn_ForwardOp : Attn_Op<"forward", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "attention forward: O = softmax(mask(score(scale Q K^T))) V";
  let description = [{
    For each batch b, query head h and query row i:

    ```
    s[j]  = score(scale * sum_d q[b,i,h,d] k[b,j,g,d], b, h, i, j)   g = h / (heads_q / heads_kv)
    s[j]  = -inf where the mask rejects (i, j)
    o     = sum_j exp(s[j] - lse) v[b,j,g,:],   lse[b,h,i] = ln(sum_j exp(s[j]))
    ```

    Products accumulate in f32; probabilities are rounded to the element type of v
    as the second product's operand. A row that sees no key gives o = 0 and
    lse = -inf. LSE is the natural logarithm, f32, [batch, heads_q, seq_len_q].

    Shapes: q, o [batch, seq_len_q, heads_q, head_dim]; k, v [batch, seq_len_kv,
    heads_kv, head_dim], any strides, last dim contiguous. The optional region maps a
    score in natural units; its arguments are (score, batch, head, i, j).
    `alignment` is a promise: all base pointers and all strides but the last are
    multiples of that many bytes. `max_seq_len` is a hint: the schedule is chosen for sequences
    (of queries and of keys) of at most that length; longer ones are computed as well.

    Constraints:
    - C1: q, k, v, o have rank 4; lse has rank 3 and element type f32.
    - C2: q, k, v have one element type, of f32, f16, bf16; o has it too, or f32.
    - C3: head dims are static, multiples of 8, at most 256 (q, k) and 512 (v, o).
    - C4: q and k agree in head_dim, v and o in theirs.
    - C5: head counts are static, positive and heads_q is a multiple of heads_kv.
    - C6: q and o agree in batch, seq_len_q, heads_q; k and v in batch, seq_len_kv, heads_kv;
      with the dense layout q and k in batch.
    - C7: every tensor is strided, in the default memory space; the last dim of q, k, v and o
      is contiguous (stride 1); no elements of o or lse share an address.
    - C8: mask and layout get the operands that they ask for.
    - C9: the score region takes (f32, index, index, index, index) and yields an f32; its ops
      work on scalars, do not write memory and do not read what the op writes, nor views of it.
      One that reads a bias by position is only given positions inside the sequences.
    - C10: alignment is a power of two, at least the size of an element.
    - C11: partial results (see `attn-split-kv`) have one more dim in front, of the
      schedule's split_kv (at least 2), in o and lse; both are given and are f32.
    - C12: lse_tail has the shape of lse, with which it is given, is f32 and strided, in the
      default memory space.
    - C13: max_seq_len is positive.

    Example:
    ```mlir
    attn.forward ins(%q, %k, %v : memref<?x?x32x128xbf16>, memref<?x?x8x128xbf16>,
                                  memref<?x?x8x128xbf16>)
                 outs(%o, %lse : memref<?x?x32x128xbf16>, memref<?x32x?xf32>)
                 scale(%scale) mask(#attn.causal<bottom_right>)
      score {
    ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
      %c = attn.softcap %s, 5.0e+01
      attn.yield %c : f32
    }
    ```
    `lse_tail` is scratch memory, or part of a partial result: lse + lse_tail is the exact
    sum of which f32 holds only lse. Beside logits of -5e4 an f32 resolves 0.004, which
    would be the relative error of a merge by lse alone. `attn-split-kv` adds it.

    The algorithm is that of FlashAttention (arXiv:2205.14135, arXiv:2307.08691).
  }];
  let arguments = (ins
    AnyMemRef:$q, AnyMemRef:$k, AnyMemRef:$v, AnyMemRef:$o, Optional<AnyMemRef>:$lse,
    Optional<AnyMemRef>:$lse_tail, F32:$scale,
    Variadic<AnyType>:$mask_args, Variadic<AnyType>:$kv_args,
    DefaultValuedAttr<Attn_MaskAttr, "::attn::NoneMaskAttr::get($_builder.getContext())">:$mask,
    DefaultValuedAttr<Attn_KVLayoutAttr, "::attn::DenseLayoutAttr::get($_builder.getContext())">:$kv,
    OptionalAttr<I64Attr>:$alignment, OptionalAttr<I64Attr>:$max_seq_len,
    OptionalAttr<Attn_Schedule>:$schedule);
  let regions = (region MaxSizedRegion<1>:$score);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    `outs` `(` $o (`,` $lse^)? `:` type($o) (`,` type($lse)^)? `)`
    (`lse_tail` `(` $lse_tail^ `:` type($lse_tail) `)`)?
    `scale` `(` $scale `)`
    (`mask` `(` $mask^ `)`)? (`mask_args` `(` $mask_args^ `:` type($mask_args) `)`)?
    (`kv` `(` $kv^ `)`)? (`kv_args` `(` $kv_args^ `:` type($kv_args) `)`)?
    (`alignment` `(` $alignment^ `)`)? (`max_seq_len` `(` $max_seq_len^ `)`)?
    (`schedule` `(` $schedule^ `)`)?
    attr-dict (`score` $score^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// Whether the query heads of a group may be rows of one tile (pack_gqa): each has one query,
    /// known at compile time, which sees all keys.
    bool canPackGqa();
    int64_t getHeadsQ();
    int64_t getHeadsKV();
    int64_t getHeadDimQK();
    int64_t getHeadDimV();
    ::mlir::Type getElementType();
    /// True when o and lse hold one partial result for each part of the keys.
    bool hasPartialOutputs();
    bool hasScore() { return !getScore().empty(); }
    /// The promised alignment in bytes, or the size of an element.
    int64_t getAlignmentBytes();
  }];
}

def Attn_MergeStatesOp : Attn_Op<"merge_states", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combine partial attention results over disjoint sets of keys";
  let description = [{
    Partial results (o_p, lse_p), p in [0, parts), of the same queries over disjoint
    keys combine to the result over all keys:

    ```
    lse = ln(sum_p exp(lse_p)),   o = sum_p exp(lse_p - lse) o_p
    ```

    An empty part (0, -inf) leaves the others unchanged bit for bit; all empty
    gives (0, -inf). With a partial_tail (see lse_tail of `attn.forward`) lse_p stands for
    partial_lse + partial_tail.

    Shapes: partial_o [parts, batch, seq_len_q, heads, head_dim] f32, partial_lse
    [parts, batch, heads, seq_len_q] f32, o [batch, seq_len_q, heads, head_dim], lse
    [batch, heads, seq_len_q] f32.

    Constraints:
    - C1: ranks are 5, 4, 4 and 3, as above.
    - C2: partials and lse are f32; o is f32, f16 or bf16.
    - C3: shapes agree where both are static; parts, heads and head_dim are static and
      positive, head_dim at most 512.
    - C4: every tensor is strided, in the default memory space; the last dim of partial_o and o is
      contiguous; no elements of o or lse share an address.
    - C5: partial_tail has the shape of partial_lse, is f32 and strided, in the default memory
      space.

    Example:
    ```mlir
    attn.merge_states ins(%po, %pl : memref<4x?x?x8x64xf32>, memref<4x?x8x?xf32>)
                      outs(%o, %lse : memref<?x?x8x64xbf16>, memref<?x8x?xf32>)
    ```
  }];
  let arguments = (ins AnyMemRef:$partial_o, AnyMemRef:$partial_lse,
                       Optional<AnyMemRef>:$partial_tail, AnyMemRef:$o, Optional<AnyMemRef>:$lse,
                       OptionalAttr<Attn_Schedule>:$schedule);
  let assemblyFormat = [{
    `ins` `(` $partial_o `,` $partial_lse `:` type($partial_o) `,` type($partial_lse) `)`
    (`partial_tail` `(` $partial_tail^ `:` type($partial_tail) `)`)?
    `outs` `(` $o (`,` $lse^)? `:` type($o) (`,` type($lse)^)? `)`
    (`schedule` `(` $schedule^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [
    Pure, Terminator, ParentOneOf<["ForwardOp", "MapScoresOp"]>]> {
  let summary = "ends a score region with the new score";
  let arguments = (ins F32:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Attn_SoftcapOp : Attn_Op<"softcap", [Pure, SameOperandsAndResultType]> {
  let summary = "bounds a score smoothly: cap * tanh(score / cap)";
  let description = [{
    Soft-capping of logits as in Gemma 2 (arXiv:2408.00118); |result| <= cap.

    - C1: cap is finite and positive.

    Example: `%c = attn.softcap %s, 5.0e+01`
  }];
  let arguments = (ins F32:$score, F32Attr:$cap);
  let results = (outs F32:$result);
  let assemblyFormat = "$score `,` $cap attr-dict";
  let hasVerifier = 1;
}

def Attn_AlibiOp : Attn_Op<"alibi", [MemoryEffects<[MemRead]>]> {
  let summary = "adds the ALiBi bias -slope[head] * |i + seq_len_kv - seq_len_q - j|";
  let description = [{
    Linear position bias (arXiv:2108.12409). `slopes` holds one f32 for each query head;
    a tensor-parallel shard passes the slopes of its own heads.

    - C1: slopes is a rank-1 memref of f32.
    - C2: it stands in the score region of an `attn.forward`, which knows the lengths.

    Example: `%a = attn.alibi %s, %slopes[%h], %i, %j : memref<32xf32>`
  }];
  let arguments = (ins F32:$score, Arg<MemRefRankOf<[F32], [1]>, "slopes", [MemRead]>:$slopes,
                       Index:$head, Index:$i, Index:$j);
  let results = (outs F32:$result);
  let assemblyFormat = "$score `,` $slopes `[` $head `]` `,` $i `,` $j attr-dict `:` type($slopes)";
  let hasVerifier = 1;
}

#endif // ATTN_PROBLEM_OPS
