//===- InstructionsTest.cpp - What instructions compute -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Emulator/Semantics/Numbers.h"
#include "EmulatorTest.h"

#include <llvm/ADT/APFloat.h>

using namespace attn;
using namespace attn::test;

/// A body that stores an i32 of each thread.
static std::string storing(const std::string &value, const std::string &body) {
  return body +
         " %to = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32 "
         "llvm.store " +
         value + ", %to : i32, !llvm.ptr<1>";
}

TEST(Numbers, AllHalves) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    llvm::APFloat exact(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    float value = emu::fromF16(bits);
    if (exact.isNaN()) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(emu::toF16(value), 0x7fff);
      continue;
    }
    EXPECT_EQ(value, exact.convertToFloat());
    EXPECT_EQ(emu::toF16(value), bits);
    if (!std::isnan(emu::fromBF16(bits)))
      EXPECT_EQ(emu::toBF16(emu::fromBF16(bits)), bits);
  }
}

TEST(Numbers, Rounding) {
  // A sample over all exponents, with mantissas about the ties.
  for (uint32_t exponent = 0; exponent < 255; ++exponent)
    for (uint32_t mantissa : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x3001u, 0x7fffu,
                              0x8000u, 0x8001u, 0x17fffu, 0x18000u, 0x7fffffu, 0x5fffffu}) {
      float value = std::bit_cast<float>(exponent << 23 | mantissa);
      bool inexact;
      llvm::APFloat half(value), brain(value);
      half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      brain.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      EXPECT_EQ(emu::toF16(value), half.bitcastToAPInt().getZExtValue()) << value;
      EXPECT_EQ(emu::toBF16(value), brain.bitcastToAPInt().getZExtValue()) << value;
    }
}

TEST(Instructions, Registers) {
  Trial trial{.threads = 64};
  EXPECT_EQ(trial.run(storing("%lane", "%lane = nvvm.read.ptx.sreg.laneid : i32")), "");
  EXPECT_EQ(trial.x[33], 1);
  EXPECT_EQ(trial.run(storing("%warp", "%warp = nvvm.read.ptx.sreg.warpid : i32")), "");
  EXPECT_EQ(trial.x[33], 1);
  EXPECT_EQ(trial.x[31], 0);
}

TEST(Instructions, Shuffles) {
  auto shuffled = [](const std::string &kind, int b, int c) {
    Trial trial;
    EXPECT_EQ(trial.run(storing("%v", "%b = llvm.mlir.constant(" + std::to_string(b) +
                                          " : i32) : i32 %c = llvm.mlir.constant(" +
                                          std::to_string(c) + " : i32) : i32 %v = nvvm.shfl.sync " +
                                          kind + " %all, %tid, %b, %c : i32 -> i32")),
              "");
    return std::vector<int32_t>(trial.x.begin(), trial.x.begin() + 32);
  };
  std::vector<int32_t> bfly = shuffled("bfly", 5, 31), up = shuffled("up", 3, 0),
                       down = shuffled("down", 3, 31), idx = shuffled("idx", 9, 31),
                       segments = shuffled("idx", 1, 0x1c1f);
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(bfly[lane], lane ^ 5);
    EXPECT_EQ(up[lane], lane < 3 ? lane : lane - 3);
    EXPECT_EQ(down[lane], lane > 28 ? lane : lane + 3);
    EXPECT_EQ(idx[lane], 9);
    EXPECT_EQ(segments[lane], lane / 4 * 4 + 1);
  }
}

TEST(Instructions, Votes) {
  auto vote = [](const std::string &kind, const std::string &type, int limit) {
    Trial trial;
    std::string widened =
        type == "i1" ? "%w = llvm.zext %v : i1 to i32" : "%w = llvm.add %v, %c0 : i32";
    EXPECT_EQ(trial.run(storing("%w", "%l = llvm.mlir.constant(" + std::to_string(limit) +
                                          " : i32) : i32 %p = llvm.icmp \"ult\" %tid, %l : i32 "
                                          "%v = nvvm.vote.sync " +
                                          kind + " %all, %p -> " + type + " " + widened)),
              "");
    return trial.x[7];
  };
  EXPECT_EQ(vote("any", "i1", 1), 1);
  EXPECT_EQ(vote("any", "i1", 0), 0);
  EXPECT_EQ(vote("all", "i1", 31), 0);
  EXPECT_EQ(vote("all", "i1", 32), 1);
  EXPECT_EQ(vote("uni", "i1", 5), 0);
  EXPECT_EQ(vote("uni", "i1", 0), 1);
  EXPECT_EQ(vote("ballot", "i32", 5), 31);
}

TEST(Instructions, ConversionsPackTheFirstOperandHigh) {
  Trial trial{.threads = 1};
  std::string body = "%a = llvm.mlir.constant(1.0 : f32) : f32 %b = llvm.mlir.constant(-2.0 : "
                     "f32) : f32 %p = llvm.call_intrinsic \"llvm.nvvm.ff2bf16x2.rn\"(%a, %b) : "
                     "(f32, f32) -> vector<2xbf16> %v = llvm.bitcast %p : vector<2xbf16> to i32";
  EXPECT_EQ(trial.run(storing("%v", body)), "");
  EXPECT_EQ(trial.x[0], 0x3f80c000);
}

TEST(Instructions, Approximations) {
  Trial trial{.threads = 1};
  auto apply = [&](const std::string &call, float argument) {
    trial.x[0] = std::bit_cast<int32_t>(argument);
    EXPECT_EQ(trial.run("%a = llvm.load %x : !llvm.ptr<1> -> f32 %r = " + call +
                        " llvm.store %r, %x : f32, !llvm.ptr<1>"),
              "");
    return std::bit_cast<float>(trial.x[0]);
  };
  std::string ex2 = "llvm.call_intrinsic \"llvm.nvvm.ex2.approx.ftz.f32\"(%a) : (f32) -> f32";
  std::string lg2 = "llvm.call_intrinsic \"llvm.nvvm.lg2.approx.ftz.f\"(%a) : (f32) -> f32";
  std::string rcp = "nvvm.rcp.approx.ftz.f %a : f32";
  EXPECT_EQ(apply(ex2, 3), 8);
  EXPECT_EQ(apply(ex2, -INFINITY), 0);
  EXPECT_EQ(apply(ex2, -140), 0); // Would be subnormal.
  EXPECT_EQ(apply(lg2, 8), 3);
  EXPECT_EQ(apply(lg2, 0), -INFINITY);
  EXPECT_EQ(apply(rcp, 4), 0.25f);
  EXPECT_EQ(apply(rcp, 1e-45f), INFINITY);
}
