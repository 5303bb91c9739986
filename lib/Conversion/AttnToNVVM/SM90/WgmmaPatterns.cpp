//===- WgmmaPatterns.cpp - Products of warpgroups -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stage.h"

using namespace mlir;
using namespace attn;

/// Bytes of eight rows: the unit of the 128-byte swizzle.
static constexpr int64_t kSwizzleBytes = 8 * kBoxRowBytes;
/// Inner dim of one wgmma on 16-bit elements.
static constexpr int64_t kStepDepth = 16;
/// Steps whose descriptors of operand a, the same in each turn of a loop, fit the 63 uniform
/// registers beside the rest.
static constexpr int64_t kMaxHoistedSteps = 8;
/// Bits that an address of shared memory needs.
static constexpr int64_t kSharedAddressBits = 18;

namespace {

/// Matrix descriptors of a boxed tile in shared memory (PTX ISA, "Matrix descriptor"): the
/// address in units of 16 bytes, the leading and the stride byte offset, and the 128-byte
/// swizzle.
class BoxedOperand {
public:
  BoxedOperand(ThreadBuilder &t, TileType tile, Value offset, bool kMajor)
      : t(t), rows(partRows(tile)), kMajor(kMajor) {
    Value address =
        LLVM::PtrToIntOp::create(t.b, t.loc, t.b.getI32Type(), sharedPointer(t, offset));
    // K-major tiles are one box wide in each step, so that their leading offset is not used.
    uint64_t leading = kMajor ? 1 : rows * kBoxRowBytes / 16;
    uint64_t fixed = leading << 16 | uint64_t(kSwizzleBytes / 16) << 32 | uint64_t(1) << 62;
    Value start = LLVM::ZExtOp::create(t.b, t.loc, t.b.getI64Type(), t.div(address, 16));
    base = t.add(start, t.i64(static_cast<int64_t>(fixed)));
  }

