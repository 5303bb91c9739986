//===- Roles.cpp - Roles as branches, turns as named barriers -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roles.h"

#include "attn/Dialect/AttnNV/IR/AttnNV.h"

using namespace mlir;
using namespace attn;

void attn::fenceAsyncProxy(ThreadBuilder &t) {
  NVVM::FenceProxyOp::create(
      t.b, t.loc, NVVM::ProxyKindAttr::get(t.b.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(t.b.getContext(), NVVM::SharedSpace::shared_cta));
}

static void setRegisters(ThreadBuilder &t, int64_t registers, NVVM::SetMaxRegisterAction action) {
  if (registers != 0)
    NVVM::SetMaxRegisterOp::create(t.b, t.loc, static_cast<uint32_t>(registers), action);
}

/// Moves the ops of a role to where `b` stands.
static void moveBody(OpBuilder &b, Region &role) {
  Block *target = b.getInsertionBlock();
  target->getOperations().splice(b.getInsertionPoint(), role.front().getOperations());
}

void attn::inlineRoles(RolesOp roles, Producer producer) {
  OpBuilder b(roles);
  ThreadBuilder t(b, roles.getLoc());
  // The barriers of all pipes are initialized above: let everybody see that, and the copies of
  // tensor maps, which arrive by the asynchronous proxy.
  if (producer == Producer::Tma)
    fenceAsyncProxy(t);
  t.barrier();

  int64_t consumers = roles.getWarps();
  auto ifOp = scf::IfOp::create(b, t.loc, t.lessThan(t.warp(), t.i32(consumers)),
                                /*withElseRegion=*/true);
  b.setInsertionPointToStart(ifOp.thenBlock());
  setRegisters(t, roles.getConsumerRegisters(), NVVM::SetMaxRegisterAction::increase);
  moveBody(b, roles.getConsumer());
  b.setInsertionPointToStart(ifOp.elseBlock());
  setRegisters(t, roles.getProducerRegisters(), NVVM::SetMaxRegisterAction::decrease);
  if (roles.getProducerWarps() == 1) {
    // One whole warp, of which each copy elects a thread: what is equal in all threads of a warp
    // lies in uniform registers, where copies want it and where the producer has room.
    auto copies = scf::IfOp::create(b, t.loc, t.equal(t.warp(), t.i32(consumers)),
                                    /*withElseRegion=*/false);
    b.setInsertionPointToStart(copies.thenBlock());
  }
  moveBody(b, roles.getProducer());
  roles.erase();
}

namespace {

struct LowerNumCtas : TileOpPattern<NumCtasOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(NumCtasOp op, Adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, t.toIndex(NVVM::GridDimXOp::create(t.b, t.loc, t.b.getI32Type())));
    return success();
  }
};

/// One thread draws for its warp. The counter wraps by itself (PTX `atom.inc`), so that the last
/// draw of a launch leaves it as the next launch expects it.
struct LowerNextTile : TileOpPattern<NextTileOp> {
  using TileOpPattern::TileOpPattern;
  LogicalResult lower(NextTileOp op, Adaptor adaptor, ThreadBuilder &t,
                      ConversionPatternRewriter &rewriter) const override {
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(t.b, t.loc, single(adaptor.getCounter()));
    Value counter = LLVM::IntToPtrOp::create(t.b, t.loc, t.globalPtrType(), t.toI64(address));
    Value last = t.sub(single(adaptor.getTiles()), t.i32(1));
    auto draw = scf::IfOp::create(t.b, t.loc, t.b.getI32Type(), t.equal(t.lane(), t.i32(0)),
                                  /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(draw.thenBlock());
      Value drawn = LLVM::AtomicRMWOp::create(t.b, t.loc, LLVM::AtomicBinOp::uinc_wrap, counter,
                                              last, LLVM::AtomicOrdering::monotonic, "device");
      scf::YieldOp::create(t.b, t.loc, drawn);
      t.b.setInsertionPointToStart(draw.elseBlock());
      scf::YieldOp::create(t.b, t.loc, t.i32(0));
    }
    Value number = t.broadcast(draw.getResult(0));
    rewriter.replaceOp(op, t.add(number, NVVM::GridDimXOp::create(t.b, t.loc, t.b.getI32Type())));
    return success();
  }
};

/// A turn is a named barrier of the warpgroup that waits for it and the one that passes it on.
struct Turn {
  static Value barrier(ThreadBuilder &t, Value warpgroup) {
    return t.add(warpgroup, kTurnBarriers);
  }
  static Value threads(ThreadBuilder &t) { return t.i32(2 * kWarpgroupThreads); }
  static void wait(ThreadBuilder &t, Value warpgroup) {
    NVVM::BarrierOp::create(t.b, t.loc, TypeRange(), barrier(t, warpgroup), threads(t),
                            NVVM::BarrierReductionAttr(), Value());
  }
  static void pass(ThreadBuilder &t, Value warpgroup) {
    nv::BarrierArriveOp::create(t.b, t.loc, barrier(t, warpgroup), threads(t));
  }
};

struct LowerTurnsBegin : EffectPattern<TurnsBeginOp> {
  using EffectPattern::EffectPattern;
  void emit(TurnsBeginOp op, Adaptor, ThreadBuilder &t) const override {
    // The last warpgroup passes the turn as if it had had it.
    t.emitIf(t.equal(warpgroup(t), t.i32(op.getTurns() - 1)), [&] { Turn::pass(t, t.i32(0)); });
  }
};

struct LowerTurnWait : EffectPattern<TurnWaitOp> {
  using EffectPattern::EffectPattern;
  void emit(TurnWaitOp, Adaptor, ThreadBuilder &t) const override { Turn::wait(t, warpgroup(t)); }
};

struct LowerTurnPass : EffectPattern<TurnPassOp> {
  using EffectPattern::EffectPattern;
  void emit(TurnPassOp op, Adaptor, ThreadBuilder &t) const override {
    Turn::pass(t, t.rem(t.add(warpgroup(t), 1), op.getTurns()));
  }
};

struct LowerTurnsEnd : EffectPattern<TurnsEndOp> {
  using EffectPattern::EffectPattern;
  void emit(TurnsEndOp, Adaptor, ThreadBuilder &t) const override {
    t.emitIf(t.equal(warpgroup(t), t.i32(0)), [&] { Turn::wait(t, t.i32(0)); });
  }
};

} // namespace

void attn::populateSM90RolePatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerNumCtas, LowerNextTile, LowerTurnsBegin, LowerTurnWait, LowerTurnPass,
               LowerTurnsEnd>(converter, patterns.getContext());
}
