//===- Products.cpp - Products of a warpgroup in flight -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

using namespace attn::emu;

std::optional<uint32_t> ProductTable::add(ProductPtr product) {
  if (numProducts == kMost)
    return std::nullopt;
  while (entries[next].product)
    next = (next + 1) % Tag::kNumbers;
  entries[next] = {std::move(product), nullptr};
  ++numProducts;
  return std::exchange(next, (next + 1) % Tag::kNumbers);
}

ProductPtr ProductTable::find(uint32_t bits) const {
  return Tag::isTag(bits) ? entries.lookup(Tag(bits).number).product : nullptr;
}

const Site *ProductTable::endOf(uint32_t bits) const {
  return Tag::isTag(bits) ? entries.lookup(Tag(bits).number).end : nullptr;
}

void ProductTable::remove(uint32_t bits, const Site &reason) {
  entries[Tag(bits).number] = {nullptr, &reason};
  --numProducts;
}
