//===- AttnProblemOps.cpp - Verifiers of the problem ops ------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"

#include <llvm/Support/MathExtras.h>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// ForwardOp
//===----------------------------------------------------------------------===//

static MemRefType memrefType(Value value) { return cast<MemRefType>(value.getType()); }

int64_t ForwardOp::getHeadsQ() { return memrefType(getQ()).getDimSize(2); }
int64_t ForwardOp::getHeadsKV() { return memrefType(getK()).getDimSize(2); }
int64_t ForwardOp::getHeadDimQK() { return memrefType(getQ()).getDimSize(3); }
int64_t ForwardOp::getHeadDimV() { return memrefType(getV()).getDimSize(3); }
Type ForwardOp::getElementType() { return memrefType(getQ()).getElementType(); }
bool ForwardOp::canPackGqa() {
  auto causal = dyn_cast<CausalMaskAttr>(getMask());
  bool showsAll =
      getMask().keepsAll() || (causal && causal.getAlignment() == Alignment::BottomRight);
  return showsAll && getHeadsQ() > getHeadsKV() &&
         cast<MemRefType>(getQ().getType()).getDimSize(1) == 1;
}

int64_t ForwardOp::getAlignmentBytes() {
  if (std::optional<uint64_t> alignment = getAlignment())
    return *alignment;
  return getElementType().getIntOrFloatBitWidth() / 8;
}

static LogicalResult verifyHeadDim(Operation *op, NamedTensor tensor, int64_t limit) {
  int64_t dim = memrefType(tensor.value).getShape().back();
  if (ShapedType::isDynamic(dim))
    return op->emitOpError() << "C3: expected a static head dim of " << tensor.name << ", got ?";
  if (dim < 8 || dim % 8 != 0 || dim > limit)
    return op->emitOpError() << "C3: expected the head dim of " << tensor.name
                             << " to be a multiple of 8 in [8, " << limit << "], got " << dim
                             << "; pad the tensors to the next multiple of 8";
  return success();
}

static LogicalResult verifyElementTypes(ForwardOp op) {
  Type type = op.getElementType();
  if (!type.isF32() && !type.isF16() && !type.isBF16())
    return op.emitOpError() << "C2: expected element type f32, f16 or bf16 of q, got " << type;
  for (NamedTensor tensor : {NamedTensor{"k", op.getK()}, NamedTensor{"v", op.getV()}}) {
    Type other = memrefType(tensor.value).getElementType();
    if (other != type)
      return op.emitOpError() << "C2: expected q and " << tensor.name
                              << " to have one element type, got " << type << " and " << other
                              << "; convert one of them";
  }
  Type outType = memrefType(op.getO()).getElementType();
  if (outType != type && !outType.isF32())
    return op.emitOpError() << "C2: expected o to have the element type of q (" << type
                            << ") or f32, got " << outType;
  return success();
}

static LogicalResult verifyHeads(ForwardOp op) {
  int64_t headsQ = op.getHeadsQ(), headsKV = op.getHeadsKV();
  if (ShapedType::isDynamic(headsQ) || ShapedType::isDynamic(headsKV) || headsQ < 1 || headsKV < 1)
    return op.emitOpError() << "C5: expected static, positive head counts, got "
                            << op.getQ().getType() << " and " << op.getK().getType();
  if (headsQ % headsKV != 0)
    return op.emitOpError() << "C5: expected heads_q to be a multiple of heads_kv, got heads_q = "
                            << headsQ << " and heads_kv = " << headsKV;
  return success();
}

/// C11: partial outputs have a leading dim of the schedule's parts, are f32, and come with
/// their LSE, without which they could not be merged.
static LogicalResult verifyPartialOutputs(ForwardOp op) {
  MemRefType type = memrefType(op.getO());
  int64_t parts = type.getDimSize(0);
  if (ShapedType::isDynamic(parts) || parts < 2)
    return op.emitOpError()
           << "C11: expected partial outputs of a static number of parts, at least "
              "2, got "
           << type;
  ScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    return op.emitOpError() << "C11: expected a schedule with split_kv = " << parts
                            << " for partial outputs of leading dim " << parts << ", got none";
  if (schedule.getSplitKv() != parts)
    return op.emitOpError() << "C11: expected a schedule with split_kv = " << parts
                            << " for partial outputs of leading dim " << parts
                            << ", got split_kv = " << schedule.getSplitKv();
  if (!op.getLse())
    return op.emitOpError() << "C11: expected a partial lse with leading dim " << parts
                            << ", got none";
  if (memrefType(op.getLse()).getDimSize(0) != parts)
    return op.emitOpError() << "C11: expected a partial lse with leading dim " << parts << ", got "
                            << memrefType(op.getLse());
  if (!type.getElementType().isF32())
    return op.emitOpError() << "C11: expected partial outputs of element type f32, got "
                            << type.getElementType();
  return success();
}

