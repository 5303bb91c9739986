//===- GlobalMemoryTest.cpp - Which bytes are elements --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/GlobalMemory.h"

#include <gtest/gtest.h>

using namespace attn;
using emu::GlobalMemory;

static char bytes[4096];

static rt::TensorArg strided(std::initializer_list<int64_t> sizes,
                             std::initializer_list<int64_t> strides) {
  return rt::TensorArg::strided(bytes, rt::ElementType::I16, {sizes.begin(), sizes.size()},
                                {strides.begin(), strides.size()});
}

TEST(GlobalMemory, RowsMayBeCrossedWhereTheyTouch) {
  GlobalMemory memory;
  memory.addTensor("x", strided({4, 8}, {8, 1}));
  EXPECT_TRUE(memory.contains(bytes, 64));
  EXPECT_TRUE(memory.contains(bytes + 14, 4));
  EXPECT_FALSE(memory.contains(bytes, 66));
  EXPECT_FALSE(memory.contains(bytes - 2, 4));
}

TEST(GlobalMemory, GapsAreOutside) {
  GlobalMemory memory;
  memory.addTensor("x", strided({4, 8}, {16, 1}));
  EXPECT_TRUE(memory.contains(bytes + 32, 16));
  EXPECT_FALSE(memory.contains(bytes + 14, 4));
  EXPECT_FALSE(memory.contains(bytes + 16, 2));
  EXPECT_EQ(memory.describe(bytes + 16, 2), "the gap after element [0, 7] of 'x' [4, 8]");
  EXPECT_EQ(memory.describe(bytes + 46, 4),
            "element [1, 7] of 'x' [4, 8], whose row ends before 4 bytes");
}

TEST(GlobalMemory, Interleaved) {
  GlobalMemory memory;
  rt::TensorArg second = strided({4, 8}, {16, 1});
  second.data = bytes + 16;
  memory.addTensor("a", strided({4, 8}, {16, 1}));
  memory.addTensor("b", second);
  EXPECT_TRUE(memory.contains(bytes + 16, 16));
  EXPECT_TRUE(memory.contains(bytes, 16));
  // One access belongs to one tensor.
  EXPECT_FALSE(memory.contains(bytes, 32));
}

TEST(GlobalMemory, BroadcastAndBackwards) {
  GlobalMemory memory;
  memory.addTensor("x", strided({4, 8}, {0, 1}));
  EXPECT_TRUE(memory.contains(bytes, 16));
  EXPECT_FALSE(memory.contains(bytes + 16, 2));
  GlobalMemory backwards;
  rt::TensorArg tensor = strided({4, 8}, {-8, 1});
  tensor.data = bytes + 48;
  backwards.addTensor("y", tensor);
  EXPECT_TRUE(backwards.contains(bytes, 16));
  EXPECT_TRUE(backwards.contains(bytes + 48, 16));
  EXPECT_FALSE(backwards.contains(bytes + 64, 2));
}

TEST(GlobalMemory, EmptyTensorsHoldNothing) {
  GlobalMemory memory;
  memory.addTensor("x", strided({0, 8}, {8, 1}));
  EXPECT_FALSE(memory.contains(bytes, 2));
  EXPECT_EQ(memory.describe(bytes, 2), "an address, in a launch without tensors");
}
