//===- AttnScheduleOps.cpp - Verifiers of the schedule ops ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"
#include "attn/Dialect/Attn/IR/TileProgramAttrs.h"
#include "attn/Dialect/Attn/IR/Warps.h"

#include <mlir/Interfaces/FunctionInterfaces.h>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

/// Tiles that differ at most in their layouts.
static bool sameElements(TileType a, TileType b) {
  return a.getShape() == b.getShape() && a.getElementType() == b.getElementType();
}

LogicalResult PipeCreateOp::verify() {
  auto check = [&](StringRef name, std::optional<uint64_t> offset) -> LogicalResult {
    if (offset && (int64_t(*offset) < 0 || *offset % 16 != 0))
      return emitOpError() << "C1: expected " << name
                           << " to be a multiple of 16 and not negative, got " << int64_t(*offset);
    return success();
  };
  if (failed(check("offset", getOffset())) || failed(check("barriers", getBarriers())))
    return failure();
  if (getWriters().has_value() != getFirstWriter().has_value() || (getWriters() && !getReaders()))
    return emitOpError() << "C2: expected writers and first_writer together, and with readers";
  int64_t writers = getWriters().value_or(1), first = getFirstWriter().value_or(0);
  if (writers < 1 || !llvm::isPowerOf2_64(writers) || first < 0)
    return emitOpError() << "C2: expected writers to be a power of two from one that is not "
                            "negative, got "
                         << writers << " from " << first;
  return success();
}

LogicalResult CopyTileOp::verify() {
  NamedTensor source{"source", getSource()};
  if (failed(verifyRank(*this, "C1", source, 4)))
    return failure();
  TileType tile = getPipe().getType().getTile();
  Type elementType = tile.getElementType();
  if (source.getType().getElementType() != elementType)
    return emitOpError() << "C2: expected source and pipe to have one element type, got "
                         << source.getType().getElementType() << " and " << elementType;
  if (failed(verifyContiguousRows(*this, "C3", source)))
    return failure();
  int64_t alignment = getAlignment();
  if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
    return emitOpError() << "C4: expected alignment to be a power of two, got " << alignment;
  if (!getMap())
    return success();
  TensorMapType map = getMap().getType();
  int64_t rows = getPipe().getType().getStageRows();
  if (map.getRows() != rows || map.getElementType() != elementType)
    return emitOpError() << "C5: expected a map of boxes of " << rows << " rows of " << elementType
                         << ", got " << map;
  return success();
}

/// The tile is one of the pipe's, in as many parts.
static LogicalResult verifyTileOf(Operation *op, PipeType pipe, TileType tile) {
  auto boxed = dyn_cast_if_present<BoxedLayoutAttr>(tile.getLayout());
  if (sameElements(pipe.getTile(), tile) && (!boxed || boxed.getParts() == pipe.getParts()))
    return success();
  return op->emitOpError() << "C1: expected a tile of the pipe's type " << pipe.getTile()
                           << (pipe.getParts() > 1 ? " in its parts" : "") << ", got " << tile;
}

LogicalResult PipeWaitOp::verify() {
  if (failed(verifyTileOf(*this, getPipe().getType(), getTile().getType())))
    return failure();
  if (int64_t pending = getPending(); pending < 0)
    return emitOpError() << "C2: expected pending not to be negative, got " << pending;
  return success();
}

LogicalResult PipeTileOp::verify() {
  return verifyTileOf(*this, getPipe().getType(), getResult().getType());
}

LogicalResult LocalLoadOp::verify() {
  if (!sameElements(getTile().getType(), getResult().getType()))
    return emitOpError()
           << "C1: expected operand and result to agree in shape and element type, got "
           << getTile().getType() << " and " << getResult().getType();
  return success();
}

