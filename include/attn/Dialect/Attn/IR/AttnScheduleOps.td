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
    `attn-allocate-smem`. A pipe between roles has two mbarriers a stage, "full" and "empty",
    at `barriers`; `readers` is the number of warps that release a stage. Stages are filled by
    tensor map, or by the threads of `writers` warps of the producer, of which `first_writer`
    is the first.

    - C1: offset and barriers are multiples of 16 and not negative.
    - C2: writers and first_writer come together, and with readers; writers is a power
      of two, first_writer not negative.

    Examples:
    ```mlir
    %p = attn.pipe_create : !attn.pipe<!attn.tile<64x128xbf16>, stages = 2>
    %k = attn.pipe_create readers(8) writers(2 from 0) : !attn.pipe<!attn.tile<64x128xbf16>, stages = 2>
    ```
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$readers,
                       OptionalAttr<I64Attr>:$writers, OptionalAttr<I64Attr>:$first_writer,
                       OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$barriers);
  let results = (outs Attn_PipeType:$pipe);
  let assemblyFormat = [{
    (`readers` `(` $readers^ `)`)? (`writers` `(` $writers^ `from` $first_writer `)`)?
    (`offset` `=` $offset^)? (`barriers` `=` $barriers^)? attr-dict
    `:` type($pipe)
  }];
  let hasVerifier = 1;
}

def Attn_PipeAcquireOp : Attn_Op<"pipe_acquire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until every reader is done with the stage of an iteration";
  let description = [{
    The stage is `iteration` mod stages, its phase the parity of iteration / stages.
    Where all warps of a CTA both fill and read the pipe (sm_80), this is a CTA
    barrier, unless a `pipe_wait` of any pipe already stands between the last read
    and here: then `synced` says so and nothing is emitted. The same goes for fills of
    the first round, which find the stage empty.
  }];
  let arguments = (ins Attn_PipeType:$pipe, Index:$iteration, UnitAttr:$synced);
  let assemblyFormat = "$pipe `[` $iteration `]` (`synced` $synced^)? attr-dict `:` type($pipe)";
}

