//===- DispatchMatrix.h - Which row each problem gets -----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_COMPILER_DISPATCHMATRIX_H
#define ATTN_COMPILER_DISPATCHMATRIX_H

#include "attn/Target/TargetInfo.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/JSON.h>

namespace attn {

/// What a problem is asked by: a key of a spec, and the values that the matrix goes through.
struct MatrixAxis {
  std::string name;
  std::vector<std::string> values; ///< At most 64.
  /// The values are numbers in order, which are written as ranges.
  bool isRange = false;
  bool operator==(const MatrixAxis &) const = default;
};

/// The kernel of a problem. No row: dispatch refuses the problem.
struct MatrixKernel {
  std::string row, instruction;
  int64_t qTile = 0, kvTile = 0, stages = 0;
  auto operator<=>(const MatrixKernel &) const = default;
};

/// All problems with one value out of a set for each axis, which have the same kernel.
struct MatrixCell {
  std::vector<uint64_t> sets; ///< Of each axis, bit i for its value i.
  MatrixKernel kernel;
  auto operator<=>(const MatrixCell &) const = default;
};

struct MatrixTable {
  std::vector<MatrixAxis> axes;
  std::vector<MatrixCell> cells; ///< No problem is in two.
  bool operator==(const MatrixTable &other) const = default;
};

/// The problems for which a feature, alone, leads to another kernel, with that kernel.
struct MatrixFeature {
  std::string name; ///< As it stands in a spec.
  MatrixTable changed;
  bool operator==(const MatrixFeature &) const = default;
};

/// What selection decides for the problems of a grid on one target.
struct DispatchMatrix {
  MatrixTable equalDims;   ///< head_dim_v = head_dim.
  MatrixTable unequalDims; ///< Any two head dims, at the largest alignment.
  std::vector<MatrixFeature> features;
  bool operator==(const DispatchMatrix &) const = default;
};

/// Asks selection for each problem of the grid: nothing of it is written down twice.
DispatchMatrix makeDispatchMatrix(const TargetInfo &target);

/// The matrix with the targets that share it.
struct SharedMatrix {
  std::vector<std::string> targets;
  DispatchMatrix matrix;
};

/// The matrices of targets, each once, in the order of the first of its targets.
std::vector<SharedMatrix> makeDispatchMatrices(llvm::ArrayRef<TargetInfo> targets);

/// Markdown tables.
std::string toText(llvm::ArrayRef<SharedMatrix> matrices);
llvm::json::Value toJson(llvm::ArrayRef<SharedMatrix> matrices);

} // namespace attn

#endif // ATTN_COMPILER_DISPATCHMATRIX_H