LogicalResult LocalStoreOp::verify() {
  if (getTile().getType().getShape() != getResult().getType().getShape())
    return emitOpError() << "C1: expected operand and result to agree in shape, got "
                         << getTile().getType() << " and " << getResult().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// The pipes that a producer fills name it rightly: one warp copies by tensor map, the threads of
/// several copy where the pipe says which.
static LogicalResult verifyWriters(RolesOp roles) {
  int64_t warps = roles.getProducerWarps();
  if (warps != 1 && warps != kWarpgroupWarps)
    return roles.emitOpError() << "C5: expected 1 or " << kWarpgroupWarps << " producer warps, got "
                               << warps;
  auto result = roles.getProducer().walk([&](CopyTileOp copy) -> WalkResult {
    auto create = copy.getPipe().getDefiningOp<PipeCreateOp>();
    if (!create)
      return WalkResult::advance();
    std::optional<uint64_t> writers = create.getWriters(), first = create.getFirstWriter();
    if (warps == 1
            ? !writers
            : writers && int64_t(*writers) <= warps && int64_t(*first) <= warps - int64_t(*writers))
      return WalkResult::advance();
    InFlightDiagnostic diag = copy.emitOpError() << "C5: expected a pipe with ";
    if (warps == 1)
      diag << "no writers, which one producer warp fills";
    else
      diag << "writers among the " << warps << " producer warps";
    diag.attachNote(create.getLoc()) << "the pipe is created here";
    return diag;
  });
  return failure(result.wasInterrupted());
}

LogicalResult NextTileOp::verify() {
  auto type = cast<MemRefType>(getCounter().getType());
  if (type.getRank() != 1 || type.getDimSize(0) != 1)
    return emitOpError() << "C1: expected a counter of memref<1xi32>, got " << type;
  auto argument = dyn_cast<BlockArgument>(getCounter());
  auto function =
      argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function || !function.getArgAttr(argument.getArgNumber(), kTileCounterAttr))
    return emitOpError() << "C2: expected the counter to be an argument of the kernel with "
                         << kTileCounterAttr << ", which the runtime provides";
  return success();
}

LogicalResult RolesOp::verify() {
  if (!isa<scf::ForallOp>((*this)->getParentOp()))
    return emitOpError() << "C4: expected to stand directly in the loop over CTAs (scf.forall)";
  for (int64_t registers : {int64_t(getProducerRegisters()), int64_t(getConsumerRegisters())})
    if (registers != 0 && (registers < 24 || registers > 256 || registers % 8 != 0))
      return emitOpError() << "C1: expected registers to be 0 or a multiple of 8 in [24, 256], got "
                           << registers;
  if (int64_t warps = getWarps(); warps < 4 || warps > 28 || warps % 4 != 0)
    return emitOpError() << "C2: expected warps to be a multiple of 4 in [4, 28], got " << warps;
  auto result = getProducer().walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (isa<TileType, SoftmaxStateType, InFlightType>(type))
        return op->emitOpError() << "C3: makes a tile, which a producer has no registers for";
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = getConsumer().walk([&](Operation *op) -> WalkResult {
    if (!isa<CopyTileOp, MailboxPutOp>(op))
      return WalkResult::advance();
    return op->emitOpError() << "C3: "
                             << (isa<CopyTileOp>(op) ? "starts a copy into a pipe"
                                                     : "puts a message into a mailbox")
                             << " among the consumers, expected it in the producer";
  });
  if (result.wasInterrupted())
    return failure();
  result = getProducer().walk([&](MailboxGetOp op) -> WalkResult {
    return op->emitOpError() << "C3: reads a message in the producer, expected it among the "
                                "consumers";
  });
  if (result.wasInterrupted())
    return failure();
  result = walk([&](NextTileOp op) -> WalkResult {
    if (getProducer().isAncestor(op->getParentRegion()) && getProducerWarps() == 1)
      return WalkResult::advance();
    return op->emitOpError() << "C6: expected to stand in a producer of one warp, from which "
                                "consumers hear of it by mailbox";
  });
  if (result.wasInterrupted())
    return failure();
  return verifyWriters(*this);
}

//===----------------------------------------------------------------------===//
// Messages between roles
//===----------------------------------------------------------------------===//

