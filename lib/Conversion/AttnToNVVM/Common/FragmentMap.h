//===- FragmentMap.h - Which thread holds which element ---------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_FRAGMENTMAP_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_FRAGMENTMAP_H

#include "ThreadBuilder.h"
#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The element-to-register map of a tile in `#attn.fragment` layout; the one place that
/// knows mma.m16n8k16 fragments (PTX ISA). Registers of a thread are numbered
///
///   acc:    ((rowBlock * colBlocks + colBlock) * 4 + e)
///           row  16 rowBlock + lane / 4 + 8 (e / 2), column 8 colBlock + 2 (lane % 4) + e % 2
///   a:      ((rowBlock * colBlocks + colBlock) * 4 + r), colBlock of 16 columns, pairs of
///           elements: r = 0, 1 rows lane/4 and +8 of columns 0-7, r = 2, 3 of columns 8-15
///   rank 1: (rowBlock * 2 + half), row 16 rowBlock + lane / 4 + 8 half
struct FragmentMap {
  explicit FragmentMap(TileType tile);
  explicit FragmentMap(SoftmaxStateType state);

  /// Why mma fragments cannot hold the tile; empty if they can.
  static std::string explainMisfit(TileType tile);

  unsigned numRegisters() const { return rank == 1 ? numRows() : rowBlocks * colBlocks * 4; }
  /// Rows that this thread holds elements of.
  unsigned numRows() const { return rowBlocks * 2; }
  static unsigned rowOf(unsigned rowBlock, unsigned e) { return rowBlock * 2 + e / 2; }
  unsigned index(unsigned rowBlock, unsigned colBlock, unsigned e) const {
    return (rowBlock * colBlocks + colBlock) * 4 + e;
  }

  /// Visits every accumulator register `i` with its row number in the thread, its block
  /// of columns and its element in the block.
  void forEachElement(
      llvm::function_ref<void(unsigned row, unsigned colBlock, unsigned e, unsigned i)> visit)
      const;

  /// First row and column of this warp in the tile (i32).
  mlir::Value warpRow(ThreadBuilder &t) const;
  mlir::Value warpCol(ThreadBuilder &t) const;
  /// Row in the tile (i32) of this thread's row number `row` (see numRows).
  mlir::Value tileRow(ThreadBuilder &t, unsigned row) const;
  /// Column in the tile (i32) of element e of an accumulator block.
  mlir::Value tileCol(ThreadBuilder &t, unsigned colBlock, unsigned e) const;

  int64_t rank = 2;
  FragmentRole role;
  FragmentSplit split;
  int64_t warps;
  /// What one warp holds.
  int64_t warpRows, warpCols;
  unsigned rowBlocks, colBlocks;
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_FRAGMENTMAP_H
