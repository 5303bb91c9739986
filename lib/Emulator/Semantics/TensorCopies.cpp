//===- TensorCopies.cpp - Copies of boxes through tensor maps -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tiled mode. A box lies in shared
// memory row by row, its 16-byte chunks permuted by the map's swizzle.
//
// Seen on an H200, beyond the documentation: a box that starts within 16 bytes of a row faults, and
// so does a store with a negative coordinate. Loads stop at the last element of a row, stores
// and reductions at the end of its 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "Bulk.h"
#include "Operands.h"
#include "Semantics.h"
#include "attn/Emulator/TensorMap.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;
using llvm::Twine;

/// TMA takes multiples of 128 bytes in shared memory.
static constexpr size_t kTensorAlignment = 128;

namespace {

using Coordinates = std::array<int32_t, TensorMap::kMaxRank>;

/// The rows of one box, as they meet the tensor.
class Box {
public:
  Box(const TensorMap &map, const Coordinates &first, bool isStore) : map(map), first(first) {
    size_t element = elementBytes(map.element);
    int64_t width = map.sizes[0];
    if (isStore)
      width = static_cast<int64_t>(llvm::alignTo(width * element, kBulkUnit) / element);
    // The part of every row that lies inside the tensor along dim 0.
    int64_t begin = std::max<int64_t>(0, -int64_t(first[0]));
    int64_t end = std::min<int64_t>(map.box[0], width - first[0]);
    insideBegin = begin * element;
    insideBytes = end > begin ? (end - begin) * element : 0;
    globalBegin = (first[0] + begin) * static_cast<int64_t>(element);
  }

  size_t rows() const { return map.boxBytes() / map.innerBytes(); }

  /// The global address of a row's inside part; null where the row is outside the tensor.
  std::byte *row(size_t index) const {
    if (insideBytes == 0)
      return nullptr;
    std::byte *address = map.base + globalBegin;
    for (unsigned dim = 1; dim < map.rank; ++dim) {
      size_t i = index % map.count(dim);
      int64_t coordinate = int64_t(first[dim]) + static_cast<int64_t>(i * map.steps[dim]);
      index /= map.count(dim);
      if (coordinate < 0 || coordinate >= map.sizes[dim])
        return nullptr;
      address += coordinate * map.strides[dim - 1];
    }
    return address;
  }

  const TensorMap map;
  const Coordinates first;
  size_t insideBegin = 0; ///< Of the row in the box, in bytes.
  size_t insideBytes = 0;

private:
  int64_t globalBegin = 0;
};

/// Moves a row between `row` (contiguous) and its place in shared memory.
template <bool toShared>
void moveRow(Swizzle swizzle, std::byte *shared, std::byte *row, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kBulkUnit) {
    auto address = reinterpret_cast<uintptr_t>(shared + at);
    std::byte *place = shared + at + static_cast<ptrdiff_t>(swizzled(swizzle, address) - address);
    std::memcpy(toShared ? place : row + at, toShared ? row + at : place, kBulkUnit);
  }
}

/// Fills a row with what elements outside the tensor read as.
void fillRow(const TensorMap &map, llvm::MutableArrayRef<std::byte> row) {
  // Seen on an H200: a NaN of every type has this pattern in each of its 16 bits.
  constexpr uint16_t kNaN = 0x7FF7;
  for (size_t at = 0; at < row.size(); at += sizeof(kNaN))
    put<uint16_t>(row.data(), at, map.fillNaN ? kNaN : 0);
}

/// What all of these ops do first: the map, the coordinates, the checks of global memory.
class TensorInstruction : public Instruction {
protected:
  size_t mapOffset = 0, sharedOffset = 0;
  llvm::SmallVector<size_t, 5> coordinates;

