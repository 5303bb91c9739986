//===- AttnAttrs.td - Masks, KV layouts, schedules, tile layouts ----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ATTRS
#define ATTN_ATTRS

include "attn/Dialect/Attn/IR/AttnDialect.td"
include "attn/Dialect/Attn/IR/AttnInterfaces.td"
include "mlir/IR/EnumAttr.td"

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Attn_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::attn";
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

def Attn_Alignment : Attn_Enum<"Alignment", "which corner the diagonal runs through", [
  I32EnumCase<"BottomRight", 0, "bottom_right">,
  I32EnumCase<"TopLeft", 1, "top_left">]>;

class Attn_Mask<string name, string attrMnemonic, list<string> methods>
    : Attn_Attr<name, attrMnemonic,
                [DeclareAttrInterfaceMethods<Attn_MaskAttrInterface, methods>]>;

def Attn_NoneMask : Attn_Mask<"NoneMask", "none", ["keepsAll", "rowsAreIntervals"]> {
  let summary = "every row sees every key";
  let description = "Example: `#attn.none`";
  let hasCustomAssemblyFormat = 1;
}

def Attn_CausalMask : Attn_Mask<"CausalMask", "causal", ["rowsAreIntervals"]> {
  let summary = "row i sees the keys up to its diagonal key";
  let description = [{
    `bottom_right` (the default of the front ends): row i sees keys
    j <= i + seq_len_kv - seq_len_q, so the last row sees every key.
    `top_left`: row i sees keys j <= i.

    Example: `#attn.causal<bottom_right>`
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` $alignment `>`";
}

def Attn_WindowMask : Attn_Mask<"WindowMask", "window",
                                ["getNumParams", "verifyParams", "keepsAll", "rowsAreIntervals"]> {
  let summary = "row i sees keys within a distance of its diagonal key";
  let description = [{
    With d the diagonal key of row i (see `#attn.causal`), row i sees
    d - left <= j <= d + right. Both bounds are inclusive counts of keys; `-1`
    or a count that reaches the length means unlimited; `?` takes the bound from
    the op's mask operands (type index, left before right).

    Example: `#attn.window<1023, 0>` is a sliding window of 1024 keys that ends
    at the diagonal; `#attn.window<?, 0, top_left>` has a run-time left bound.
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right,
                        EnumParameter<Attn_Alignment>:$alignment);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class Attn_ComposedMask<string name, string attrMnemonic>
    : Attn_Mask<name, attrMnemonic, ["getNumParams", "verifyParams", "keepsAll", "rowsAreIntervals"]> {
  let description = [{
    The mask operands are those of the members, in order. Compositions nest at most 32 levels
    deep.

    Example: `#attn.}] # attrMnemonic # [{<#attn.causal<bottom_right>, #attn.window<7, 0>>`
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$masks);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Attn_AllOfMask : Attn_ComposedMask<"AllOfMask", "all_of"> {
  let summary = "a pair is kept when every member keeps it";
}
def Attn_AnyOfMask : Attn_ComposedMask<"AnyOfMask", "any_of"> {
  let summary = "a pair is kept when at least one member keeps it";
}

def Attn_MaskAttr : Attr<CPred<"::llvm::isa<::attn::MaskAttrInterface>($_self)">,
                         "mask attribute"> {
  let storageType = "::attn::MaskAttrInterface";
  let returnType = "::attn::MaskAttrInterface";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}

//===----------------------------------------------------------------------===//
// KV layouts
//===----------------------------------------------------------------------===//

def Attn_DenseLayout : Attn_Attr<"DenseLayout", "dense",
    [DeclareAttrInterfaceMethods<Attn_KVLayoutAttrInterface>]> {
  let summary = "K and V are strided tensors [batch, seq_len_kv, heads_kv, head_dim]";
  let description = "Example: `#attn.dense`";
  let hasCustomAssemblyFormat = 1;
}

def Attn_KVLayoutAttr : Attr<CPred<"::llvm::isa<::attn::KVLayoutAttrInterface>($_self)">,
                             "KV layout attribute"> {
  let storageType = "::attn::KVLayoutAttrInterface";
  let returnType = "::attn::KVLayoutAttrInterface";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$0";
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

def Attn_Algorithm : Attn_Enum<"Algorithm", "how the tile program is written", [
  I32EnumCase<"Naive", 0, "naive">, I32EnumCase<"TwoPass", 1, "two_pass">,
  I32EnumCase<"FA1", 2, "fa1">, I32EnumCase<"FA2", 3, "fa2">]>;

def Attn_WarpSplit : Attn_Enum<"WarpSplit", "which tile side the warps share out", [
  I32EnumCase<"Rows", 0, "rows">, I32EnumCase<"Keys", 1, "keys">]>;

def Attn_Instruction : Attn_Enum<"Instruction", "what computes a tile product", [
  I32EnumCase<"Mma", 0, "mma">, I32EnumCase<"Fma", 1, "fma">, I32EnumCase<"Wgmma", 2, "wgmma">]>;

def Attn_TileOrder : Attn_Enum<"TileOrder", "the order in which Q tiles are started", [
  I32EnumCase<"Linear", 0, "linear">, I32EnumCase<"LongestFirst", 1, "longest_first">]>;

def Attn_KVOrder : Attn_Enum<"KVOrder", "the order in which a Q tile visits the K/V tiles", [
  I32EnumCase<"Ascending", 0, "ascending">, I32EnumCase<"Descending", 1, "descending">]>;

def Attn_Persistence : Attn_Enum<"Persistence", "how CTAs come by their Q tiles", [
  I32EnumCase<"None", 0, "none">, I32EnumCase<"Static", 1, "static">,
  I32EnumCase<"Dynamic", 2, "dynamic">]>;

def Attn_Producer : Attn_Enum<"Producer", "how a producer copies tiles", [
  I32EnumCase<"Tma", 0, "tma">, I32EnumCase<"CpAsync", 1, "cp_async">]>;

def Attn_Schedule : Attn_Attr<"Schedule", "schedule"> {
  let summary = "every decision of how a problem is computed";
  let description = [{
    Chosen by `attn-select-schedule` from the target's table; any field can be
    pinned by hand. In a whole schedule, fields that a target has no use for are
    ignored there (`warps` on the CPU); as a pin, such a field is refused.

    - `algorithm`: `naive` (three passes of safe softmax), `two_pass` (online
      normalizer, then output), `fa1` (KV outer loop), `fa2` (Q outer loop).
    - `q_tile`, `kv_tile`: rows of a Q tile and of a K/V tile.
    - `stages`: K/V tiles in flight or in use, per tensor.
    - `warps`, `warp_split`: warps of a CTA; each owns rows, or keys of each tile
      with one merge at the end.
    - `split_kv`: number of partial results along the keys, merged at the end.
    - `instruction`: tensor-core `mma`, `wgmma` (products of four warps at a time, on tiles
      that a producer warp brings in), or `fma` (any type, the generic path).
    - `q_in_registers`: keep Q fragments in registers rather than re-read them.
    - `order`: `linear`, or `longest_first` for masks that make work uneven.
    - `lazy_rescale`: the reference m of a row's softmax stays while no score exceeds it by more
      than 8 powers of two, so that few steps rescale O; P may then be up to 2^8. Otherwise m
      is the largest score so far and that score's P is exactly 1.
    - `pack_gqa`: for one query of grouped heads, the rows of a Q tile are the query heads of one
      key/value head, which then is read once for all of them.

    The rest is for `instruction = wgmma`, whose `warps` are those that compute, four to a
    warpgroup, beside one warpgroup that copies:

    - `kv_order`: `descending` starts with the tile that most often needs a mask.
    - `overlap`: the softmax of a tile runs beside its successor's Q K^T and its
      predecessor's P V.
    - `pingpong`: warpgroups take turns, so that one's products run beside the other's
      softmax.
    - `persistent`: `none` (a CTA for each Q tile), `static` (as many CTAs as run at once,
      each takes every n-th tile) or `dynamic` (each draws the next one from a counter in global
      memory).
    - `q_stages`: Q tiles, or parts of them, in flight or in use.
    - `q_by_warpgroup`: the rows of each warpgroup come and go by themselves, and `q_stages`
      counts such parts of Q tiles.
    - `producer`: `tma` (one warp copies boxes of tensor maps, which want 16-byte alignment) or
      `cp_async` (the threads of a warpgroup copy 16, 8 or 4 bytes at once as alignment allows, or
      2 one by one, and O is stored from registers).
    - `producer_registers`, `consumer_registers`: registers of a thread of either kind; 0
      leaves both with an equal share.
    - `integer_max`: compare scores with their row's reference as integers.

    Example: `#attn.schedule<algorithm = fa2, q_tile = 128, kv_tile = 64>`
  }];
  let parameters = (ins
    DefaultValuedParameter<"::attn::Algorithm", "::attn::Algorithm::FA2">:$algorithm,
    DefaultValuedParameter<"int64_t", "64">:$q_tile,
    DefaultValuedParameter<"int64_t", "64">:$kv_tile,
    DefaultValuedParameter<"int64_t", "1">:$stages,
    DefaultValuedParameter<"int64_t", "4">:$warps,
    DefaultValuedParameter<"::attn::WarpSplit", "::attn::WarpSplit::Rows">:$warp_split,
    DefaultValuedParameter<"int64_t", "1">:$split_kv,
    DefaultValuedParameter<"::attn::Instruction", "::attn::Instruction::Mma">:$instruction,
    DefaultValuedParameter<"bool", "false">:$q_in_registers,
    DefaultValuedParameter<"::attn::TileOrder", "::attn::TileOrder::Linear">:$order,
    DefaultValuedParameter<"::attn::KVOrder", "::attn::KVOrder::Ascending">:$kv_order,
    DefaultValuedParameter<"bool", "false">:$overlap,
    DefaultValuedParameter<"bool", "false">:$pingpong,
    DefaultValuedParameter<"::attn::Persistence", "::attn::Persistence::None">:$persistent,
    DefaultValuedParameter<"int64_t", "1">:$q_stages,
    DefaultValuedParameter<"bool", "false">:$q_by_warpgroup,
    DefaultValuedParameter<"::attn::Producer", "::attn::Producer::Tma">:$producer,
    DefaultValuedParameter<"int64_t", "0">:$producer_registers,
    DefaultValuedParameter<"int64_t", "0">:$consumer_registers,
    DefaultValuedParameter<"bool", "false">:$integer_max,
    DefaultValuedParameter<"bool", "true">:$lazy_rescale,
    DefaultValuedParameter<"bool", "false">:$pack_gqa);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool usesWgmma() const { return getInstruction() == Instruction::Wgmma; }
    bool copiesWithThreads() const { return usesWgmma() && getProducer() == Producer::CpAsync; }
    /// Warps of the warpgroup that copies which do: tensor maps take one, which elects a thread.
    int64_t getProducerWarps() const { return copiesWithThreads() ? kWarpgroupWarps : 1; }
    /// Parts that a Q tile comes in.
    int64_t getQParts() const { return getQByWarpgroup() ? getWarps() / kWarpgroupWarps : 1; }
    /// Warps of a CTA: those that compute and those that only copy.
    int64_t getCtaWarps() const { return getWarps() + (usesWgmma() ? kWarpgroupWarps : 0); }
  }];
}

//===----------------------------------------------------------------------===//
// Tile layouts
//===----------------------------------------------------------------------===//

def Attn_SharedLayout : Attn_Attr<"SharedLayout", "shared"> {
  let summary = "the tile lies in shared memory, rows of `pitch` bytes, 16-byte chunks XORed by row";
  let description = [{
    Chunk c (16 bytes) of row r lies at byte r * pitch + (c ^ (r & xor_mask)) * 16.
    `xor_mask` is 7 where a row is a multiple of eight chunks; otherwise 0, and the pitch
    is an odd number of chunks. Either way the eight rows of an ldmatrix phase
    touch all 32 banks once.
  }];
  let parameters = (ins "int64_t":$pitch, "int64_t":$xor_mask);
  let assemblyFormat = "`<` `pitch` `=` $pitch `,` `xor_mask` `=` $xor_mask `>`";
  let genVerifyDecl = 1;
}

def Attn_BoxedLayout : Attn_Attr<"BoxedLayout", "boxed"> {
  let summary = "the tile lies in shared memory as TMA boxes of 64 columns under the 128-byte swizzle";
  let description = [{
    16-bit element (r, c) of a tile of R rows lies at byte
    (c / 64) R 128 + r 128 + ((c / 8) % 8 ^ (r % 8)) 16 + (c % 8) 2: what a tensor map with
    boxes of R x 64 writes and wgmma reads. Columns are padded to whole boxes. With `parts`,
    each of as many equal parts of the rows lies like that in a stage of its own, and a warpgroup
    reads the part of its rows.

    Example: `#attn.boxed<parts = 2>`
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$parts);
  let assemblyFormat = "(`<` `parts` `=` $parts^ `>`)?";
  let genVerifyDecl = 1;
}

def Attn_FragmentRole : Attn_Enum<"FragmentRole", "which operand of mma.m16n8k16", [
  I32EnumCase<"Acc", 0, "acc">, I32EnumCase<"A", 1, "a">]>;

def Attn_FragmentSplit : Attn_Enum<"FragmentSplit", "what each warp of the CTA holds", [
  I32EnumCase<"Rows", 0, "rows">, I32EnumCase<"Cols", 1, "cols">,
  I32EnumCase<"Partial", 2, "partial">]>;

def Attn_FragmentLayout : Attn_Attr<"FragmentLayout", "fragment"> {
  let summary = "the tile is spread over the registers of a CTA's warps as mma fragments";
  let description = [{
    Accumulator (`acc`) of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"):
    in each 16x8 block, lane l holds rows l/4 and l/4 + 8, columns 2 (l % 4) + {0, 1}.
    Operand `a` holds the same elements packed in pairs. A rank-1 tile holds one
    value for each row that the lane's accumulators touch.

    `split = rows`: warp w owns rows [w M/W, (w+1) M/W). `split = cols`: warp w owns
    all rows and columns [w N/W, (w+1) N/W). `split = partial`: every warp owns the whole
    tile, and the tile's value is the sum (for softmax states, the merge) over warps.
  }];
  let parameters = (ins EnumParameter<Attn_FragmentRole>:$role, "int64_t":$warps,
                        EnumParameter<Attn_FragmentSplit>:$split);
  let assemblyFormat = "`<` $role `,` `warps` `=` $warps `,` `split` `=` $split `>`";
  let genVerifyDecl = 1;
}

#endif // ATTN_ATTRS
