#include <limits>

#include "TestUtils.h"
#include "attn/Runtime/SizeExpr.h"

using namespace attn::rt;

namespace {
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::vector<Argument> shapes(std::initializer_list<int64_t> sizes) {
  return {TensorArg::dense(nullptr, ElementType::F32, sizes), ScalarArg(1.0f)};
}
} // namespace

TEST(SizeExpr, ProductOfConstantsAndCeilDivisions) {
  const SizeExpr expr{SizeFactor::size(0, 1, 128), SizeFactor::constant(3), SizeFactor::size(0, 0)};
  EXPECT_EQ(expr.evaluate(shapes({2, 128})).value(), 6);
  EXPECT_EQ(expr.evaluate(shapes({2, 129})).value(), 12);
  EXPECT_EQ(expr.evaluate(shapes({2, 1})).value(), 6);
  EXPECT_EQ(expr.text(), "ceilDiv(arg0.size(1), 128) * 3 * arg0.size(0)");
}

TEST(SizeExpr, EmptyProductIsOne) {
  EXPECT_EQ(SizeExpr().evaluate({}).value(), 1);
  EXPECT_EQ(SizeExpr().text(), "1");
}

TEST(SizeExpr, CeilDivisionDoesNotOverflowAtTheLimit) {
  EXPECT_EQ(SizeExpr{SizeFactor::size(0, 0, kMax)}.evaluate(shapes({kMax})).value(), 1);
  EXPECT_EQ(SizeExpr{SizeFactor::size(0, 0, 2)}.evaluate(shapes({kMax})).value(), kMax / 2 + 1);
}

TEST(SizeExpr, ZeroWinsOverOverflow) {
  const SizeExpr expr{SizeFactor::size(0, 0), SizeFactor::size(0, 1), SizeFactor::size(0, 2)};
  EXPECT_EQ(expr.evaluate(shapes({kMax, kMax, 0})).value(), 0);
  EXPECT_EQ(expr.evaluate(shapes({0, kMax, kMax})).value(), 0);
}

TEST(SizeExpr, OverflowIsBadInput) {
  const SizeExpr expr{SizeFactor::size(0, 0), SizeFactor::size(0, 1)};
  EXPECT_EQ(expr.evaluate(shapes({int64_t(1) << 31, int64_t(1) << 31})).value(), int64_t(1) << 62);
  Expected<int64_t> result = expr.evaluate(shapes({int64_t(1) << 32, int64_t(1) << 31}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_THAT(result.error().message, testing::HasSubstr("arg0.size(0) * arg0.size(1)"));
}

TEST(SizeExpr, NegativeSizeIsBadInput) {
  Expected<int64_t> result = SizeExpr{SizeFactor::size(0, 0)}.evaluate(shapes({-3}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_THAT(result.error().message, testing::HasSubstr("-3"));
}

TEST(SizeExpr, ReferencesOutsideTheCallAreCorrupt) {
  for (SizeFactor factor : {SizeFactor::size(2, 0), SizeFactor::size(1, 0), SizeFactor::size(0, 1),
                            SizeFactor::size(0, -1), SizeFactor::size(0, 0, 0)}) {
    Expected<int64_t> result = SizeExpr{factor}.evaluate(shapes({4}));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::Corrupt);
  }
}