def Attn_CopyTileOp : Attn_Op<"copy_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts the copy of a tile into a stage of a pipe";
  let description = [{
    The addressing of `attn.load_tile`, asynchronous; outside the tensor the tile is 0.
    `alignment`: base pointer and row strides are multiples of that many bytes; below 4 the
    copy is synchronous. Into a pipe with `writers` their threads copy, else a tensor map does
    where tiles lie in boxes: `map` is that of the source, and `limit` its rows, where the map
    ends.

    - C1: the source has rank 4.
    - C2: source and pipe have the same element type.
    - C3: the source is strided and its last dim is contiguous.
    - C4: alignment is a power of two.
    - C5: the boxes of `map`, if there is one, have the rows of a stage of the pipe and its element
      type.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Index:$batch, Index:$row, Index:$head,
                       Index:$limit, Attn_PipeType:$pipe, Index:$iteration,
                       Optional<Attn_TensorMapType>:$map, I64Attr:$alignment);
  let assemblyFormat = [{
    $source `[` $batch `,` $row `,` $head `]` `limit` `(` $limit `)` `into` $pipe `[` $iteration `]`
    `alignment` `(` $alignment `)` (`map` `(` $map^ `:` type($map) `)`)? attr-dict
    `:` type($source) `,` type($pipe)
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

    - C1: the tile has the shape and element type of the pipe's tiles, and comes in its parts.
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

def Attn_PipeReadyOp : Attn_Op<"pipe_ready", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the tile of an iteration has arrived, ahead of its use";
  let description = [{
    The wait of `attn.pipe_wait`, at a place where other work hides it. `attn.pipe_tile` then takes
    the tile.

    Example: `attn.pipe_ready %p[%next] : <<64x64xf16>, stages = 2>`
  }];
  let arguments = (ins Attn_PipeType:$pipe, Index:$iteration);
  let assemblyFormat = "$pipe `[` $iteration `]` attr-dict `:` type($pipe)";
}

def Attn_PipeTileOp : Attn_TileOp<"pipe_tile"> {
  let summary = "the tile of an iteration that `attn.pipe_ready` has waited for";
  let description = [{
    - C1: the tile has the shape and element type of the pipe's tiles, and comes in its parts.

    Example: `%k = attn.pipe_tile %p[%it] : <<64x64xf16>, stages = 2> -> <64x64xf16>`
  }];
  let arguments = (ins Attn_PipeType:$pipe, Index:$iteration);
  let results = (outs Attn_TileType:$tile);
  let assemblyFormat = "$pipe `[` $iteration `]` attr-dict `:` type($pipe) `->` type($tile)";
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

//===----------------------------------------------------------------------===//
// Roles and turns
//===----------------------------------------------------------------------===//

def Attn_NumCtasOp : Attn_Op<"num_ctas", [Pure]> {
  let summary = "CTAs of a persistent grid: as many as the device runs at once, at most `tiles`";
  let description = [{
    The runtime launches that many; in the kernel it is the size of the grid.

    Example: `%n = attn.num_ctas %tiles`
  }];
  let arguments = (ins Index:$tiles);
  let results = (outs Index:$result);
  let assemblyFormat = "$tiles attr-dict";
}

def Attn_NextTileOp : Attn_Op<"next_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "draws the number of a tile that no CTA has had yet";
  let description = [{
    CTAs of a persistent grid start with the tiles of their own numbers and draw once after each
    tile: `tiles` times in all. The result is the grid's size plus what `counter` was, which goes up
    by one, and from tiles - 1 back to 0: it is 0 again when the last CTA is done. A result of `tiles`
    or more says that there is no tile left. Only the producer draws; consumers are told by mailbox.

    - C1: the counter is memref<1xi32>.
    - C2: it is an argument of the kernel with `attn.tile_counter`, which the runtime provides.

    Example: `%next = attn.next_tile %counter of(%tiles) : memref<1xi32>`
  }];
  let arguments = (ins Arg<MemRefOf<[I32]>, "", [MemRead, MemWrite]>:$counter, I32:$tiles);
  let results = (outs I32:$tile);
  let assemblyFormat = "$counter `of` `(` $tiles `)` attr-dict `:` type($counter)";
  let hasVerifier = 1;
}

def Attn_RolesOp : Attn_Op<"roles", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "warps of a CTA that copy, and warps that compute";
  let description = [{
    `producer` is run by one warp, which starts copies into pipes by tensor map, or by
    `producer_warps` warps, of which each fills the pipes that name it among their writers;
    `consumer` by `warps` warps together. Both run at the same time and meet only in pipes and
    mailboxes, which are created above.
    `registers` are those of a thread of that role; 0 leaves the share that it was launched
    with.

    - C1: registers are 0, or a multiple of 8 in [24, 256].
    - C2: warps is a multiple of 4 in [4, 28].
    - C3: the producer has no tiles and reads no messages; the consumer starts no copies into pipes
      and puts nothing into mailboxes.
    - C4: it stands directly in the loop over CTAs.
    - C5: producer_warps is 1 or 4. The writers of pipes that the producer fills are among its
      warps where it has 4; where it has 1, pipes have no writers.
    - C6: tiles are drawn by producers of one warp alone.

    Example:
    ```mlir
    attn.roles producer registers(24) {
      attn.pipe_acquire %p[%i] ...
    } consumer warps(8) registers(240) {
      %k = attn.pipe_wait %p[%i] ...
    }
    ```
  }];
  let arguments = (ins I64Attr:$warps, I64Attr:$producer_registers, I64Attr:$consumer_registers,
                       DefaultValuedAttr<I64Attr, "1">:$producer_warps);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `producer` (`warps` `(` $producer_warps^ `)`)? `registers` `(` $producer_registers `)` $producer
    `consumer` `warps` `(` $warps `)` `registers` `(` $consumer_registers `)` $consumer attr-dict
  }];
  let hasVerifier = 1;
}

class Attn_TurnOp<string mnemonic> : Attn_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  // Warpgroups that take turns: a CTA has barriers for seven.
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<7>]>:$turns);
  let assemblyFormat = "`of` `(` $turns `)` attr-dict";
}

def Attn_TurnsBeginOp : Attn_TurnOp<"turns_begin"> {
  let summary = "the first of `turns` warpgroups has the turn";
}
def Attn_TurnWaitOp : Attn_TurnOp<"turn_wait"> {
  let summary = "waits until this warpgroup has the turn";
}
def Attn_TurnPassOp : Attn_TurnOp<"turn_pass"> {
  let summary = "gives the turn to the next warpgroup";
}
def Attn_TurnsEndOp : Attn_TurnOp<"turns_end"> {
  let summary = "takes back the turn that nobody waits for";
}

//===----------------------------------------------------------------------===//
// Messages between roles
//===----------------------------------------------------------------------===//

