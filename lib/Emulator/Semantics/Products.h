//===- Products.h - Products of a warpgroup in flight -----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_PRODUCTS_H
#define ATTN_LIB_EMULATOR_SEMANTICS_PRODUCTS_H

#include "attn/Emulator/Machine.h"

#include <llvm/ADT/BitVector.h>

#include <bit>
#include <optional>

namespace attn::emu {

/// A warpgroup's instruction that all 128 threads execute.
class GroupInstruction : public Instruction {
public:
  Scope scope() const final { return Scope::Warpgroup; }
  bool takesWholeUnit() const final { return true; }
};

/// The accumulators of one wgmma: value i of thread t is values[t * perThread + i].
struct Product {
  Product(const Site &site, size_t perThread)
      : site(site), perThread(perThread), values(kWarpgroupThreads * perThread), tied(perThread) {}

  const Site &site;
  const size_t perThread;
  std::vector<float> values;
  AsyncOpPtr op;
  llvm::BitVector tied; ///< Values that waits have passed on.
};
using ProductPtr = std::shared_ptr<Product>;

/// While a product is in flight, programs hold tags in place of its values: signalling NaNs
/// with a number and the index of the value.
class Tag {
public:
  static constexpr unsigned kNumbers = 1 << 14;

  static uint32_t encode(uint32_t number, size_t value) {
    return kPattern | (number % kNumbers) << 7 | static_cast<uint32_t>(value);
  }
  static bool isTag(uint32_t bits) { return (bits & kMask) == kPattern; }
  explicit Tag(uint32_t bits) : number(bits >> 7 & (kNumbers - 1)), value(bits & 127) {}

  const uint32_t number;
  const unsigned value;

private:
  static constexpr uint32_t kPattern = 0xFFA00000, kMask = 0xFFE00000;
};

/// The products of a warpgroup by number, until another product accumulates onto them or waits have
/// passed all of their values on: from then on registers hold something else.
class ProductTable {
public:
  /// Far more than a warpgroup has registers for.
  static constexpr size_t kMost = 4096;

  /// The product's number; nothing where there are too many.
  std::optional<uint32_t> add(ProductPtr product);

  /// The product that a value is a tag of; null when there is none.
  ProductPtr find(uint32_t bits) const;
  /// The op after which a tag has no meaning any more; null for values that are no such tag.
  const Site *endOf(uint32_t bits) const;
  /// The product behind a tag is no more, because of an op.
  void remove(uint32_t bits, const Site &reason);

private:
  struct Entry {
    ProductPtr product;
    const Site *end = nullptr;
  };
  llvm::DenseMap<uint32_t, Entry> entries;
  size_t numProducts = 0;
  uint32_t next = 0;
};

/// The products of a warpgroup.
inline ProductTable &productsOf(Warpgroup &group) {
  if (!group.products)
    group.products = std::make_shared<ProductTable>();
  return *group.products;
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_PRODUCTS_H
