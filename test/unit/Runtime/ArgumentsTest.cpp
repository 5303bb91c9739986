#include <functional>
#include <limits>

#include "TestUtils.h"
#include "attn/Runtime/Arguments.h"

using namespace attn::rt;
using namespace attn::rt::test;

namespace {
alignas(16) char memory[64];

std::vector<Argument> goodArguments(int64_t batch = 2, int64_t rows = 5, int64_t keys = 7) {
  return {TensorArg::dense(memory, ElementType::BF16, {batch, rows, 64}),
          TensorArg::dense(memory, ElementType::BF16, {batch, keys, 64}),
          TensorArg::dense(memory, ElementType::F32, {batch, rows, 64}), ScalarArg(0.125f),
          ScalarArg(int64_t(3))};
}

TensorArg &tensor(std::vector<Argument> &arguments, size_t i) {
  return std::get<TensorArg>(arguments[i]);
}
} // namespace

TEST(TensorArg, DenseStrides) {
  const TensorArg tensor = TensorArg::dense(memory, ElementType::F16, {2, 0, 3});
  EXPECT_EQ(tensor.rank, 3);
  EXPECT_EQ(tensor.strides[0], 3);
  EXPECT_EQ(tensor.strides[1], 3);
  EXPECT_EQ(tensor.strides[2], 1);
  EXPECT_TRUE(tensor.empty());
  EXPECT_EQ(tensor.shapeText(), "[2, 0, 3]");
  EXPECT_EQ(TensorArg::dense(memory, ElementType::F16, {}).shapeText(), "[]");
}

TEST(TensorArg, ElementTypes) {
  EXPECT_EQ(byteSize(*parseElementType("bf16")), 2);
  EXPECT_EQ(toString(*parseElementType("f8E4M3FN")), "f8E4M3FN");
  EXPECT_FALSE(parseElementType("float"));
}

TEST(CheckArguments, GoodCalls) {
  const Manifest manifest = sampleArtifact().manifest;
  EXPECT_TRUE(checkArguments(manifest, goodArguments()));
  EXPECT_TRUE(checkArguments(manifest, goodArguments(1, 1, 1)));
  // A view: rows of a packed tensor, expanded (stride 0) over the batch.
  std::vector<Argument> view = goodArguments();
  tensor(view, 1).strides = {0, 3 * 64, 1};
  EXPECT_TRUE(checkArguments(manifest, view));
}

TEST(CheckArguments, StridesOfSingleElementsAndEmptyTensorsAreFree) {
  const Manifest manifest = sampleArtifact().manifest;
  std::vector<Argument> single = goodArguments(1);
  tensor(single, 0).strides[0] = 1;
  EXPECT_TRUE(checkArguments(manifest, single));
  std::vector<Argument> empty = goodArguments(2, 0);
  tensor(empty, 0).data = nullptr;
  tensor(empty, 2).data = memory + 1;
  tensor(empty, 0).strides = {7, 7, 7};
  EXPECT_TRUE(checkArguments(manifest, empty));
}