def Attn_MailboxCreateOp : Attn_Op<"mailbox_create", [MemoryEffects<[MemAlloc]>]> {
  let summary = "reserves shared memory for messages from the producer to the consumers";
  let description = [{
    `readers` is the number of warps that read a message. `offset` (bytes from the start of the
    CTA's shared memory) is that of the messages, 16 bytes each; the mbarriers, "full" and "empty"
    of each stage, lie behind them. `attn-allocate-smem` sets it.

    - C1: offset is a multiple of 16 and not negative.

    Example: `%m = attn.mailbox_create readers(8) : <values = 3, stages = 2>`
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$readers, OptionalAttr<I64Attr>:$offset);
  let results = (outs Attn_MailboxType:$mailbox);
  let assemblyFormat = [{
    `readers` `(` $readers `)` (`offset` `=` $offset^)? attr-dict `:` type($mailbox)
  }];
  let hasVerifier = 1;
}

class Attn_MailboxOp<string mnemonic> : Attn_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let hasVerifier = 1;
}

def Attn_MailboxPassOp : Attn_MailboxOp<"mailbox_pass"> {
  let summary = "numbers that the producer finds out and the consumers are told";
  let description = [{
    Results are the operands. `attn-assign-roles` makes a `mailbox_put` and a `mailbox_get` of it, so
    that consumers have neither the work nor the registers of what the operands are computed with.

    - C1: operands and results are as many as the mailbox's values.

    Example: `%b, %h = attn.mailbox_pass %m[%it] (%0, %1) : <values = 2, stages = 2> -> index, index`
  }];
  let arguments = (ins Attn_MailboxType:$mailbox, Index:$iteration, Variadic<Index>:$values);
  let results = (outs Variadic<Index>:$passed);
  let assemblyFormat = [{
    $mailbox `[` $iteration `]` `(` $values `)` attr-dict `:` type($mailbox) `->` type($passed)
  }];
}

def Attn_MailboxPutOp : Attn_MailboxOp<"mailbox_put"> {
  let summary = "writes the message of an iteration, as soon as that before it in its stage is read";
  let description = [{
    Stage and phase are those of pipes. Where the producer has several warps, the first one writes.

    - C1: operands are as many as the mailbox's values.

    Example: `attn.mailbox_put %m[%it] (%b, %h, %i) : <values = 3, stages = 2>`
  }];
  let arguments = (ins Attn_MailboxType:$mailbox, Index:$iteration, Variadic<Index>:$values);
  let assemblyFormat = "$mailbox `[` $iteration `]` `(` $values `)` attr-dict `:` type($mailbox)";
}

def Attn_MailboxGetOp : Attn_MailboxOp<"mailbox_get"> {
  let summary = "waits for the message of an iteration, which every lane reads";
  let description = [{
    - C1: results are as many as the mailbox's values.

    Example: `%b, %h = attn.mailbox_get %m[%it] : <values = 2, stages = 2> -> index, index`
  }];
  let arguments = (ins Attn_MailboxType:$mailbox, Index:$iteration);
  let results = (outs Variadic<Index>:$values);
  let assemblyFormat = "$mailbox `[` $iteration `]` attr-dict `:` type($mailbox) `->` type($values)";
}

//===----------------------------------------------------------------------===//
// Asynchronous products
//===----------------------------------------------------------------------===//

def Attn_TileOrInFlight : AnyTypeOf<[Attn_TileType, Attn_InFlightType]>;

def Attn_MmaStartOp : Attn_Op<"mma_start", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts acc + a b, or acc + a b^T, without waiting for it";
  let description = [{
    The product of `attn.tile_mma`; without `acc`, of zeros. Every start is a group of its
    own, and groups complete in the order of their starts.

    - C1: a is MxK, the result MxN, b KxN (NxK with `transpose_b`), acc like the result.
    - C2: a and b have one element type; the result is f32.

    Example:
    ```mlir
    %s = attn.mma_start %q, %k transpose_b : !attn.tile<128x64xf16>, !attn.tile<64x64xf16>
       -> !attn.in_flight<!attn.tile<128x64xf32>>
    ```
  }];
  let arguments = (ins Attn_TileType:$a, Attn_TileType:$b, Optional<Attn_TileOrInFlight>:$acc,
                       UnitAttr:$transpose_b);
  let results = (outs Attn_InFlightType:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $acc^ `:` type($acc))? (`transpose_b` $transpose_b^)? attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_MmaWaitOp : Attn_Op<"mma_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for products; what it returns may be read";
  let description = [{
    At most `pending` groups that were started later may still be in flight. Results are
    the operands; tiles that are ready already may be passed through, so that nothing that reads
    them moves above the wait.

    - C1: there are products, and result i is the tile of operand i.
    - C2: pending is in [0, 7].

    Example:
    `%s = attn.mma_wait %f pending(1) : !attn.in_flight<!attn.tile<64x64xf32>> -> !attn.tile<64x64xf32>`
  }];
  let arguments = (ins Variadic<Attn_TileOrInFlight>:$products, I64Attr:$pending);
  let results = (outs Variadic<Attn_TileType>:$tiles);
  let assemblyFormat = [{
    $products `pending` `(` $pending `)` attr-dict `:` type($products) `->` type($tiles)
  }];
  let hasVerifier = 1;
}

