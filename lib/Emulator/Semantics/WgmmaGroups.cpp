//===- WgmmaGroups.cpp - Fences, groups and waits of products -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "Semantics.h"
#include "attn/Dialect/AttnNV/IR/AttnNV.h"

#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

using namespace mlir;
using namespace attn::emu;
using llvm::ArrayRef;
using llvm::Twine;

namespace {

/// Passes its operands through; a tag keeps its meaning.
class Fence : public GroupInstruction {
public:
  explicit Fence(size_t numValues) : numValues(numValues) {}
  void execute(Warpgroup &group, const Site &, ArrayRef<Lane> lanes) const override {
    group.fenced = true;
    for (const Lane &lane : lanes)
      for (size_t i = 0; i != numValues; ++i)
        put(lane.results, 8 * i, get<uint32_t>(lane.args, 8 * i));
  }
  static DecodeResult decode(attn::nv::WgmmaFenceOp op) {
    return makeInstruction<Fence>(op->getNumOperands());
  }
  static DecodeResult decodeBare(NVVM::WgmmaFenceAlignedOp) { return makeInstruction<Fence>(0); }

private:
  size_t numValues;
};

class Commit : public GroupInstruction {
public:
  void execute(Warpgroup &group, const Site &, ArrayRef<Lane>) const override {
    group.wgmmas.commit();
  }
  static DecodeResult decode(NVVM::WgmmaGroupSyncAlignedOp) { return makeInstruction<Commit>(); }
};

/// Values of products that are over replace their tags; others pass through.
class Wait : public GroupInstruction {
public:
  Wait(size_t pending, size_t numValues) : pending(pending), numValues(numValues) {}
  void execute(Warpgroup &group, const Site &site, ArrayRef<Lane> lanes) const override {
    group.complete(group.wgmmas.take(pending));
    group.fenced = false;
    ProductTable &table = productsOf(group);
    // Mostly all values are of one product.
    ProductPtr product;
    std::optional<uint32_t> number;
    for (auto [thread, lane] : llvm::enumerate(lanes))
      for (size_t i = 0; i != numValues; ++i) {
        auto bits = get<uint32_t>(lane.args, 8 * i);
        put(lane.results, 8 * i, bits);
        if (!Tag::isTag(bits))
          continue;
        if (number != Tag(bits).number) {
          if (!checkValue(table, *lane.thread, bits, i))
            return;
          number = Tag(bits).number;
          product = table.find(bits);
        }
        if (product)
          put(lane.results, 8 * i, product->values[thread * product->perThread + Tag(bits).value]);
      }
    for (size_t i = 0; i != numValues; ++i)
      removeTied(table, get<uint32_t>(lanes.front().args, 8 * i), site);
  }
  static DecodeResult decode(attn::nv::WgmmaWaitOp op) {
    return makeInstruction<Wait>(op.getPending(), op.getAcc().size());
  }
  static DecodeResult decodeBare(NVVM::WgmmaWaitGroupSyncOp op) {
    return makeInstruction<Wait>(op.getGroup(), 0);
  }

private:
  /// Whether a value may be tied; else reports.
  static bool checkValue(const ProductTable &table, Thread &thread, uint32_t bits, size_t i) {
    ProductPtr product = table.find(bits);
    if (product && !product->op->isComplete()) {
      thread.report(ReportKind::AccumulatorInFlight,
                    "value " + Twine(i) + " is tied, but the product of " + product->site.text() +
                        " is in a group that this wait leaves in flight");
      return false;
    }
    if (const Site *end = table.endOf(bits)) {
      thread.report(ReportKind::AccumulatorInFlight,
                    "value " + Twine(i) +
                        " is tied, but the registers of its product were given on by " +
                        end->text());
      return false;
    }
    return true;
  }

  /// A product whose values are all tied needs no place in the table.
  static void removeTied(ProductTable &table, uint32_t bits, const Site &site) {
    ProductPtr product = table.find(bits);
    if (!product)
      return;
    product->tied.set(Tag(bits).value);
    if (product->tied.all())
      table.remove(bits, site);
  }

  size_t pending;
  size_t numValues;
};

} // namespace

void attn::emu::registerWgmmaGroups(InstructionTable &table) {
  addOp<attn::nv::WgmmaFenceOp, Fence::decode>(table);
  addOp<NVVM::WgmmaFenceAlignedOp, Fence::decodeBare>(table);
  addOp<NVVM::WgmmaGroupSyncAlignedOp, Commit::decode>(table);
  addOp<attn::nv::WgmmaWaitOp, Wait::decode>(table);
  addOp<NVVM::WgmmaWaitGroupSyncOp, Wait::decodeBare>(table);
}
