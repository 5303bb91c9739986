//===- Products.h - Products of a warpgroup in flight -----------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_PRODUCTS_H
#define ATTN_LIB_EMULATOR_SEMANTICS_PRODUCTS_H

#include "attn/Emulator/Machine.h"

#include <bit>
#include <optional>

namespace attn::emu {

/// The accumulators of one wgmma: value i of thread t is values[t * perThread + i].
struct Product {
  Product(const Site &site, size_t perThread)
      : site(site), perThread(perThread), values(kWarpgroupThreads * perThread) {}

  const Site &site;
  const size_t perThread;
  std::vector<float> values;
  AsyncOpPtr op;
  bool isDone = false; ///< A wait has covered it.
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

/// The products of each warpgroup of a launch, by number. The newest are kept, so that values
/// of products that nobody tied can still be accumulated onto.
class ProductTable {
public:
  static constexpr size_t kKept = 512;

  uint32_t add(ProductPtr product) {
    products.push_back(std::move(product));
    if (products.size() > kKept) {
      products.pop_front();
      ++first;
    }
    return first + static_cast<uint32_t>(products.size()) - 1;
  }
  /// The product that a value is a tag of; null when there is none, or it is no longer kept.
  Product *find(uint32_t bits) const {
    const ProductPtr *product = lookup(bits);
    return product ? product->get() : nullptr;
  }
  ProductPtr share(uint32_t bits) const {
    const ProductPtr *product = lookup(bits);
    return product ? *product : nullptr;
  }
  const std::deque<ProductPtr> &all() const { return products; }

private:
  const ProductPtr *lookup(uint32_t bits) const {
    if (!Tag::isTag(bits))
      return nullptr;
    uint32_t index = (Tag(bits).number - first) % Tag::kNumbers;
    return index < products.size() ? &products[index] : nullptr;
  }

  std::deque<ProductPtr> products;
  uint32_t first = 0;
};

/// The products of a warpgroup.
inline ProductTable &productsOf(Warpgroup &group) {
  if (!group.products)
    group.products = std::make_shared<ProductTable>();
  return *group.products;
}

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_PRODUCTS_H
