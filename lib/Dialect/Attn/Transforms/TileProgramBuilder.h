//===- TileProgramBuilder.h - Tile programs of the problem ops --*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TRANSFORMS_TILEPROGRAMBUILDER_H
#define ATTN_LIB_TRANSFORMS_TILEPROGRAMBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Replaces the op by its tile program, or emits an error and leaves it in place.
llvm::LogicalResult lowerForward(ForwardOp op);
llvm::LogicalResult lowerMergeStates(MergeStatesOp op);

/// Part `part` of a tensor of partial results: a view with the leading dim dropped.
mlir::Value partView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value partials,
                     mlir::Value part);

/// The builder of a forward tile program: the values that every algorithm needs,
/// and the steps that all of them share.
class ForwardTileBuilder {
public:
  ForwardTileBuilder(ForwardOp op, ScheduleAttr schedule, mlir::OpBuilder &builder);

  /// Running values of a softmax over keys.
  struct Accumulator {
    mlir::Value o;
    mlir::Value state;
  };

  /// Writes the loop over CTAs around the program of the schedule's algorithm.
  llvm::LogicalResult build();

private:
  void buildNaive();
  void buildTwoPass();
  void buildFA2();
  void buildFA1();

  /// Sequence lengths and loop bounds of the whole problem (outside the CTA loop).
  void buildSizes();
  /// With pack_gqa the rows of a tensor of queries are the heads of a group: the view of a tensor
  /// [batch, 1, heads, columns] as [batch, heads of the CTA's group, 1, columns], and of
  /// [batch, heads, 1] as [batch, 1, heads of the group].
  mlir::Value groupView(mlir::Value tensor);
  /// What stores of the CTA write: its part of partial results, its group of heads.
  mlir::Value resultView(mlir::Value tensor);
  int64_t groupSize() { return op.getHeadsQ() / op.getHeadsKV(); }
  /// Binds the CTA's coordinates to batch, head and first query row.
  void bindCoordinates(mlir::ValueRange ids);
  /// The range of K/V tiles this Q tile must visit, clamped to the sequence and, with
  /// split-KV, to the share of this part; begin is a multiple of kv_tile.
  KeyRange visitedKeys();

  using BodyFn =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value key, mlir::ValueRange carried)>;
  /// for key in range step kv_tile; carries values.
  llvm::SmallVector<mlir::Value> forEachKVTile(KeyRange range, mlir::ValueRange init, BodyFn body);
  mlir::Value loadQ();
  mlir::Value loadK(mlir::Value key);
  mlir::Value loadV(mlir::Value key);
  /// Q K^T, the score region and the mask.
  mlir::Value maskedScores(mlir::Value q, mlir::Value k, mlir::Value key);
  mlir::Value scores(mlir::Value q, mlir::Value k, mlir::Value key);
  mlir::Value mask(mlir::Value scores, mlir::Value key);
  mlir::Value mapScores(mlir::Value scores, mlir::Value key);
  /// acc + P V, with P rounded to V's type.
  mlir::Value accumulate(mlir::Value p, mlir::Value v, mlir::Value acc);
  mlir::Value fill(TileType type, float value);
  mlir::Value outputPass(mlir::Value q, KeyRange range, mlir::Value state);
  void storeResult(Accumulator acc);

  TileType tileType(int64_t rows, int64_t cols, mlir::Type elementType) const;
  mlir::Value constant(int64_t value);

  ForwardOp op;
  ScheduleAttr schedule;
  mlir::OpBuilder &b;
  mlir::Location loc;

  int64_t dimQK, dimV;
  mlir::Type elementType;
  mlir::Value batchSize, seqLenQ, seqLenKV, numQTiles;
  /// Rows of the tensors that hold queries: seqLenQ, or with pack_gqa the heads of a group.
  mlir::Value numRows;
  /// `head` is a query head; with pack_gqa its index in the view of a group, 0.
  mlir::Value part, batch, head, headKV, rowBegin;
  mlir::Value firstHead; ///< Of the group, with pack_gqa.
  /// What a score of the tile program must be multiplied by to be in natural units:
  /// the op's scale, or 1 after a score region, which sees scaled scores.
  mlir::Value softmaxScale;
  int64_t numPasses = 0;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_TILEPROGRAMBUILDER_H
