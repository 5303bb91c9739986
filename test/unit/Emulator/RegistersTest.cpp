//===- RegistersTest.cpp - Special registers and rare instructions --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace attn;
using namespace attn::test;
using testing::HasSubstr;

/// What each of the threads of a CTA reads from a special register.
static std::vector<int32_t> readRegister(const std::string &name, unsigned threads = 64,
                                         unsigned grid = 1) {
  Trial trial{.threads = threads, .grid = grid};
  EXPECT_EQ(trial.run("%r = nvvm.read.ptx.sreg." + name +
                      " : i32 %to = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> "
                      "!llvm.ptr<1>, i32 llvm.store %r, %to : i32, !llvm.ptr<1>"),
            "");
  return trial.x;
}

TEST(Registers, PlaceOfAThread) {
  EXPECT_EQ(readRegister("laneid")[37], 5);
  EXPECT_EQ(readRegister("warpid")[37], 1);
  EXPECT_EQ(readRegister("nwarpid")[0], 2);
  EXPECT_EQ(readRegister("warpsize")[0], 32);
  EXPECT_EQ(readRegister("ntid.x")[0], 64);
  EXPECT_EQ(readRegister("ntid.y")[0], 1);
  EXPECT_EQ(readRegister("tid.z")[63], 0);
}

TEST(Registers, LaneMasks) {
  EXPECT_EQ(readRegister("lanemask.eq")[36], 1 << 4);
  EXPECT_EQ(readRegister("lanemask.lt")[36], (1 << 4) - 1);
  EXPECT_EQ(readRegister("lanemask.le")[36], (1 << 5) - 1);
  EXPECT_EQ(readRegister("lanemask.gt")[36], -1 << 5);
  EXPECT_EQ(readRegister("lanemask.ge")[36], -1 << 4);
}

TEST(Registers, PlaceOfACta) {
  // CTAs run one after the other: the last one's values stay.
  EXPECT_EQ(readRegister("ctaid.x", 64, 3)[0], 2);
  EXPECT_EQ(readRegister("nctaid.x", 64, 3)[0], 3);
  EXPECT_EQ(readRegister("clusterid.x", 64, 3)[0], 2);
  EXPECT_EQ(readRegister("nclusterid.x", 64, 3)[0], 3);
  EXPECT_EQ(readRegister("cluster.ctaid.x", 64, 3)[0], 0);
  EXPECT_EQ(readRegister("cluster.nctaid.x", 64, 3)[0], 1);
}

/// A barrier for two arrivals, one of which is `first`; then one more completes this phase, and one
/// the next if the first took its expectation away.
static std::string twoPhases(const std::string &first) {
  return Trial{.threads = 1}.run("%two = llvm.mlir.constant(2 : i32) : i32 "
                                 "nvvm.mbarrier.init %smem, %two : !llvm.ptr<3>, i32 " +
                                 first +
                                 " nvvm.mbarrier.arrive %smem : !llvm.ptr<3> "
                                 "attn_nv.mbarrier_wait %smem, %c0 : !llvm.ptr<3> "
                                 "nvvm.mbarrier.arrive %smem : !llvm.ptr<3> "
                                 "attn_nv.mbarrier_wait %smem, %c1 : !llvm.ptr<3>");
}

TEST(Mbarriers, DroppedArrivals) {
  EXPECT_THAT(twoPhases("nvvm.mbarrier.arrive %smem : !llvm.ptr<3>"), HasSubstr("deadlock"));
  EXPECT_THAT(twoPhases("nvvm.mbarrier.arrive.expect_tx %smem, %c0 : !llvm.ptr<3>, i32"),
              HasSubstr("deadlock"));
  EXPECT_EQ(twoPhases("nvvm.mbarrier.arrive_drop %smem : !llvm.ptr<3>"), "");
  EXPECT_EQ(twoPhases("nvvm.mbarrier.arrive_drop.expect_tx %smem, %c0 : !llvm.ptr<3>, i32"), "");
  // Bytes that nobody brings keep the first phase open.
  EXPECT_THAT(twoPhases("nvvm.mbarrier.arrive_drop.expect_tx %smem, %c31 : !llvm.ptr<3>, i32"),
              HasSubstr("31 bytes are missing"));
}

TEST(Hints, ChangeNothing) {
  Trial trial{.threads = 1};
  EXPECT_EQ(trial.run("nvvm.prefetch level = L2, %x : !llvm.ptr<1> nvvm.griddepcontrol wait "
                      "nvvm.griddepcontrol launch_dependents"),
            "");
}
