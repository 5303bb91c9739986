//===- RacesTest.cpp - Order of accesses to shared memory -----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace attn;
using namespace attn::test;
using testing::AllOf;
using testing::HasSubstr;

/// Each thread writes its word, then after `between` reads its neighbour's of the CTA.
static std::string exchange(const std::string &between) {
  return R"(
    %own = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %own : i32, !llvm.ptr<3>
    )" + between +
         R"(
    %n = nvvm.read.ptx.sreg.ntid.x : i32
    %last = llvm.sub %n, %c1 : i32
    %other = llvm.sub %last, %tid : i32
    %there = llvm.getelementptr %smem[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %there : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %v, %to : i32, !llvm.ptr<1>)";
}

TEST(Races, BarrierOrders) {
  Trial trial{.threads = 64};
  EXPECT_EQ(trial.run(exchange("nvvm.barrier0")), "");
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(trial.x[i], 63 - i);
}

TEST(Races, MissingBarrier) {
  Trial trial{.threads = 64};
  // Warps run one after the other, so that what the second one wrote is not there yet or is
  // read without order.
  std::string body = exchange("");
  EXPECT_THAT(trial.run(body), HasSubstr("'llvm.load' at t.mlir:"));
}

TEST(Races, WriteAfterReadWithoutBarrier) {
  Trial trial{.threads = 64};
  EXPECT_THAT(trial.run(exchange("nvvm.barrier0") + "\n llvm.store %c0, %own : i32, !llvm.ptr<3>"),
              AllOf(HasSubstr("race: "), HasSubstr("'llvm.store' at t.mlir:12:"),
                    HasSubstr("'llvm.load' at t.mlir:9:"), HasSubstr("not ordered")));
}

TEST(Races, WarpBarrierOrdersAWarpOnly) {
  Trial trial{.threads = 32};
  EXPECT_EQ(trial.run(exchange("nvvm.bar.warp.sync %all : i32")), "");
  trial.threads = 64;
  EXPECT_THAT(trial.run(exchange("nvvm.bar.warp.sync %all : i32")),
              HasSubstr("'llvm.load' at t.mlir:"));
}

TEST(Races, ShuffleOrdersNothing) {
  Trial trial;
  EXPECT_THAT(trial.run(exchange("%s = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> i32")),
              HasSubstr("race"));
}

TEST(Races, TwoWrites) {
  Trial trial;
  EXPECT_THAT(trial.run("llvm.store %tid, %smem : i32, !llvm.ptr<3>"),
              HasSubstr("race: 'llvm.store' at t.mlir:1:"));
}

TEST(Races, OneValueByOneOp) {
  Trial trial;
  // Lanes of a warp may store the same value together; warps may not.
  EXPECT_EQ(trial.run("llvm.store %c1, %smem : i32, !llvm.ptr<3>"), "");
  trial.threads = 64;
  EXPECT_THAT(trial.run("llvm.store %c1, %smem : i32, !llvm.ptr<3>"), HasSubstr("race"));
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Each thread copies a word to shared memory and reads it, or another thread's, back.
static std::string copyAndRead(const std::string &between, const std::string &index) {
  return R"(
    %from = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %own = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %own, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    )" + between +
         R"(
    %mirror = llvm.sub %c31, %tid : i32
    %there = llvm.getelementptr %smem[)" +
         index + R"(] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %there : !llvm.ptr<3> -> i32
    %w = llvm.add %v, %c1 : i32
    llvm.store %w, %from : i32, !llvm.ptr<1>)";
}

class CopyRaces : public testing::TestWithParam<emu::AsyncMode> {
protected:
  CopyRaces() {
    trial.options.async = GetParam();
    trial.options.seed = 7;
    for (int i = 0; i < 64; ++i)
      trial.x[i] = i;
  }
  Trial trial;
};

TEST_P(CopyRaces, WaitAndBarrier) {
  ASSERT_EQ(trial.run(copyAndRead("nvvm.cp.async.commit.group nvvm.cp.async.wait.group 0 "
                                  "nvvm.barrier0",
                                  "%mirror")),
            "");
  EXPECT_EQ(trial.x[3], 29);
}

TEST_P(CopyRaces, OwnCopyNeedsNoBarrier) {
  EXPECT_EQ(trial.run(copyAndRead("nvvm.cp.async.commit.group nvvm.cp.async.wait.group 0", "%tid")),
            "");
}

TEST_P(CopyRaces, MissingWait) {
  EXPECT_THAT(trial.run(copyAndRead("nvvm.cp.async.commit.group nvvm.barrier0", "%tid")),
              AllOf(HasSubstr("data in flight: 'llvm.load' at t.mlir:"), HasSubstr("on its way"),
                    HasSubstr("'nvvm.cp.async.shared.global' at")));
}

TEST_P(CopyRaces, WaitForTheWrongGroup) {
  EXPECT_THAT(trial.run(copyAndRead("nvvm.cp.async.commit.group nvvm.cp.async.wait.group 1 "
                                    "nvvm.barrier0",
                                    "%mirror")),
              HasSubstr("data in flight"));
}

TEST_P(CopyRaces, MissingCommit) {
  EXPECT_THAT(trial.run(copyAndRead("nvvm.cp.async.wait.group 0 nvvm.barrier0", "%mirror")),
              HasSubstr("data in flight"));
}

TEST_P(CopyRaces, MissingBarrier) {
  EXPECT_THAT(
      trial.run(copyAndRead("nvvm.cp.async.commit.group nvvm.cp.async.wait.group 0", "%mirror")),
      HasSubstr("'llvm.load' at t.mlir:"));
}

INSTANTIATE_TEST_SUITE_P(Modes, CopyRaces,
                         testing::Values(emu::AsyncMode::Early, emu::AsyncMode::Late,
                                         emu::AsyncMode::Random));
