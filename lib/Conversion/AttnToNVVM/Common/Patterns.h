//===- Patterns.h - Pattern sets of convert-attn-to-nvvm --------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_PATTERNS_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_PATTERNS_H

#include "FragmentMap.h"

#include <mlir/Transforms/DialectConversion.h>

namespace attn {

/// Name of the kernel's dynamic shared memory.
constexpr llvm::StringLiteral kSharedMemorySymbol = "attn_shared_memory";

/// A pattern over an op whose tiles become registers, one SSA value each.
template <typename OpTy> struct TileOpPattern : mlir::OpConversionPattern<OpTy> {
  using mlir::OpConversionPattern<OpTy>::OpConversionPattern;
  using Adaptor = typename mlir::OpConversionPattern<OpTy>::OneToNOpAdaptor;

  llvm::LogicalResult matchAndRewrite(OpTy op, Adaptor adaptor,
                                      mlir::ConversionPatternRewriter &rewriter) const final {
    ThreadBuilder t(rewriter, op.getLoc());
    return lower(op, adaptor, t, rewriter);
  }

  virtual llvm::LogicalResult lower(OpTy op, Adaptor adaptor, ThreadBuilder &t,
                                    mlir::ConversionPatternRewriter &rewriter) const = 0;

  /// A scalar operand: exactly one value.
  static mlir::Value single(mlir::ValueRange values) { return values.front(); }
};

/// How softmax steps are computed. All give the same results up to rounding.
struct SoftmaxStyle {
  /// `lazy_rescale` and `integer_max` of the schedule.
  bool lazyRescale = true, integerMax = false;
  /// Partial sums of a row that do not wait for each other.
  unsigned chains = 1;
};

/// A pattern over an op whose arithmetic depends on the style.
template <typename OpTy> struct StyledPattern : TileOpPattern<OpTy> {
  StyledPattern(const mlir::TypeConverter &converter, mlir::MLIRContext *context,
                const SoftmaxStyle &style)
      : TileOpPattern<OpTy>(converter, context), style(style) {}
  SoftmaxStyle style;
};

/// A pattern over an op without results: what it does is emitted, and it is gone.
template <typename OpTy> struct EffectPattern : TileOpPattern<OpTy> {
  using TileOpPattern<OpTy>::TileOpPattern;
  using Adaptor = typename TileOpPattern<OpTy>::Adaptor;

  llvm::LogicalResult lower(OpTy op, Adaptor adaptor, ThreadBuilder &t,
                            mlir::ConversionPatternRewriter &rewriter) const final {
    emit(op, adaptor, t);
    rewriter.eraseOp(op);
    return llvm::success();
  }

  virtual void emit(OpTy op, Adaptor adaptor, ThreadBuilder &t) const = 0;
};

/// f32 values of a softmax state for each row of the thread (SoftmaxState).
constexpr unsigned kStateValues = 3;

/// Ops on registers only: fragments, softmax, merge, scores.
void populateFragmentPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateSoftmaxPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                             const SoftmaxStyle &style);
/// The end of a row's softmax; warps that share a row meet in shared memory.
void populateFinalizePatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                              const SoftmaxStyle &style);
void populateMergePatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateScorePatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Tiles between global memory and registers; `alignment` is promised for all tensors, in
/// bytes. With `ownScratch` the warps that store have shared memory to gather rows in.
void populateMemoryPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            int64_t alignment, bool ownScratch);
/// Products by f32 multiply-adds, for types and shapes that tensor cores do not take.
void populateFmaPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// cp.async pipes; `threads` is the size of a CTA.
void populateSM80PipePatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                              int64_t threads);
/// ldmatrix and mma.sync.
void populateSM80MmaPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

/// Pipes between roles as mbarriers.
void populateSM90PipePatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Fills of such pipes, one set or the other: boxes of tensor maps, or cp.async by the threads of
/// the warps that follow the `consumers`.
void populateSM90TensorMapFills(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateSM90CpAsyncFills(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                              int64_t consumers);
/// Messages from the first of the warps that follow the `consumers`.
void populateSM90MailboxPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                                 int64_t consumers);
/// wgmma, and stores by tensor maps.
void populateSM90WgmmaPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Turns of warpgroups, the size of a persistent grid, and the tiles that its CTAs draw.
void populateSM90RolePatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

/// A tensor in global memory as a thread addresses it: base + sum of index * stride.
class GlobalTensor {
public:
  GlobalTensor(ThreadBuilder &t, mlir::Value memref);
  /// Pointer to element (batch, row, head, 0), or (batch, head, row) for rank 3.
  mlir::Value rowPointer(ThreadBuilder &t, mlir::Value batch, mlir::Value row, mlir::Value head);
  /// Bytes between consecutive rows (i64).
  mlir::Value rowStride(ThreadBuilder &t);
  int64_t elementBytes() const { return type.getElementTypeBitWidth() / 8; }
  /// Number of rows (index).
  mlir::Value numRows(ThreadBuilder &t);
  unsigned rowDim() const { return type.getRank() == 4 ? 1 : 2; }

private:
  mlir::Value memref;
  mlir::MemRefType type;
  mlir::Value base;
  llvm::SmallVector<mlir::Value> strides;
};

/// Pointer to a byte of the kernel's shared memory. Tiles and pipes in shared memory are
/// represented by their byte offset (i32), so that constant parts of an address end up in
/// the instruction and lane-dependent parts are shared between tiles.
mlir::Value sharedPointer(ThreadBuilder &t, mlir::Value byteOffset);
mlir::Value sharedPointer(ThreadBuilder &t, mlir::Value laneOffset, mlir::Value tileOffset);

/// The fewest bytes of a cp.async.
constexpr int64_t kMinAsyncBytes = 4;

/// Copies bytes from global to shared memory, or writes zeros where not `valid`: cp.async of as
/// many bytes at once as `alignment` (in bytes) allows; below 4, which it does not take, element by
/// element of 16 bits, synchronously.
void copyToShared(ThreadBuilder &t, mlir::Value source, mlir::Value target, mlir::Value valid,
                  int64_t bytes, int64_t alignment);

/// Byte offset in a shared tile of chunk `chunk` (i32, 16 bytes each) of row `row` (i32).
mlir::Value sharedChunkOffset(ThreadBuilder &t, SharedLayoutAttr layout, mlir::Value row,
                              mlir::Value chunk);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_PATTERNS_H