  /// Of inner indices [16 step, 16 step + 16).
  Value descriptor(int64_t step) {
    int64_t column = step * kStepDepth;
    int64_t bytes = kMajor ? column / kBoxColumns * rows * kBoxRowBytes + column % kBoxColumns * 2
                           : column * kBoxRowBytes;
    return t.add(base, bytes / 16);
  }

private:
  ThreadBuilder &t;
  int64_t rows;
  bool kMajor;
  Value base;
};

/// Where a warpgroup's rows of a tile of operand a or of O begin: a tile in parts is its own.
static Value ownRows(ThreadBuilder &t, TileType tile, Value offset, Value group) {
  if (cast<BoxedLayoutAttr>(tile.getLayout()).getParts() > 1)
    return offset;
  return t.add(offset, t.mul(group, kWarpgroupRows * kBoxRowBytes));
}

/// Zero, which no compiler knows: the bits above an address of shared memory. The buffer is another
/// one in each turn of a loop, so that what this is added to is computed in each turn rather than
/// kept in ordinary registers, from which every use would move it (R2UR).
static Value zeroOfEachTurn(ThreadBuilder &t, Value buffer) {
  Value address = LLVM::PtrToIntOp::create(t.b, t.loc, t.b.getI32Type(), sharedPointer(t, buffer));
  return t.div(address, 1 << kSharedAddressBits);
}

struct LowerMmaStart : TileOpPattern<MmaStartOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(MmaStartOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    TileType aType = op.getA().getType(), bType = op.getB().getType();
    TileType result = op.getResult().getType().getTile();
    auto bLayout = dyn_cast<BoxedLayoutAttr>(bType.getLayout());
    if (!bLayout || bLayout.getParts() > 1)
      return op.emitOpError() << "expected operand b in shared memory boxes of all its rows, got "
                              << bType;
    bool aInShared = isa<BoxedLayoutAttr>(aType.getLayout());
    int64_t n = result.getCols(), steps = aType.getCols() / kStepDepth;
    if (aType.getCols() % kStepDepth != 0)
      return op.emitOpError() << "expected a depth that is a multiple of " << kStepDepth << ", got "
                              << aType.getCols();
    FragmentMap map(result);
    if (map.role != FragmentRole::Acc || map.split != FragmentSplit::Rows || map.rowBlocks != 1)
      return op.emitOpError() << "expected accumulators of 64 rows for each warpgroup, got "
                              << result;
    if (n > 256)
      return op.emitOpError() << "expected at most 256 columns in a product, got " << n;

    SmallVector<Value> acc(adaptor.getAcc()), a;
    if (!aInShared)
      a.assign(adaptor.getA().begin(), adaptor.getA().end());
    // What is in registers was written by ordinary instructions, or is on its way.
    auto fence =
        nv::WgmmaFenceOp::create(t.b, t.loc, inFlight(op) ? ValueRange() : ValueRange(acc), a);
    ValueRange tied = fence.getTied();
    if (!inFlight(op) && !acc.empty()) {
      acc.assign(tied.begin(), tied.begin() + acc.size());
      tied = tied.drop_front(acc.size());
    }
    a.assign(tied.begin(), tied.end());

    std::optional<BoxedOperand> aOperand;
    if (aInShared) {
      Value offset = ownRows(t, aType, single(adaptor.getA()), warpgroup(t));
      if (steps > kMaxHoistedSteps)
        offset = t.add(offset, zeroOfEachTurn(t, single(adaptor.getB())));
      aOperand.emplace(t, aType, offset, /*kMajor=*/true);
    }
    BoxedOperand bOperand(t, bType, single(adaptor.getB()), op.getTransposeB());
    Type type = aType.getElementType();
    for (int64_t step = 0; step < steps; ++step) {
      ValueRange registers = aInShared ? ValueRange() : ValueRange(a).slice(4 * step, 4);
      auto product = nv::WgmmaOp::create(
          t.b, t.loc, static_cast<uint32_t>(n), aInShared ? aOperand->descriptor(step) : Value(),
          registers, bOperand.descriptor(step), /*transpose_a=*/false,
          /*transpose_b=*/!op.getTransposeB(), acc, Value(), type, type);
      acc.assign(product.getD().begin(), product.getD().end());
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(t.b, t.loc);
    rewriter.replaceOpWithMultiple(op, {acc});
    return success();
  }

private:
  static bool inFlight(MmaStartOp op) {
    return op.getAcc() && isa<InFlightType>(op.getAcc().getType());
  }
};

struct LowerMmaWait : TileOpPattern<MmaWaitOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(MmaWaitOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> registers;
    for (ValueRange product : adaptor.getProducts())
      llvm::append_range(registers, product);
    auto wait =
        nv::WgmmaWaitOp::create(t.b, t.loc, static_cast<uint32_t>(op.getPending()), registers);
    ValueRange rest = wait.getTied();
    SmallVector<SmallVector<Value>> tiles;
    for (ValueRange product : adaptor.getProducts()) {
      tiles.emplace_back(rest.take_front(product.size()));
      rest = rest.drop_front(product.size());
    }
    rewriter.replaceOpWithMultiple(op, tiles);
    return success();
  }
};

/// The 16x16 blocks of a warp's rows in a boxed tile, as ldmatrix.x4 and stmatrix.x4 take them:
/// lane l gives the address of row l mod 8 of matrix l / 8, which are the upper and lower eight
/// rows of the left eight columns, then of the right.
class BoxedBlocks {
public:
  BoxedBlocks(ThreadBuilder &t, TileType buffer, Value offset)
      : BoxedBlocks(t, buffer, offset, t.lane(), t.warp()) {}
  BoxedBlocks(ThreadBuilder &t, TileType buffer, Value offset, Value lane, Value warp)
      : t(t), rows(partRows(buffer)), offset(offset) {
    Value inMatrix = t.bitAnd(lane, 7);
    Value lower = t.bitAnd(t.div(lane, 8), 1), right = t.div(lane, 16);
    if (rows != buffer.getRows())
      warp = t.rem(warp, kWarpgroupWarps);
    Value row = t.add(t.mul(warp, 16), t.add(t.mul(lower, 8), inMatrix));
    rowOffset = t.mul(row, kBoxRowBytes);
    swizzle = t.mul(t.bitXor(right, inMatrix), kChunkBytes);
  }

