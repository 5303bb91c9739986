//===- TileNumbering.h - Which Q tile has which number ----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TRANSFORMS_TILENUMBERING_H
#define ATTN_LIB_TRANSFORMS_TILENUMBERING_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Numbers the tiles of a loop over CTAs in the order in which persistent CTAs take them. Numbers
/// are i32: there are fewer than 2^31 tiles, and division costs by the bit.
class TileNumbering {
public:
  /// Bounds of the loop become values where `b` stands.
  TileNumbering(mlir::OpBuilder &b, mlir::scf::ForallOp tiles, ScheduleAttr schedule);

  /// Whether tiles are numbered from long to short ones.
  bool sorts() const { return sorted; }
  /// How many tiles there are (index).
  mlir::Value count();
  /// What all tiles share of the way to their ids; computed where `b` stands.
  void prepare();
  /// The ids of a tile in the loop (i32).
  llvm::SmallVector<mlir::Value> ids(mlir::Value tile) {
    return sorted ? idsBySections(tile) : idsInOrder(tile);
  }

  // Arithmetic of i32 values.
  mlir::Value narrow(mlir::Value value) {
    return mlir::arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
  }
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(b, loc, value, 32);
  }
  template <typename OpTy> mlir::Value make(mlir::Value x, mlir::Value y) {
    return OpTy::create(b, loc, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// Splits x by y into a quotient and what is left.
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value x, mlir::Value y) {
    return {make<mlir::arith::DivUIOp>(x, y), make<mlir::arith::RemUIOp>(x, y)};
  }

private:
  llvm::SmallVector<mlir::Value> idsInOrder(mlir::Value tile);
  llvm::SmallVector<mlir::Value> idsBySections(mlir::Value tile);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::scf::ForallOp tiles;
  bool sorted;
  llvm::SmallVector<mlir::Value> bounds;
  /// Sets of heads whose keys and values fit the cache together: `last` + 1 of them, the first
  /// `larger` of which have one group of heads more than the others, which have `groups` (i32).
  struct Sections {
    int64_t group = 1; ///< Query heads of a key/value head.
    mlir::Value groups, larger, last;
  } sections;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_TILENUMBERING_H
