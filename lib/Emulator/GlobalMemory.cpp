//===- GlobalMemory.cpp - The tensors of a launch -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/GlobalMemory.h"

using namespace attn;
using namespace attn::emu;

void GlobalMemory::addTensor(std::string name, const rt::TensorArg &tensor) {
  if (tensor.empty())
    return;
  Region region;
  region.name = std::move(name);
  region.elementBytes = rt::byteSize(tensor.elementType);
  region.shape = tensor.shapeText();
  auto *data = static_cast<const std::byte *>(tensor.data);
  region.begin = region.origin = region.end = data;
  for (int d = 0; d < tensor.rank; ++d) {
    int64_t stride = tensor.strides[d] * region.elementBytes;
    int64_t reach = (tensor.sizes[d] - 1) * stride;
    region.sizes.push_back(tensor.sizes[d]);
    region.strides.push_back(stride);
    (reach < 0 ? region.begin : region.end) += reach;
    if (tensor.sizes[d] > 1 && stride != 0)
      region.order.push_back(d);
  }
  region.end += region.elementBytes;
  llvm::sort(region.order, [&](unsigned a, unsigned b) {
    return std::abs(region.strides[a]) > std::abs(region.strides[b]);
  });
  regions.push_back(std::move(region));
}

void GlobalMemory::addBytes(std::string name, const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  auto *begin = static_cast<const std::byte *>(data);
  regions.push_back({std::move(name), begin, begin + bytes, begin, 1, {}, {}, {}, ""});
}

void GlobalMemory::addReadOnly(std::string name, const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  addBytes(std::move(name), data, bytes);
  regions.back().isReadOnly = true;
}

bool GlobalMemory::indexOf(const Region &region, const std::byte *address,
                           llvm::SmallVectorImpl<int64_t> &index, int64_t &byteInElement) {
  index.assign(region.sizes.size(), 0);
  // From the lowest byte up, longest stride first; a dimension that runs backwards counts from
  // its end.
  int64_t rest = address - region.begin;
  for (unsigned d : region.order) {
    int64_t stride = std::abs(region.strides[d]);
    int64_t i = rest / stride;
    // Strides may overlap: what is beyond this dimension is left to shorter ones.
    i = std::min(i, region.sizes[d] - 1);
    rest -= i * stride;
    index[d] = region.strides[d] < 0 ? region.sizes[d] - 1 - i : i;
  }
  byteInElement = rest;
  return rest >= 0 && rest < region.elementBytes;
}

bool GlobalMemory::holds(const Region &region, const std::byte *address, size_t bytes) {
  if (address < region.begin || address >= region.end ||
      bytes > static_cast<size_t>(region.end - address))
    return false;
  if (region.sizes.empty())
    return true;
  llvm::SmallVector<int64_t> index;
  int64_t inElement;
  for (const std::byte *end = address + bytes; address < end;) {
    if (!indexOf(region, address, index, inElement))
      return false;
    // Neighbours of a contiguous last dimension are elements too.
    int64_t run = region.elementBytes - inElement;
    if (!region.order.empty()) {
      unsigned d = region.order.back();
      if (region.strides[d] == region.elementBytes)
        run += (region.sizes[d] - 1 - index[d]) * region.elementBytes;
    }
    address += run;
  }
  return true;
}

bool GlobalMemory::contains(const void *address, size_t bytes, bool isWrite) {
  auto *begin = static_cast<const std::byte *>(address);
  auto allows = [&](const Region &region) {
    return holds(region, begin, bytes) && !(isWrite && region.isReadOnly);
  };
  if (last < regions.size() && allows(regions[last]))
    return true;
  for (size_t i = 0; i < regions.size(); ++i)
    if (allows(regions[i])) {
      last = i;
      return true;
    }
  return false;
}

std::string GlobalMemory::describe(const void *address, size_t bytes) const {
  auto *at = static_cast<const std::byte *>(address);
  if (reinterpret_cast<uintptr_t>(at) < 4096)
    return "a null pointer";
  const Region *nearest = nullptr;
  auto distance = [&](const Region &region) -> uint64_t {
    if (at < region.begin)
      return region.begin - at;
    return at >= region.end ? at - region.end + 1 : 0;
  };
  for (const Region &region : regions)
    if (!nearest || distance(region) < distance(*nearest))
      nearest = &region;
  if (!nearest)
    return "an address, in a launch without tensors";
  std::string name =
      "'" + nearest->name + "'" + (nearest->shape.empty() ? "" : " ") + nearest->shape;
  if (at < nearest->begin)
    return std::to_string(nearest->begin - at) + " bytes before the start of " + name;
  if (at >= nearest->end)
    return std::to_string(at - nearest->end) + " bytes past the end of " + name;
  if (nearest->sizes.empty())
    return "byte " + std::to_string(at - nearest->begin) + " of " + name +
           (holds(*nearest, at, bytes) ? ", which is read-only"
                                       : ", which ends before " + std::to_string(bytes) + " bytes");
  // Inside: between elements, or running past a row.
  llvm::SmallVector<int64_t> index;
  int64_t inElement;
  bool isElement = indexOf(*nearest, at, index, inElement);
  std::string text = "[";
  for (int64_t i : index)
    text += (text.size() > 1 ? ", " : "") + std::to_string(i);
  text += "]";
  if (!isElement)
    return "the gap after element " + text + " of " + name;
  return "element " + text + " of " + name + ", whose row ends before " + std::to_string(bytes) +
         " bytes";
}
