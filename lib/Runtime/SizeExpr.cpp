//===- SizeExpr.cpp - Sizes that depend on actual shapes ------------------===//

#include "attn/Runtime/SizeExpr.h"

#include <algorithm>

namespace attn::rt {

static std::string sizeText(const SizeFactor &factor) {
  return "arg" + std::to_string(factor.argument) + ".size(" + std::to_string(factor.dim) + ")";
}

static Expected<int64_t> evaluateFactor(const SizeFactor &factor,
                                        std::span<const Argument> arguments) {
  if (factor.isConstant()) {
    if (factor.value < 0)
      return fail(ErrorCode::Corrupt,
                  "a size has the negative constant factor " + std::to_string(factor.value));
    return factor.value;
  }
  const TensorArg *tensor = static_cast<size_t>(factor.argument) < arguments.size()
                                ? std::get_if<TensorArg>(&arguments[factor.argument])
                                : nullptr;
  if (!tensor || factor.dim < 0 || factor.dim >= std::min(tensor->rank, kMaxRank) ||
      factor.value < 1)
    return fail(ErrorCode::Corrupt, "a size refers to ceilDiv(" + sizeText(factor) + ", " +
                                        std::to_string(factor.value) +
                                        "), which the call's arguments do not have");
  int64_t size = tensor->sizes[factor.dim];
  if (size < 0)
    return fail(ErrorCode::BadInput, sizeText(factor) + " is negative: " + std::to_string(size));
  return size / factor.value + (size % factor.value != 0);
}

Expected<int64_t> SizeExpr::evaluate(std::span<const Argument> arguments) const {
  int64_t product = 1;
  bool overflow = false, zero = false;
  for (const SizeFactor &factor : factors) {
    Expected<int64_t> value = evaluateFactor(factor, arguments);
    if (!value)
      return value;
    zero |= *value == 0;
    overflow |= __builtin_mul_overflow(product, *value, &product);
  }
  if (zero)
    return 0;
  if (overflow)
    return fail(ErrorCode::BadInput, "the size " + text() +
                                         " exceeds 2^63 - 1 for these arguments; use smaller "
                                         "tensors");
  return product;
}

std::string SizeExpr::text() const {
  if (factors.empty())
    return "1";
  std::string result;
  for (const SizeFactor &factor : factors) {
    if (!result.empty())
      result += " * ";
    if (factor.isConstant())
      result += std::to_string(factor.value);
    else if (factor.value == 1)
      result += sizeText(factor);
    else
      result += "ceilDiv(" + sizeText(factor) + ", " + std::to_string(factor.value) + ")";
  }
  return result;
}

} // namespace attn::rt