  /// This lane's address in the block of columns [16 block, 16 block + 16).
  Value pointer(int64_t block) {
    // Chunk 2 block + right, XORed by row: 2 block is even, so its part is a constant.
    int64_t chunk = 2 * block;
    Value bytes = t.add(rowOffset, t.bitXor(swizzle, t.i32(chunk % 8 * kChunkBytes)));
    return t.offset(sharedPointer(t, bytes, offset), chunk / 8 * rows * kBoxRowBytes);
  }

private:
  ThreadBuilder &t;
  int64_t rows;
  Value offset, rowOffset, swizzle;
};

/// Four 8x8 matrices of 16-bit elements.
static std::tuple<NVVM::MMALayoutAttr, NVVM::LdStMatrixShapeAttr, NVVM::LdStMatrixEltTypeAttr>
matrixAttributes(MLIRContext *context) {
  return {NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
          NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
          NVVM::LdStMatrixEltTypeAttr::get(context, NVVM::LdStMatrixEltType::B16)};
}

/// Q as operand a, read once for all products of a Q tile.
struct LowerBoxedLocalLoad : TileOpPattern<LocalLoadOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(LocalLoadOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    TileType buffer = op.getTile().getType();
    if (!isa<BoxedLayoutAttr>(buffer.getLayout()))
      return failure();
    BoxedBlocks blocks(t, buffer, single(adaptor.getTile()));
    auto [layout, shape, element] = matrixAttributes(t.b.getContext());
    Type i32 = t.b.getI32Type();
    auto type = LLVM::LLVMStructType::getLiteral(t.b.getContext(), {i32, i32, i32, i32});
    SmallVector<Value> registers;
    for (int64_t block = 0; block < buffer.getCols() / kStepDepth; ++block) {
      Value matrices = NVVM::LdMatrixOp::create(t.b, t.loc, type, blocks.pointer(block),
                                                t.b.getI32IntegerAttr(4), layout, shape, element);
      for (int64_t i = 0; i < 4; ++i)
        registers.push_back(LLVM::ExtractValueOp::create(t.b, t.loc, matrices, i));
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// O through the buffer and out by tensor map: stmatrix writes the 16x16 blocks of a warp,
/// then one thread of the warpgroup copies its boxes.
struct LowerBulkStore : TileOpPattern<BulkStoreOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(BulkStoreOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getMap().empty())
      return op.emitOpError() << "has no tensor map; run attn-assign-tensor-maps first";
    FragmentMap map(op.getTile().getType());
    TileType buffer = op.getBuffer().getType();
    if (!isa<BoxedLayoutAttr>(buffer.getLayout()))
      return op.emitOpError() << "expected a buffer of shared memory boxes, got " << buffer;
    if (map.colBlocks % 2 != 0)
      return op.emitOpError()
             << "expected a multiple of 16 columns, which a warp writes at a time, "
             << "got " << op.getTile().getType().getCols();
    Value offset = single(adaptor.getBuffer());
    // Places of a thread in the buffer are computed for each tile: nothing moves a shuffle out of
    // the loop over tiles, through which they would take registers.
    Value thread = t.shuffleXor(t.thread(), 0);
    Value warp = t.broadcast(t.div(thread, kWarpSize));
    BoxedBlocks blocks(t, buffer, offset, t.bitAnd(thread, kWarpSize - 1), warp);
    writeBlocks(t, map, adaptor.getTile(), buffer.getElementType(), blocks);

    // Generic writes before the asynchronous proxy's reads.
    fenceAsyncProxy(t);
    Value group = t.div(warp, kWarpgroupWarps);
    NVVM::BarrierOp::create(t.b, t.loc, TypeRange(), t.add(group, kStoreBarriers),
                            t.i32(kWarpgroupThreads), NVVM::BarrierReductionAttr(), Value());
    Value first = t.equal(t.rem(thread, kWarpgroupThreads), t.i32(0));
    Value row = t.add(t.toI32(single(adaptor.getRow())), t.mul(group, kWarpgroupRows));
    Value head = t.toI32(single(adaptor.getHead())), batch = t.toI32(single(adaptor.getBatch()));
    t.emitIf(first, [&] {
      Value source = ownRows(t, buffer, offset, group);
      int64_t boxes = llvm::divideCeil(op.getTile().getType().getCols(), kBoxColumns);
      for (int64_t box = 0; box < boxes; ++box) {
        SmallVector<Value> place = {t.i32(box * kBoxColumns), row, head, batch};
        Value pointer = t.offset(sharedPointer(t, source), box * partRows(buffer) * kBoxRowBytes);
        NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(t.b, t.loc, single(adaptor.getMap()),
                                                           pointer, place, Value(),
                                                           NVVM::TMAStoreMode::TILE, Value());
      }
      NVVM::CpAsyncBulkCommitGroupOp::create(t.b, t.loc);
    });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void writeBlocks(ThreadBuilder &t, const FragmentMap &map, ValueRange values,
                          Type elementType, BoxedBlocks &blocks) {
    auto [layout, shape, element] = matrixAttributes(t.b.getContext());
    for (unsigned block = 0; block < map.colBlocks / 2; ++block) {
      SmallVector<Value> packed;
      for (unsigned half = 0; half < 2; ++half)
        for (unsigned pair = 0; pair < 2; ++pair) {
          unsigned i = map.index(0, 2 * block + half, 2 * pair);
          packed.push_back(t.pack16(values[i], values[i + 1], elementType));
        }
      NVVM::StMatrixOp::create(t.b, t.loc, blocks.pointer(block), packed, layout, shape, element);
    }
  }
};

/// Threads that have started no copies have none to wait for.
struct LowerBulkStoreWait : EffectPattern<BulkStoreWaitOp> {
  using EffectPattern::EffectPattern;
  void emit(BulkStoreWaitOp, Adaptor, ThreadBuilder &t) const override {
    NVVM::CpAsyncBulkWaitGroupOp::create(t.b, t.loc, t.b.getI32IntegerAttr(0), t.b.getUnitAttr());
  }
};

} // namespace