LogicalResult MailboxCreateOp::verify() {
  if (getOffset() && (int64_t(*getOffset()) < 0 || *getOffset() % 16 != 0))
    return emitOpError() << "C1: expected offset to be a multiple of 16 and not negative, got "
                         << int64_t(*getOffset());
  return success();
}

static LogicalResult verifyMessage(Operation *op, MailboxType mailbox, StringRef what,
                                   int64_t number) {
  if (number == mailbox.getValues())
    return success();
  return op->emitOpError() << "C1: expected as many " << what << " as the mailbox's "
                           << mailbox.getValues() << " values, got " << number;
}

LogicalResult MailboxPassOp::verify() {
  if (failed(verifyMessage(*this, getMailbox().getType(), "operands", getValues().size())))
    return failure();
  return verifyMessage(*this, getMailbox().getType(), "results", getPassed().size());
}

LogicalResult MailboxPutOp::verify() {
  return verifyMessage(*this, getMailbox().getType(), "operands", getValues().size());
}

LogicalResult MailboxGetOp::verify() {
  return verifyMessage(*this, getMailbox().getType(), "results", getValues().size());
}

//===----------------------------------------------------------------------===//
// Asynchronous products
//===----------------------------------------------------------------------===//

static TileType tileOf(Type type) {
  if (auto inFlight = dyn_cast<InFlightType>(type))
    return inFlight.getTile();
  return cast<TileType>(type);
}

LogicalResult MmaStartOp::verify() {
  TileType result = getResult().getType().getTile();
  if (getAcc() && tileOf(getAcc().getType()) != result)
    return emitOpError() << "C1: expected acc to be " << result << ", got "
                         << tileOf(getAcc().getType());
  return verifyProduct(*this, getA().getType(), getB().getType(), result, getTransposeB());
}

LogicalResult MmaWaitOp::verify() {
  if (getProducts().empty())
    return emitOpError() << "C1: expected at least one product to wait for, got 0";
  if (getProducts().size() != getTiles().size())
    return emitOpError() << "C1: expected as many results as operands, got " << getTiles().size()
                         << " for " << getProducts().size();
  for (auto [product, tile] : llvm::zip(getProducts(), getTiles()))
    if (tileOf(product.getType()) != tile.getType())
      return emitOpError() << "C1: expected a result of " << tileOf(product.getType()) << ", got "
                           << tile.getType();
  if (int64_t pending = getPending(); pending < 0 || pending > 7)
    return emitOpError() << "C2: expected pending in [0, 7], got " << pending;
  return success();
}

LogicalResult BulkStoreOp::verify() {
  TileType tile = getTile().getType(), buffer = getBuffer().getType();
  if (tile.getRank() != 2 || buffer.getRank() != 2 || tile.getRows() != buffer.getRows() ||
      tile.getCols() > buffer.getCols())
    return emitOpError() << "C1: expected a buffer of " << tile.getRows() << " rows and at least "
                         << "the tile's columns, got " << buffer << " for " << tile;
  if (failed(verifyRank(*this, "C2", NamedTensor{"dest", getDest()}, 4)))
    return failure();
  Type elementType = cast<MemRefType>(getDest().getType()).getElementType();
  if (elementType.isF32() || elementType != buffer.getElementType())
    return emitOpError() << "C2: expected buffer and tensor to have one 16-bit element type, got "
                         << buffer.getElementType() << " and " << elementType;
  if (getMap() && (getMap().getType().getElementType() != elementType ||
                   getMap().getType().getRows() != kWarpgroupRows))
    return emitOpError() << "C2: expected a map of boxes of " << kWarpgroupRows << " rows of "
                         << elementType << ", got " << getMap().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax in two steps
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxRebaseOp::verify() {
  if (failed(verifyStateAndScores(*this, getState().getType(), getScores().getType())))
    return failure();
  return verifyRowVector(*this, "alpha", getAlpha().getType(), getState().getType().getRows());
}

LogicalResult SoftmaxAddOp::verify() {
  return verifyStateAndScores(*this, getState().getType(), getScores().getType());
}