/// A tail has the shape of the lse that it adds to.
static LogicalResult verifyTail(Operation *op, StringRef constraint, NamedTensor tail,
                                NamedTensor lse) {
  MemRefType type = memrefType(tail.value);
  if (!lse.value)
    return op->emitOpError() << constraint << ": expected " << tail.name
                             << " together with an lse, got none";
  if (!type.getElementType().isF32())
    return op->emitOpError() << constraint << ": expected " << tail.name
                             << " to have element type f32, got " << type.getElementType();
  unsigned rank = memrefType(lse.value).getRank();
  if (failed(verifyRank(op, constraint, tail, rank)))
    return failure();
  for (unsigned dim = 0; dim < rank; ++dim)
    if (failed(verifySameDim(op, constraint, "sizes", lse, dim, tail, dim)))
      return failure();
  if (failed(verifyStrided(op, constraint, tail)) ||
      failed(verifyDistinctElements(op, constraint, tail)))
    return failure();
  return verifyDefaultMemorySpace(op, constraint, tail);
}

bool ForwardOp::hasPartialOutputs() { return memrefType(getO()).getRank() == 5; }

LogicalResult ForwardOp::verify() {
  NamedTensor q{"q", getQ()}, k{"k", getK()}, v{"v", getV()}, o{"o", getO()}, lse{"lse", getLse()};
  for (NamedTensor tensor : {q, k, v})
    if (failed(verifyRank(*this, "C1", tensor, 4)))
      return failure();
  // Partial outputs have one more dim, in front.
  unsigned lead = hasPartialOutputs() ? 1 : 0;
  if (failed(verifyRank(*this, "C1", o, 4 + lead)))
    return failure();
  if (getLse()) {
    if (failed(verifyRank(*this, "C1", lse, 3 + lead)))
      return failure();
    if (!memrefType(getLse()).getElementType().isF32())
      return emitOpError() << "C1: expected lse to have element type f32, got "
                           << memrefType(getLse()).getElementType();
  }
  if (failed(verifyElementTypes(*this)))
    return failure();
  if (lead && failed(verifyPartialOutputs(*this)))
    return failure();
  for (NamedTensor tensor : {q, k, v, o})
    if (failed(verifyContiguousRows(*this, "C7", tensor)))
      return failure();
  for (NamedTensor tensor : {o, lse})
    if (tensor.value && failed(verifyDistinctElements(*this, "C7", tensor)))
      return failure();
  for (NamedTensor tensor : {q, k, v, o, lse})
    if (tensor.value && failed(verifyDefaultMemorySpace(*this, "C7", tensor)))
      return failure();
  if (failed(verifyHeadDim(*this, q, 256)) || failed(verifyHeadDim(*this, k, 256)) ||
      failed(verifyHeadDim(*this, v, 512)) || failed(verifyHeadDim(*this, o, 512)) ||
      failed(verifySameDim(*this, "C4", "head dim", q, 3, k, 3)) ||
      failed(verifySameDim(*this, "C4", "head dim", v, 3, o, 3 + lead)) ||
      failed(verifyHeads(*this)) || failed(verifySameDim(*this, "C6", "batch", q, 0, o, lead)) ||
      failed(verifySameDim(*this, "C6", "seq_len_q", q, 1, o, 1 + lead)) ||
      failed(verifySameDim(*this, "C6", "heads_q", q, 2, o, 2 + lead)) ||
      // Other layouts put something else in front.
      (isa<DenseLayoutAttr>(getKv()) && failed(verifySameDim(*this, "C6", "batch", q, 0, k, 0))) ||
      failed(verifySameDim(*this, "C6", "batch", k, 0, v, 0)) ||
      failed(verifySameDim(*this, "C6", "seq_len_kv", k, 1, v, 1)) ||
      failed(verifySameDim(*this, "C6", "heads_kv", k, 2, v, 2)))
    return failure();
  if (getLse() && (failed(verifySameDim(*this, "C6", "batch", q, 0, lse, lead)) ||
                   failed(verifySameDim(*this, "C6", "heads_q", q, 2, lse, 1 + lead)) ||
                   failed(verifySameDim(*this, "C6", "seq_len_q", q, 1, lse, 2 + lead))))
    return failure();

  if (getLseTail() && failed(verifyTail(*this, "C12", {"lse_tail", getLseTail()}, lse)))
    return failure();

  if (failed(verifyMaskArgs(*this, "C8", getMask(), getMaskArgs().getTypes())))
    return failure();
  if (getKvArgs().size() != getKv().getNumOperands())
    return emitOpError() << "C8: expected " << getKv().getNumOperands() << " KV operands for "
                         << getKv() << ", got " << getKvArgs().size();
  if (failed(
          getKv().verifyOperands(getKvArgs().getTypes(), [&] { return emitOpError() << "C8: "; })))
    return failure();

  int64_t elementBytes = getElementType().getIntOrFloatBitWidth() / 8;
  int64_t alignment = getAlignmentBytes();
  if (alignment < elementBytes || !llvm::isPowerOf2_64(alignment))
    return emitOpError() << "C10: expected alignment to be a power of two of at least "
                         << elementBytes << " bytes, got " << alignment;
  if (std::optional<int64_t> length = getMaxSeqLen();
      length && (*length < 1 || *length > INT32_MAX))
    return emitOpError() << "C13: expected max_seq_len in [1, " << INT32_MAX << "], got "
                         << *length;
  return success();
}

