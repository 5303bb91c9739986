//===- TensorArg.h - Actual arguments of a kernel -------------------------===//
//
// The values a host passes to a compiled attention function, on any device.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_TENSORARG_H
#define ATTN_RUNTIME_TENSORARG_H

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace attn::rt {

/// Element type of a tensor. The spelling is MLIR's ("bf16", "f8E4M3FN").
enum class ElementType : uint8_t { F64, F32, BF16, F16, F8E4M3FN, F8E5M2, I64, I32, I16, I8, I1 };

/// MLIR spelling of `type`.
std::string_view toString(ElementType type);

/// The type spelled `name`, if there is one.
std::optional<ElementType> parseElementType(std::string_view name);

/// Bytes of one element in memory; i1 takes one byte.
int64_t byteSize(ElementType type);

/// Most dimensions a tensor may have.
inline constexpr int kMaxRank = 8;

/// A strided view of memory that somebody else owns, on the host or a device.
struct TensorArg {
  void *data = nullptr; ///< Address of element (0, ..., 0).
  ElementType elementType = ElementType::F32;
  int rank = 0;
  std::array<int64_t, kMaxRank> sizes{};   ///< Elements per dimension.
  std::array<int64_t, kMaxRank> strides{}; ///< Distance of neighbours, in elements.

  /// A row-major tensor without gaps.
  static TensorArg dense(void *data, ElementType type, std::span<const int64_t> sizes);
  static TensorArg dense(void *data, ElementType type, std::initializer_list<int64_t> sizes) {
    return dense(data, type, std::span<const int64_t>(sizes.begin(), sizes.size()));
  }
  /// A tensor with any strides; `sizes` and `strides` have the same length.
  static TensorArg strided(void *data, ElementType type, std::span<const int64_t> sizes,
                           std::span<const int64_t> strides);

  /// Whether some dimension has size zero.
  bool empty() const;

  /// Shape as "[2, 8, 64]".
  std::string shapeText() const;
};

/// A scalar argument; Index is a 64-bit integer.
using ScalarArg = std::variant<float, double, int64_t, int32_t>;

/// One actual argument.
using Argument = std::variant<TensorArg, ScalarArg>;

} // namespace attn::rt

#endif // ATTN_RUNTIME_TENSORARG_H