void attn::populateSM90WgmmaPatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns
      .add<LowerMmaStart, LowerMmaWait, LowerBoxedLocalLoad, LowerBulkStore, LowerBulkStoreWait>(
          converter, patterns.getContext());
}

/// The fence before `fence` if all between them are products and what computes their operands.
static nv::WgmmaFenceOp earlierFence(nv::WgmmaFenceOp fence) {
  for (Operation *op = fence->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto earlier = dyn_cast<nv::WgmmaFenceOp>(op))
      return earlier;
    if (!isa<nv::WgmmaOp, NVVM::WgmmaGroupSyncAlignedOp>(op) && !isMemoryEffectFree(op))
      return {};
  }
  return {};
}

/// One fence in the place of `earlier` for the registers of both.
static nv::WgmmaFenceOp merge(nv::WgmmaFenceOp earlier, nv::WgmmaFenceOp fence) {
  OpBuilder b(earlier);
  SmallVector<Value> acc(earlier.getAcc()), registers(earlier.getARegisters());
  llvm::append_range(acc, fence.getAcc());
  llvm::append_range(registers, fence.getARegisters());
  auto both = nv::WgmmaFenceOp::create(b, earlier.getLoc(), acc, registers);
  auto accTied = both.getTied().take_front(acc.size());
  auto registersTied = both.getTied().drop_front(acc.size());
  auto replace = [&](nv::WgmmaFenceOp old, size_t firstAcc, size_t firstRegister) {
    size_t accs = old.getAcc().size();
    for (auto [i, tied] : llvm::enumerate(old.getTied()))
      tied.replaceAllUsesWith(i < accs ? accTied[firstAcc + i]
                                       : registersTied[firstRegister + i - accs]);
  };
  replace(earlier, 0, 0);
  replace(fence, earlier.getAcc().size(), earlier.getARegisters().size());
  fence.erase();
  earlier.erase();
  return both;
}

void attn::mergeFences(func::FuncOp kernel) {
  SmallVector<nv::WgmmaFenceOp> fences;
  kernel.walk([&](nv::WgmmaFenceOp fence) { fences.push_back(fence); });
  // From the last on, so that a chain ends up at its first.
  for (size_t i = fences.size(); i-- > 0;) {
    nv::WgmmaFenceOp earlier = earlierFence(fences[i]);
    bool known =
        earlier && llvm::all_of(fences[i].getOperands(), [&](Value value) {
          Operation *def = value.getDefiningOp();
          return !def || def->getBlock() != earlier->getBlock() || def->isBeforeInBlock(earlier);
        });
    if (known)
      *llvm::find(fences, earlier) = merge(earlier, fences[i]);
  }
}
