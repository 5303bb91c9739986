//===- Verifiers.h - Checks that several ops share --------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_IR_VERIFIERS_H
#define ATTN_LIB_IR_VERIFIERS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// A tensor of an op with the name that messages call it by; `value` is null where an
/// optional tensor is absent.
struct NamedTensor {
  llvm::StringRef name;
  mlir::Value value;

  mlir::MemRefType getType() const { return mlir::cast<mlir::MemRefType>(value.getType()); }
};

llvm::LogicalResult verifyRank(mlir::Operation *op, llvm::StringRef constraint, NamedTensor tensor,
                               int64_t rank);

/// The tensor has strides, static or not.
llvm::LogicalResult verifyStrided(mlir::Operation *op, llvm::StringRef constraint,
                                  NamedTensor tensor);

/// The tensor has strides and the last of them is 1.
llvm::LogicalResult verifyContiguousRows(mlir::Operation *op, llvm::StringRef constraint,
                                         NamedTensor tensor);

/// No static stride of 0 in a dim of several elements: they would be written over each
/// other.
llvm::LogicalResult verifyDistinctElements(mlir::Operation *op, llvm::StringRef constraint,
                                           NamedTensor tensor);

llvm::LogicalResult verifyDefaultMemorySpace(mlir::Operation *op, llvm::StringRef constraint,
                                             NamedTensor tensor);

/// Static sizes of one dim agree; a dynamic size agrees with all.
llvm::LogicalResult verifySameDim(mlir::Operation *op, llvm::StringRef constraint,
                                  llvm::StringRef what, NamedTensor a, unsigned dimA, NamedTensor b,
                                  unsigned dimB);

/// The region takes an f32 and `numPositions` indices, ends with attn.yield, and its ops
/// work on scalars and do not write memory. To be called once the region's ops are
/// verified.
llvm::LogicalResult verifyScoreRegion(mlir::Operation *op, llvm::StringRef constraint,
                                      mlir::Region &region, unsigned numPositions);

/// No op of the region reads the tensor, which the op writes, nor memory that it is a view of.
llvm::LogicalResult verifyNotRead(mlir::Operation *op, llvm::StringRef constraint,
                                  mlir::Region &region, NamedTensor written);

/// For attributes without parameters, whose generated parser would skip whatever stands in
/// angle brackets after their name.
llvm::LogicalResult refuseParameters(mlir::AsmParser &parser);

/// The mask gets the operands that it asks for.
llvm::LogicalResult verifyMaskArgs(mlir::Operation *op, llvm::StringRef constraint,
                                   MaskAttrInterface mask, mlir::TypeRange types);

/// C1 and C2 of products: shapes and element types of acc + a b.
llvm::LogicalResult verifyProduct(mlir::Operation *op, TileType a, TileType b, TileType acc,
                                  bool transposeB);

/// C1 of softmax ops: an f32 matrix of scores with the rows of the state.
llvm::LogicalResult verifyStateAndScores(mlir::Operation *op, SoftmaxStateType state,
                                         TileType scores);

/// A per-row factor: rank-1, f32, one element for each row.
llvm::LogicalResult verifyRowVector(mlir::Operation *op, llvm::StringRef name, TileType vector,
                                    int64_t rows);

} // namespace attn

#endif // ATTN_LIB_IR_VERIFIERS_H