  std::optional<Box> readBox(Thread &thread, const std::byte *args, bool isStore) const {
    auto *address = pointerAt(args, mapOffset);
    TensorMap map;
    if (!thread.access(AccessKind::Read, address, sizeof(TensorMap)))
      return std::nullopt;
    std::memcpy(&map, address, sizeof(map));
    std::string fault = map.check();
    if (fault.empty() && map.rank != coordinates.size())
      fault = "it has rank " + std::to_string(map.rank) + " and the copy " +
              std::to_string(coordinates.size()) + " coordinates";
    if (!fault.empty()) {
      thread.report(ReportKind::BadDescriptor, "the tensor map: " + fault);
      return std::nullopt;
    }
    Coordinates first = {};
    for (auto [dim, offset] : llvm::enumerate(coordinates)) {
      first[dim] = get<int32_t>(args, offset);
      if (isStore && first[dim] < 0) {
        thread.report(ReportKind::BadOperand, "coordinate " + Twine(dim) + " is " +
                                                  Twine(first[dim]) +
                                                  "; a store starts inside the tensor");
        return std::nullopt;
      }
    }
    int64_t start = int64_t(first[0]) * static_cast<int64_t>(elementBytes(map.element));
    if (start % static_cast<int64_t>(kBulkUnit) != 0) {
      thread.report(ReportKind::BadOperand, "the box starts " + Twine(start) +
                                                " bytes into a row; expected a multiple of " +
                                                Twine(kBulkUnit));
      return std::nullopt;
    }
    Box box(map, first, isStore);
    AccessKind kind = isStore ? AccessKind::Write : AccessKind::Read;
    for (size_t i = 0, e = box.rows(); i != e; ++i)
      if (std::byte *row = box.row(i); row && !thread.accessGlobal(kind, row, box.insideBytes))
        return std::nullopt;
    return box;
  }
};

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

class TensorLoad : public TensorInstruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    std::optional<Box> box = readBox(thread, args, /*isStore=*/false);
    if (!box)
      return;
    std::optional<uint16_t> mask;
    if (maskOffset)
      mask = get<uint16_t>(args, *maskOffset);
    size_t bytes = box->map.boxBytes();
    for (const SignalledCopy &copy : findTargets(thread, pointerAt(args, sharedOffset),
                                                 pointerAt(args, barrierOffset), bytes, mask))
      if (!issueSignalled(thread, copy, bytes, kTensorAlignment,
                          [box = *box, target = copy.target] { load(box, target); }))
        return;
  }
  unsigned cycles() const override { return 16; }
  unsigned latency() const override { return 600; }

  static DecodeResult decode(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
    if (op.getMode() != NVVM::TMALoadMode::TILE)
      return op.emitError() << "the emulator has no semantics for the im2col and gather modes of "
                               "'"
                            << op->getName() << "'";
    if (op.getPredicate())
      return op.emitError() << "the emulator has no semantics for '" << op->getName()
                            << "' with a predicate; branch around it";
    Operands<decltype(op)> operands(op);
    auto load = std::make_unique<TensorLoad>();
    load->sharedOffset = operands.at(0);
    load->mapOffset = operands.at(1);
    load->coordinates = operands.all(2);
    load->barrierOffset = operands.at(3);
    load->maskOffset = operands.optional(5);
    return std::unique_ptr<Instruction>(std::move(load));
  }

private:
  static void load(const Box &box, std::byte *target) {
    size_t inner = box.map.innerBytes();
    llvm::SmallVector<std::byte, 512> buffer(inner);
    for (size_t i = 0, e = box.rows(); i != e; ++i) {
      std::byte *row = box.row(i);
      if (!row || box.insideBytes != inner)
        fillRow(box.map, buffer);
      if (row)
        std::memcpy(buffer.data() + box.insideBegin, row, box.insideBytes);
      moveRow<true>(box.map.swizzle, target + i * inner, buffer.data(), inner);
    }
  }

  size_t barrierOffset = 0;
  std::optional<size_t> maskOffset;
};

//===----------------------------------------------------------------------===//
// Stores and reductions
//===----------------------------------------------------------------------===//