TEST(CheckArguments, EachFaultIsNamed) {
  using Arguments = std::vector<Argument>;
  struct Case {
    const char *message;
    std::function<void(Arguments &)> spoil;
  };
  const Case cases[] = {
      {"expected 5 arguments, got 4", [](Arguments &a) { a.pop_back(); }},
      {"expected 5 arguments, got 6", [](Arguments &a) { a.push_back(a.back()); }},
      {"argument 'q': expected a tensor of bf16, got an f32",
       [](Arguments &a) { a[0] = ScalarArg(1.0f); }},
      {"argument 'scale': expected a scalar of kind f32, got a tensor of bf16",
       [](Arguments &a) { a[3] = a[0]; }},
      {"argument 'scale': expected a scalar of kind f32, got an f64",
       [](Arguments &a) { a[3] = ScalarArg(1.0); }},
      {"argument 'window': expected a scalar of kind index, got an i32",
       [](Arguments &a) { a[4] = ScalarArg(int32_t(1)); }},
      {"argument 'k': expected element type bf16, got f16",
       [](Arguments &a) { tensor(a, 1).elementType = ElementType::F16; }},
      {"argument 'q': expected rank 3, got rank 2, shape [2, 5]",
       [](Arguments &a) { tensor(a, 0).rank = 2; }},
      {"argument 'q': expected rank 3, got rank 12", [](Arguments &a) { tensor(a, 0).rank = 12; }},
      {"argument 'q': expected rank 3, got rank -1", [](Arguments &a) { tensor(a, 0).rank = -1; }},
      {"argument 'q': expected size 64, got 80 in dimension 2, shape [2, 5, 80]",
       [](Arguments &a) { tensor(a, 0).sizes[2] = 80; }},
      {"argument 'q': expected sizes of at least 0, got -5",
       [](Arguments &a) { tensor(a, 0).sizes[1] = -5; }},
      {"argument 'o': expected an address, got null",
       [](Arguments &a) { tensor(a, 2).data = nullptr; }},
      {"argument 'k': expected an address aligned to 16 bytes, got 2 bytes past that",
       [](Arguments &a) { tensor(a, 1).data = memory + 2; }},
      {"argument 'q': expected a contiguous last dimension (stride 1), got stride 2",
       [](Arguments &a) { tensor(a, 0).strides[2] = 2; }},
      {"argument 'q': expected a contiguous last dimension (stride 1), got stride 0",
       [](Arguments &a) { tensor(a, 0).strides[2] = 0; }},
      {"argument 'q': expected strides that are multiples of 16 bytes, the kernel's alignment, "
       "got stride 65 elements of 2 bytes in dimension 1; pad the rows, or compile with a smaller "
       "alignment",
       [](Arguments &a) { tensor(a, 0).strides[1] = 65; }},
      {"argument 'q': expected strides that are multiples of 16 bytes, the kernel's alignment, got "
       "stride 1 ",
       [](Arguments &a) { tensor(a, 0).strides[1] = 1; }},
      {"argument 'q': expected a tensor within the 64-bit address range",
       [](Arguments &a) { tensor(a, 0).strides[0] = int64_t(1) << 62; }},
      {"argument 'q': expected a tensor within the 64-bit address range",
       [](Arguments &a) { tensor(a, 0).strides[0] = std::numeric_limits<int64_t>::min(); }},
      {"argument 'k': expected size 2 in dimension 0, as dimension 0 of 'q' has, got 3",
       [](Arguments &a) { tensor(a, 1).sizes[0] = 3; }},
      {"argument 'o': expected size 5 in dimension 1, as dimension 1 of 'q' has, got 6",
       [](Arguments &a) { tensor(a, 2).sizes[1] = 6; }},
  };
  const Manifest manifest = sampleArtifact().manifest;
  for (const Case &each : cases) {
    Arguments arguments = goodArguments();
    each.spoil(arguments);
    Status status = checkArguments(manifest, arguments);
    ASSERT_FALSE(status) << each.message;
    EXPECT_EQ(status.error().code, ErrorCode::BadInput);
    EXPECT_THAT(status.error().message, testing::HasSubstr(each.message));
  }
}

TEST(KernelParams, DescriptorFieldsInOrder) {
  KernelParams params;
  params.add(Argument(TensorArg::strided(memory, ElementType::F32, std::vector<int64_t>{2, 3},
                                         std::vector<int64_t>{-8, 1})));
  params.add(Argument(ScalarArg(1.0f)));
  params.add(Argument(ScalarArg(int32_t(-1))));
  params.add(Argument(ScalarArg(int64_t(-1))));
  params.add(Argument(ScalarArg(2.0)));
  params.add(Argument(TensorArg::dense(memory, ElementType::F32, {})));
  const uint64_t address = reinterpret_cast<uintptr_t>(memory);
  const uint64_t minusEight = static_cast<uint64_t>(-8);
  EXPECT_THAT(params.slots(),
              testing::ElementsAre(address, address, 0, 2, 3, minusEight, 1, 0x3f800000, 0xffffffff,
                                   ~uint64_t(0), 0x4000000000000000, address, address, 0));
  void **pointers = params.pointers();
  for (size_t i = 0; i < params.slots().size(); ++i)
    EXPECT_EQ(pointers[i], &params.slots()[i]);
}

TEST(LayoutWorkspaces, AlignedOneAfterAnother) {
  const WorkspaceLayout layout =
      layoutWorkspaces(sampleArtifact().manifest, goodArguments(2, 5)).value();
  ASSERT_EQ(layout.slots.size(), 2u);
  EXPECT_EQ(layout.slots[0].offset, 0);
  EXPECT_THAT(layout.slots[0].shape, testing::ElementsAre(2, 10, 64));
  EXPECT_EQ(layout.slots[1].offset, 2 * 10 * 64 * 4);
  EXPECT_THAT(layout.slots[1].shape, testing::ElementsAre(10));
  EXPECT_EQ(layout.bytes, 2 * 10 * 64 * 4 + 256);
}

TEST(LayoutWorkspaces, EmptyAndOverflowing) {
  Manifest manifest = sampleArtifact().manifest;
  EXPECT_EQ(layoutWorkspaces(manifest, goodArguments(0, 0)).value().bytes, 0);
  std::vector<Argument> huge = goodArguments();
  tensor(huge, 0).sizes[1] = int64_t(1) << 61;
  EXPECT_EQ(layoutWorkspaces(manifest, huge).error().code, ErrorCode::BadInput);
  // The rounding at the end overflows too.
  manifest.workspaces = {{ElementType::I8, {SizeExpr{SizeFactor::size(0, 1)}}}};
  tensor(huge, 0).sizes[1] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(layoutWorkspaces(manifest, huge).error().code, ErrorCode::BadInput);
  manifest.workspaces.clear();
  EXPECT_EQ(layoutWorkspaces(manifest, huge).value().bytes, 0);
}