def Attn_BulkStoreOp : Attn_Op<"bulk_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "writes accumulators to rows of a tensor through a buffer in shared memory";
  let description = [{
    `attn.store_tile` for tiles that hardware copies box by box: each warpgroup rounds its rows
    into its share of `buffer` and starts the copy. `attn.bulk_store_wait` says when the buffer may
    be written again; the tensor holds the tile when the kernel ends.

    - C1: tile and buffer agree in rows, and the buffer has at least as many columns.
    - C2: the tensor has four dims and the buffer's 16-bit element type; the map's boxes have it
      too, and 64 rows, those of one warpgroup.

    Example:
    `attn.bulk_store %o via %q, %O[%b, %i, %h] map(%m : ...) : !attn.tile<128x64xf32>, !attn.tile<128x64xf16>, memref<...>`
  }];
  let arguments = (ins Attn_TileType:$tile, Attn_TileType:$buffer,
                       Arg<AnyMemRef, "", [MemWrite]>:$dest, Index:$batch, Index:$row, Index:$head,
                       Optional<Attn_TensorMapType>:$map);
  let assemblyFormat = [{
    $tile `via` $buffer `,` $dest `[` $batch `,` $row `,` $head `]` (`map` `(` $map^ `:` type($map) `)`)?
    attr-dict `:` type($tile) `,` type($buffer) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Attn_BulkStoreWaitOp : Attn_Op<"bulk_store_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the stores of this role have read the buffer";
  let description = [{
    Each warpgroup waits for the copies that it has started itself, those of all buffers.

    Example: `attn.bulk_store_wait %q : !attn.tile<128x64xf16>`
  }];
  let arguments = (ins Attn_TileType:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
}

//===----------------------------------------------------------------------===//
// Softmax in two steps
//===----------------------------------------------------------------------===//

def Attn_SoftmaxRebaseOp : Attn_TileOp<"softmax_rebase", [
    AllTypesMatch<["state", "new_state"]>, AllTypesMatch<["scores", "new_scores"]>]> {
  let summary = "first half of softmax_update: moves the reference, so that scores may be added";
  let description = [{
    m' and alpha as in `attn.softmax_update`; l' = alpha l. new_scores are what `attn.softmax_add`
    takes with the new state: the scores, except that a target may give those of a row relative
    to its m' where f32 would not resolve the exponents otherwise.

    - C1: the constraint of `attn.softmax_update`.
  }];
  let arguments = (ins Attn_SoftmaxStateType:$state, Attn_TileType:$scores, F32:$scale);
  let results = (outs Attn_SoftmaxStateType:$new_state, Attn_TileType:$new_scores,
    Attn_TileType:$alpha);
  let assemblyFormat = [{
    $state `,` $scores `scale` `(` $scale `)` attr-dict
    `:` type($state) `,` type($scores) `->` type($alpha)
  }];
  let hasVerifier = 1;
}

def Attn_SoftmaxAddOp : Attn_TileOp<"softmax_add", [
    AllTypesMatch<["state", "new_state"]>, AllTypesMatch<["scores", "p"]>]> {
  let summary = "second half of softmax_update: p = exp((scores - m) scale), l' = l + rowsum(p)";
  let description = "- C1: scores is a rank-2 f32 tile; state and scores agree in rows.";
  let arguments = (ins Attn_SoftmaxStateType:$state, Attn_TileType:$scores, F32:$scale);
  let results = (outs Attn_SoftmaxStateType:$new_state, Attn_TileType:$p);
  let assemblyFormat = [{
    $state `,` $scores `scale` `(` $scale `)` attr-dict `:` type($state) `,` type($scores)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_SCHEDULE_OPS
