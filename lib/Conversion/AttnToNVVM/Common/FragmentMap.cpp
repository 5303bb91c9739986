//===- FragmentMap.cpp - Which thread holds which element -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentMap.h"

#include <llvm/Support/FormatVariadic.h>

using namespace mlir;
using namespace attn;

static void describe(FragmentMap &map, FragmentLayoutAttr layout, int64_t rows, int64_t cols) {
  map.role = layout.getRole();
  map.split = layout.getSplit();
  map.warps = layout.getWarps();
  map.warpRows = map.split == FragmentSplit::Rows ? rows / map.warps : rows;
  map.warpCols = map.split == FragmentSplit::Cols && map.rank == 2 ? cols / map.warps : cols;
  map.rowBlocks = map.warpRows / 16;
  map.colBlocks = map.warpCols / (map.role == FragmentRole::A ? 16 : 8);
}

FragmentMap::FragmentMap(TileType tile) : rank(tile.getRank()) {
  describe(*this, cast<FragmentLayoutAttr>(tile.getLayout()), tile.getRows(),
           rank == 2 ? tile.getCols() : 0);
}

FragmentMap::FragmentMap(SoftmaxStateType state) : rank(1) {
  describe(*this, cast<FragmentLayoutAttr>(state.getLayout()), state.getRows(), 0);
}

std::string FragmentMap::explainMisfit(TileType tile) {
  FragmentMap map(tile);
  int64_t rowUnit = map.split == FragmentSplit::Rows ? 16 * map.warps : 16;
  if (tile.getRows() % rowUnit != 0)
    return llvm::formatv("expected a multiple of {0} rows (16 for each of {1} warps), got {2}",
                         rowUnit, rowUnit / 16, tile.getRows());
  int64_t colUnit = map.role == FragmentRole::A ? 16 : 8;
  if (map.split == FragmentSplit::Cols)
    colUnit *= map.warps;
  if (map.rank == 2 && tile.getCols() % colUnit != 0)
    return llvm::formatv("expected a multiple of {0} columns, got {1}", colUnit, tile.getCols());
  return {};
}

void FragmentMap::forEachElement(
    llvm::function_ref<void(unsigned row, unsigned colBlock, unsigned e, unsigned i)> visit) const {
  for (unsigned rowBlock = 0; rowBlock < rowBlocks; ++rowBlock)
    for (unsigned colBlock = 0; colBlock < colBlocks; ++colBlock)
      for (unsigned e = 0; e < 4; ++e)
        visit(rowOf(rowBlock, e), colBlock, e, index(rowBlock, colBlock, e));
}

Value FragmentMap::warpRow(ThreadBuilder &t) const {
  if (split != FragmentSplit::Rows)
    return t.i32(0);
  return t.mul(t.warp(), warpRows);
}

Value FragmentMap::warpCol(ThreadBuilder &t) const {
  if (split != FragmentSplit::Cols || rank == 1)
    return t.i32(0);
  return t.mul(t.warp(), warpCols);
}

Value FragmentMap::tileRow(ThreadBuilder &t, unsigned row) const {
  Value laneRow = t.add(warpRow(t), t.div(t.lane(), 4));
  return t.add(laneRow, 16 * (row / 2) + 8 * (row % 2));
}

Value FragmentMap::tileCol(ThreadBuilder &t, unsigned colBlock, unsigned e) const {
  Value laneCol = t.add(warpCol(t), t.mul(t.bitAnd(t.lane(), 3), 2));
  return t.add(laneCol, 8 * colBlock + e % 2);
}
