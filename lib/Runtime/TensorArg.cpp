//===- TensorArg.cpp - Actual arguments of a kernel -----------------------===//

#include "attn/Runtime/TensorArg.h"

#include <algorithm>

namespace attn::rt {

namespace {
struct TypeRow {
  ElementType type;
  std::string_view name;
  int64_t bytes;
};
constexpr TypeRow kTypes[] = {
    {ElementType::F64, "f64", 8},
    {ElementType::F32, "f32", 4},
    {ElementType::BF16, "bf16", 2},
    {ElementType::F16, "f16", 2},
    {ElementType::F8E4M3FN, "f8E4M3FN", 1},
    {ElementType::F8E5M2, "f8E5M2", 1},
    {ElementType::I64, "i64", 8},
    {ElementType::I32, "i32", 4},
    {ElementType::I16, "i16", 2},
    {ElementType::I8, "i8", 1},
    {ElementType::I1, "i1", 1},
};

const TypeRow &rowOf(ElementType type) { return kTypes[static_cast<size_t>(type)]; }
} // namespace

std::string_view toString(ElementType type) { return rowOf(type).name; }

int64_t byteSize(ElementType type) { return rowOf(type).bytes; }

std::optional<ElementType> parseElementType(std::string_view name) {
  for (const TypeRow &row : kTypes)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

TensorArg TensorArg::dense(void *data, ElementType type, std::span<const int64_t> sizes) {
  std::array<int64_t, kMaxRank> strides{};
  // Unsigned, so that absurd sizes wrap; checkArguments refuses them by their extent.
  uint64_t stride = 1;
  for (size_t d = std::min<size_t>(sizes.size(), kMaxRank); d-- > 0;) {
    strides[d] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(sizes[d], 1));
  }
  return strided(data, type, sizes, strides);
}

TensorArg TensorArg::strided(void *data, ElementType type, std::span<const int64_t> sizes,
                             std::span<const int64_t> strides) {
  TensorArg tensor;
  tensor.data = data;
  tensor.elementType = type;
  tensor.rank = static_cast<int>(sizes.size());
  for (size_t d = 0; d < std::min<size_t>(sizes.size(), kMaxRank); ++d) {
    tensor.sizes[d] = sizes[d];
    tensor.strides[d] = strides[d];
  }
  return tensor;
}

bool TensorArg::empty() const {
  for (int d = 0; d < std::min(rank, kMaxRank); ++d)
    if (sizes[d] == 0)
      return true;
  return false;
}

std::string TensorArg::shapeText() const {
  std::string text = "[";
  for (int d = 0; d < std::min(rank, kMaxRank); ++d)
    text += (d ? ", " : "") + std::to_string(sizes[d]);
  return text + "]";
}

} // namespace attn::rt
