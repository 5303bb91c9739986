//===- SizeExpr.h - Sizes that depend on actual shapes --------------------===//

#ifndef ATTN_RUNTIME_SIZEEXPR_H
#define ATTN_RUNTIME_SIZEEXPR_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/Runtime/Error.h"
#include "attn/Runtime/TensorArg.h"

namespace attn::rt {

/// One factor of a SizeExpr: a constant, or ceilDiv(size of a tensor argument's
/// dimension, divisor).
struct SizeFactor {
  int32_t argument = -1; ///< Position of a user argument; -1 for a constant.
  int32_t dim = 0;       ///< Dimension of that argument.
  int64_t value = 1;     ///< The constant (>= 0), or the divisor (>= 1).

  static SizeFactor constant(int64_t value) { return {-1, 0, value}; }
  static SizeFactor size(int32_t argument, int32_t dim, int64_t divisor = 1) {
    return {argument, dim, divisor};
  }
  bool isConstant() const { return argument < 0; }
  bool operator==(const SizeFactor &) const = default;
};

/// A product of factors, evaluated against the actual arguments of a call.
/// The empty product is 1.
struct SizeExpr {
  std::vector<SizeFactor> factors;

  SizeExpr() = default;
  SizeExpr(std::initializer_list<SizeFactor> factors) : factors(factors) {}

  /// Multiplies by one more factor.
  SizeExpr &times(SizeFactor factor) {
    factors.push_back(factor);
    return *this;
  }

  /// The value for `arguments`. A zero factor makes the product zero whatever
  /// the others are. BadInput when the product leaves the signed 64-bit range or
  /// a size is negative; Corrupt when a factor names no tensor dimension.
  Expected<int64_t> evaluate(std::span<const Argument> arguments) const;

  /// For people: "ceilDiv(arg0.size(1), 128) * 32".
  std::string text() const;

  bool operator==(const SizeExpr &) const = default;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_SIZEEXPR_H