class TensorStore : public TensorInstruction {
public:
  void execute(Thread &thread, const std::byte *args, std::byte *) const override {
    std::optional<Box> box = readBox(thread, args, /*isStore=*/true);
    if (!box)
      return;
    std::optional<ReducedType> type = reducedType(box->map.element);
    if (reduction && !type)
      return thread.report(ReportKind::BadDescriptor,
                           "the tensor map: its elements cannot be reduced");
    std::byte *source = pointerAt(args, sharedOffset);
    issueGrouped(thread, source, box->map.boxBytes(), kTensorAlignment,
                 [box = *box, source, reduction = reduction,
                  type = type.value_or(ReducedType::U32)] { store(box, source, reduction, type); });
  }
  unsigned cycles() const override { return 16; }
  unsigned latency() const override { return 600; }

  /// Null after an error.
  template <typename OpTy> static std::unique_ptr<TensorStore> decodeCommon(OpTy op) {
    if (op.getMode() != NVVM::TMAStoreMode::TILE) {
      op.emitError() << "the emulator has no semantics for the im2col and scatter modes of '"
                     << op->getName() << "'";
      return nullptr;
    }
    Operands<OpTy> operands(op);
    auto store = std::make_unique<TensorStore>();
    store->mapOffset = operands.at(0);
    store->sharedOffset = operands.at(1);
    store->coordinates = operands.all(2);
    return store;
  }

  static DecodeResult decode(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op) {
    if (op.getPredicate())
      return op.emitError() << "the emulator has no semantics for '" << op->getName()
                            << "' with a predicate; branch around it";
    auto store = decodeCommon(op);
    if (!store)
      return failure();
    return std::unique_ptr<Instruction>(std::move(store));
  }

  static DecodeResult decodeReduce(NVVM::CpAsyncBulkTensorReduceOp op) {
    auto store = decodeCommon(op);
    if (!store)
      return failure();
    switch (op.getRedKind()) {
    case NVVM::TMAReduxKind::ADD:
      store->reduction = Reduction::Add;
      break;
    case NVVM::TMAReduxKind::MIN:
      store->reduction = Reduction::Min;
      break;
    case NVVM::TMAReduxKind::MAX:
      store->reduction = Reduction::Max;
      break;
    default:
      return op.emitError() << "the emulator has semantics for the reductions add, min and max of "
                               "'"
                            << op->getName() << "' alone";
    }
    return std::unique_ptr<Instruction>(std::move(store));
  }

private:
  static std::optional<ReducedType> reducedType(TensorElement element) {
    switch (element) {
    case TensorElement::F32:
      return ReducedType::F32;
    case TensorElement::F16:
      return ReducedType::F16;
    case TensorElement::BF16:
      return ReducedType::BF16;
    case TensorElement::S32:
      return ReducedType::S32;
    case TensorElement::U32:
      return ReducedType::U32;
    case TensorElement::S64:
      return ReducedType::S64;
    case TensorElement::U64:
      return ReducedType::U64;
    default:
      return std::nullopt;
    }
  }

  static void store(const Box &box, std::byte *source, std::optional<Reduction> reduction,
                    ReducedType type) {
    size_t inner = box.map.innerBytes();
    llvm::SmallVector<std::byte, 512> buffer(inner);
    for (size_t i = 0, e = box.rows(); i != e; ++i) {
      std::byte *row = box.row(i);
      if (!row)
        continue;
      moveRow<false>(box.map.swizzle, source + i * inner, buffer.data(), inner);
      const std::byte *inside = buffer.data() + box.insideBegin;
      if (reduction)
        reduce(*reduction, type, row, inside, box.insideBytes / bytesOf(type));
      else
        std::memcpy(row, inside, box.insideBytes);
    }
  }

  std::optional<Reduction> reduction;
};

} // namespace

void attn::emu::registerTensorCopies(InstructionTable &table) {
  addOp<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp, TensorLoad::decode>(table);
  addOp<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp, TensorStore::decode>(table);
  addOp<NVVM::CpAsyncBulkTensorReduceOp, TensorStore::decodeReduce>(table);
}