LogicalResult ForwardOp::verifyRegions() {
  if (!hasScore())
    return success();
  if (failed(verifyScoreRegion(*this, "C9", getScore(), 4)))
    return failure();
  for (NamedTensor tensor : {NamedTensor{"o", getO()}, NamedTensor{"lse", getLse()},
                             NamedTensor{"lse_tail", getLseTail()}})
    if (tensor.value && failed(verifyNotRead(*this, "C9", getScore(), tensor)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// MergeStatesOp
//===----------------------------------------------------------------------===//

LogicalResult MergeStatesOp::verify() {
  NamedTensor po{"partial_o", getPartialO()}, pl{"partial_lse", getPartialLse()}, o{"o", getO()},
      lse{"lse", getLse()};
  if (failed(verifyRank(*this, "C1", po, 5)) || failed(verifyRank(*this, "C1", pl, 4)) ||
      failed(verifyRank(*this, "C1", o, 4)) ||
      (getLse() && failed(verifyRank(*this, "C1", lse, 3))))
    return failure();
  for (NamedTensor tensor : {po, pl, lse})
    if (tensor.value && !memrefType(tensor.value).getElementType().isF32())
      return emitOpError() << "C2: expected " << tensor.name << " to have element type f32, got "
                           << memrefType(tensor.value).getElementType();
  Type outType = memrefType(getO()).getElementType();
  if (!outType.isF32() && !outType.isF16() && !outType.isBF16())
    return emitOpError() << "C2: expected element type f32, f16 or bf16 of o, got " << outType;
  MemRefType partial = memrefType(getPartialO());
  for (unsigned dim : {0u, 3u, 4u})
    if (partial.isDynamicDim(dim))
      return emitOpError() << "C3: expected static parts, heads and head dim, got " << partial;
  if (partial.getDimSize(0) < 1 || partial.getDimSize(3) < 1)
    return emitOpError() << "C3: expected positive parts and heads, got " << partial;
  if (partial.getDimSize(4) < 1 || partial.getDimSize(4) > 512)
    return emitOpError() << "C3: expected the head dim to be in [1, 512], got "
                         << partial.getDimSize(4);
  if (failed(verifySameDim(*this, "C3", "parts", po, 0, pl, 0)) ||
      failed(verifySameDim(*this, "C3", "batch", po, 1, pl, 1)) ||
      failed(verifySameDim(*this, "C3", "seq_len_q", po, 2, pl, 3)) ||
      failed(verifySameDim(*this, "C3", "heads", po, 3, pl, 2)) ||
      failed(verifySameDim(*this, "C3", "batch", po, 1, o, 0)) ||
      failed(verifySameDim(*this, "C3", "seq_len_q", po, 2, o, 1)) ||
      failed(verifySameDim(*this, "C3", "heads", po, 3, o, 2)) ||
      failed(verifySameDim(*this, "C3", "head dim", po, 4, o, 3)))
    return failure();
  if (getLse() && (failed(verifySameDim(*this, "C3", "batch", po, 1, lse, 0)) ||
                   failed(verifySameDim(*this, "C3", "heads", po, 3, lse, 1)) ||
                   failed(verifySameDim(*this, "C3", "seq_len_q", po, 2, lse, 2))))
    return failure();
  if (failed(verifyContiguousRows(*this, "C4", po)) ||
      failed(verifyContiguousRows(*this, "C4", o)) || failed(verifyStrided(*this, "C4", pl)) ||
      failed(verifyDistinctElements(*this, "C4", o)) ||
      (getLse() && failed(verifyDistinctElements(*this, "C4", lse))))
    return failure();
  for (NamedTensor tensor : {po, pl, o, lse})
    if (tensor.value && failed(verifyDefaultMemorySpace(*this, "C4", tensor)))
      return failure();
  return getPartialTail() ? verifyTail(*this, "C5", {"partial_tail", getPartialTail()}, pl)
                          : success();
}

//===----------------------------------------------------------------------===//
// SoftcapOp
//===----------------------------------------------------------------------===//

LogicalResult SoftcapOp::verify() {
  const APFloat &cap = getCap();
  if (!cap.isFinite() || cap.isNegative() || cap.isZero())
    return emitOpError() << "C1: expected a finite, positive cap, got " << cap.convertToDouble();
  return success();
}

//===----------------------------------------------------------------------===//
// AlibiOp
//===----------------------------------------------------------------------===//

LogicalResult AlibiOp::verify() {
  if (!(*this)->getParentOfType<ForwardOp>())
    return emitOpError() << "C2: expected to stand in the score region of an attn.forward";
  return success();
}
