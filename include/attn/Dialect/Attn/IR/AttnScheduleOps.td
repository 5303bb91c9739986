//===- AttnScheduleOps.td - L2: pipes between memory and products ---------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_OPS
#define ATTN_SCHEDULE_OPS

include "attn/Dialect/Attn/IR/AttnTileOps.td"

def Attn_PipeCreateOp : Attn_Op<"pipe_create", [MemoryEffects<[MemAlloc]>]> {
  let summary = "reserves shared memory for a ring of tiles";
  let description = [{
    `offset` (bytes from the start of the CTA's shared memory) is set by
    `attn-allocate-smem`.

    - C1: offset is a multiple of 16 and not negative.

    Example: `%p = attn.pipe_create : !attn.pipe<!attn.tile<64x128xbf16>, stages = 2>`
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Attn_PipeType:$pipe);
  let assemblyFormat = "(`offset` `=` $offset^)? attr-dict `:` type($pipe)";
  let hasVerifier = 1;
}

def Attn_PipeAcquireOp : Attn_Op<"pipe_acquire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until every reader is done with the stage of an iteration";
  let description = [{
    The stage is `iteration` mod stages, its phase the parity of iteration / stages.
    Where all warps of a CTA both fill and read the pipe (sm_80), this is a CTA
    barrier, unless a `pipe_wait` of any pipe already stands between the last read
    and here: then `synced` says so and nothing is emitted.
  }];
  let arguments = (ins Attn_PipeType:$pipe, Index:$iteration, UnitAttr:$synced);
  let assemblyFormat = "$pipe `[` $iteration `]` (`synced` $synced^)? attr-dict `:` type($pipe)";
}

def Attn_CopyTileOp : Attn_Op<"copy_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts the copy of a tile into a stage of a pipe";
  let description = [{
    The addressing and padding of `attn.load_tile`, asynchronous. `alignment`: base
    pointer and row strides are multiples of that many bytes; below 4 the copy is
    synchronous.

    - C1: the source has rank 4.
    - C2: source and pipe have the same element type.
    - C3: the source is strided and its last dim is contiguous.
    - C4: alignment is a power of two.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Index:$batch, Index:$row, Index:$head,
                       Index:$limit, Attn_PipeType:$pipe, Index:$iteration, I64Attr:$alignment);
  let assemblyFormat = [{
    $source `[` $batch `,` $row `,` $head `]` `limit` `(` $limit `)` `into` $pipe `[` $iteration `]`
    `alignment` `(` $alignment `)` attr-dict `:` type($source) `,` type($pipe)
  }];
  let hasVerifier = 1;
}

def Attn_PipeCommitOp : Attn_Op<"pipe_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "closes the group of copies started since the last commit";
  let arguments = (ins Attn_PipeType:$pipe);
  let assemblyFormat = "$pipe attr-dict `:` type($pipe)";
}

def Attn_PipeWaitOp : Attn_Op<"pipe_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the tile of an iteration has arrived, for all warps";
  let description = [{
    `pending` groups committed after that tile may still be in flight.

    - C1: the tile has the shape and element type of the pipe's tiles.
    - C2: pending is not negative.

    Example:
    `%k = attn.pipe_wait %p[%it] pending(1) : !attn.pipe<!attn.tile<64x64xf16>, stages = 2> -> !attn.tile<64x64xf16>`
  }];
  let arguments = (ins Attn_PipeType:$pipe, Index:$iteration, I64Attr:$pending);
  let results = (outs Attn_TileType:$tile);
  let assemblyFormat = [{
    $pipe `[` $iteration `]` `pending` `(` $pending `)` attr-dict `:` type($pipe) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def Attn_PipeReleaseOp : Attn_Op<"pipe_release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "this warp has read the stage of an iteration for the last time";
  let arguments = (ins Attn_PipeType:$pipe, Index:$iteration);
  let assemblyFormat = "$pipe `[` $iteration `]` attr-dict `:` type($pipe)";
}

def Attn_LocalLoadOp : Attn_TileOp<"local_load"> {
  let summary = "moves a tile from shared memory into registers as mma fragments";
  let description = "- C1: operand and result agree in shape and element type.";
  let arguments = (ins Attn_TileType:$tile);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_LocalStoreOp : Attn_Op<"local_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "moves a tile of accumulators into scratch in shared memory";
  let description = [{
    f32 is rounded to the nearest even value of the result's element type. A warp reads
    back only the rows that it wrote. `offset` is set by `attn-allocate-smem`.

    - C1: operand and result agree in shape.
  }];
  let arguments = (ins Attn_TileType:$tile, OptionalAttr<I64Attr>:$offset);
  let results = (outs Attn_TileType:$result);
  let assemblyFormat = "$tile (`offset` `=` $offset^)? attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

#endif // ATTN_SCHEDULE_OPS
