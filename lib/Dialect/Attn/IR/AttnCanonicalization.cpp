//===- AttnCanonicalization.cpp - Canonical forms of attn ops -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/CanonicalMask.h"

#include <mlir/IR/PatternMatch.h>

using namespace mlir;
using namespace attn;

/// Writes the op's mask in canonical form; fails where it has that form.
template <typename MaskedOp>
static LogicalResult simplifyMask(MaskedOp op, PatternRewriter &rewriter) {
  BoundMask old{op.getMask(), SmallVector<Value>(op.getMaskArgs())};
  BoundMask canonical = canonicalizeMask(old.mask, old.args);
  if (canonical == old)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.setMaskAttr(canonical.mask);
    op.getMaskArgsMutable().assign(canonical.args);
  });
  return success();
}

/// A region that yields its score decides nothing.
static LogicalResult dropIdentityScore(ForwardOp op, PatternRewriter &rewriter) {
  if (!op.hasScore())
    return failure();
  Block &block = op.getScore().front();
  if (cast<YieldOp>(block.getTerminator()).getValue() != block.getArgument(0))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&block); });
  return success();
}

LogicalResult ForwardOp::canonicalize(ForwardOp op, PatternRewriter &rewriter) {
  bool changed = succeeded(simplifyMask(op, rewriter));
  changed |= succeeded(dropIdentityScore(op, rewriter));
  return success(changed);
}

LogicalResult MaskScoresOp::canonicalize(MaskScoresOp op, PatternRewriter &rewriter) {
  return simplifyMask(op, rewriter);
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getTile().getType() == getResult().getType() ? getTile() : Value();
}
