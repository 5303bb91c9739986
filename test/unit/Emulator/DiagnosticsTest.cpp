//===- DiagnosticsTest.cpp - Broken programs and what is said of them -----===//
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

/// A body that only the threads below a number execute.
static std::string onlyBelow(int limit, const std::string &body) {
  return "%limit = llvm.mlir.constant(" + std::to_string(limit) +
         " : i32) : i32 %in = llvm.icmp \"ult\" %tid, %limit : i32 "
         "llvm.cond_br %in, ^in, ^out\n^in:\n" +
         body + "\nllvm.br ^out\n^out:";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Diagnostics, GlobalPastTheEnd) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run(R"(
    %p = llvm.getelementptr %x[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32)"),
              AllOf(HasSubstr("global memory out of bounds: 'llvm.load' at t.mlir:3:"),
                    HasSubstr("CTA 0, warp 0, lane 0"),
                    HasSubstr("4 bytes at 0 bytes past the end of 'x' [8, 8]")));
}

TEST(Diagnostics, GlobalBeforeTheStart) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run(R"(
    %p = llvm.getelementptr %x[-2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    llvm.store %c0, %p : i32, !llvm.ptr<1>)"),
              HasSubstr("8 bytes before the start of 'x' [8, 8]"));
}

TEST(Diagnostics, GlobalByCopy) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run(R"(
    %p = llvm.getelementptr %x[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    nvvm.cp.async.shared.global %smem, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>)"),
              AllOf(HasSubstr("'nvvm.cp.async.shared.global' at t.mlir:3:"), HasSubstr("'x'")));
}

TEST(Diagnostics, CopyOfNoBytesReadsNothing) {
  Trial trial{.threads = 1};
  EXPECT_EQ(trial.run(R"(
    %p = llvm.getelementptr %x[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    nvvm.cp.async.shared.global %smem, %p, 16, cache = cg, %c0 : !llvm.ptr<3>, !llvm.ptr<1>, i32
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    %v = llvm.load %smem : !llvm.ptr<3> -> i32)"),
            "");
}

TEST(Diagnostics, SharedOutOfBounds) {
  Trial trial{.threads = 1, .sharedBytes = 16};
  EXPECT_THAT(trial.run(R"(
    %p = llvm.getelementptr %smem[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
    llvm.store %c0, %p : i32, !llvm.ptr<3>)"),
              AllOf(HasSubstr("shared memory out of bounds: 'llvm.store' at t.mlir:3:"),
                    HasSubstr("the CTA has 16 bytes")));
}

TEST(Diagnostics, Uninitialized) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run("%v = llvm.load %smem : !llvm.ptr<3> -> i32"),
              AllOf(HasSubstr("uninitialized read: 'llvm.load' at t.mlir:1:"),
                    HasSubstr("shared offset 0, which nobody has written")));
}

TEST(Diagnostics, Misaligned) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run(R"(
    %p = llvm.getelementptr %smem[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %c0, %p : i32, !llvm.ptr<3>)"),
              AllOf(HasSubstr("misaligned address"), HasSubstr("a multiple of 4")));
}

TEST(Diagnostics, PastAnAlloca) {
  Trial trial{.threads = 1};
  const std::string alloca = "%a = llvm.alloca %c31 x i32 : (i32) -> !llvm.ptr ";
  EXPECT_EQ(trial.run(alloca + "%p = llvm.getelementptr %a[30] : (!llvm.ptr) -> !llvm.ptr, i32 "
                               "llvm.store %c1, %p : i32, !llvm.ptr"),
            "");
  // Not into what the emulator itself has on the thread's stack.
  for (const char *index : {"31", "-1", "100", "-100"})
    EXPECT_THAT(trial.run(alloca + "\n%p = llvm.getelementptr %a[" + index +
                          "] : (!llvm.ptr) -> !llvm.ptr, i32 llvm.store %c1, %p : i32, !llvm.ptr"),
                HasSubstr("global memory out of bounds: 'llvm.store' at t.mlir:2:"));
}

TEST(Diagnostics, WriteOfAConstant) {
  const int32_t word = 5;
  emu::GlobalMemory memory;
  memory.addReadOnly("@table", &word, sizeof(word));
  EXPECT_TRUE(memory.contains(&word, 4));
  EXPECT_FALSE(memory.contains(&word, 4, /*isWrite=*/true));
  EXPECT_EQ(memory.describe(&word, 4), "byte 0 of '@table', which is read-only");
}

TEST(Diagnostics, NullPointer) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run(R"(
    %p = llvm.mlir.zero : !llvm.ptr<1>
    %v = llvm.load %p : !llvm.ptr<1> -> i32)"),
              HasSubstr("a null pointer"));
}

TEST(Diagnostics, SharedAddressesAreThirtyTwoBits) {
  Trial trial{.threads = 1};
  EXPECT_EQ(trial.run(R"(
    %i = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
    %j = llvm.add %i, %c31 : i32
    %k = llvm.add %j, %c1 : i32
    %p = llvm.inttoptr %k : i32 to !llvm.ptr<3>
    llvm.store %c31, %p : i32, !llvm.ptr<3>
    %w = llvm.ptrtoint %smem : !llvm.ptr<3> to i64
    %c32 = llvm.mlir.constant(32 : i64) : i64
    %high = llvm.lshr %w, %c32 : i64
    %low = llvm.trunc %high : i64 to i32
    llvm.store %low, %x : i32, !llvm.ptr<1>
    %q = llvm.getelementptr %smem[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
    %v = llvm.load %q : !llvm.ptr<3> -> i32
    %y = llvm.getelementptr %x[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    llvm.store %v, %y : i32, !llvm.ptr<1>)"),
            "");
  EXPECT_EQ(trial.x[0], 0);
  EXPECT_EQ(trial.x[1], 31);
}

//===----------------------------------------------------------------------===//
// Barriers and collectives
//===----------------------------------------------------------------------===//

TEST(Diagnostics, Deadlock) {
  Trial trial{.threads = 64};
  EXPECT_THAT(trial.run(onlyBelow(32, "nvvm.barrier0")),
              AllOf(HasSubstr("deadlock"),
                    HasSubstr("32 threads wait at 'nvvm.barrier0' at "
                              "t.mlir:3:"),
                    HasSubstr("barrier 0, where 32 of 64 threads are")));
}

TEST(Diagnostics, BarrierInPartOfAWarp) {
  Trial trial{.threads = 64};
  EXPECT_THAT(trial.run(onlyBelow(16, "%id = llvm.mlir.constant(1 : i32) : i32 %n = "
                                      "llvm.mlir.constant(32 : i32) : i32 nvvm.barrier id = %id "
                                      "number_of_threads = %n") +
                        " %id2 = llvm.mlir.constant(1 : i32) : i32 %n2 = llvm.mlir.constant(32 : "
                        "i32) : i32 nvvm.barrier id = %id2 number_of_threads = %n2"),
              HasSubstr("divergent collective"));
}

TEST(Diagnostics, BarrierCounts) {
  Trial trial{.threads = 64};
  EXPECT_THAT(trial.run("nvvm.barrier id = %c1 number_of_threads = %c31"),
              AllOf(HasSubstr("barrier misuse"), HasSubstr("for 31 threads"),
                    HasSubstr("a multiple of 32")));
  EXPECT_THAT(trial.run("%n = llvm.mlir.constant(96 : i32) : i32 nvvm.barrier id = %c1 "
                        "number_of_threads = %n"),
              HasSubstr("at most the CTA's 64"));
  EXPECT_THAT(trial.run("nvvm.barrier id = %c31 number_of_threads = %c1"),
              HasSubstr("a CTA has barriers 0 to 15"));
}

TEST(Diagnostics, BarrierCountsDiffer) {
  Trial trial{.threads = 64};
  EXPECT_THAT(trial.run(R"(
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %first = llvm.icmp "ult" %tid, %c32 : i32
    %n = llvm.select %first, %c64, %c32 : i1, i32
    nvvm.barrier id = %c1 number_of_threads = %n)"),
              AllOf(HasSubstr("barrier misuse"), HasSubstr("waits there for 64")));
}

TEST(Diagnostics, DivergentCollective) {
  Trial trial;
  EXPECT_THAT(trial.run(onlyBelow(16, "%a = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> "
                                      "i32") +
                        "\n%b = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> i32"),
              AllOf(HasSubstr("divergent collective: 'nvvm.shfl.sync' at t.mlir:6:"),
                    HasSubstr("'nvvm.shfl.sync' at t.mlir:3:")));
}

TEST(Diagnostics, CollectiveWithoutTheOthers) {
  Trial trial;
  EXPECT_THAT(trial.run(onlyBelow(16, "%a = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> "
                                      "i32")),
              HasSubstr("divergent collective"));
}

TEST(Diagnostics, MaskWithoutOneself) {
  Trial trial;
  EXPECT_THAT(trial.run("%a = nvvm.shfl.sync bfly %c1, %tid, %c0, %c31 : i32 -> i32"),
              AllOf(HasSubstr("bad operand"), HasSubstr("member mask")));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

TEST(Diagnostics, FaultsHaveTheCodeOfTheProgram) {
  const std::string outside =
      "%p = llvm.getelementptr %x[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32 "
      "llvm.store %c0, %p : i32, !llvm.ptr<1>";
  const std::string endless = "%go = llvm.icmp \"eq\" %c0, %c0 : i32 llvm.br ^loop\n^loop:\n"
                              "llvm.cond_br %go, ^loop, ^end\n^end:";
  for (rt::ErrorCode code : {rt::ErrorCode::BadInput, rt::ErrorCode::Internal}) {
    Trial trial{.threads = 1, .faultCode = code};
    EXPECT_THAT(trial.run(outside), HasSubstr("global memory out of bounds"));
    EXPECT_EQ(trial.code, code);
    // A limit, and a CTA to run alone, are the caller's whatever the program.
    trial.options.maxSteps = 1000;
    EXPECT_THAT(trial.run(endless), HasSubstr("instruction limit"));
    EXPECT_EQ(trial.code, rt::ErrorCode::BadInput);
    trial.options.onlyCta = 1;
    EXPECT_THAT(trial.run(outside), HasSubstr("expected a CTA in [0, 0]"));
    EXPECT_EQ(trial.code, rt::ErrorCode::BadInput);
    trial.options.onlyCta = {};
    trial.threads = 2048;
    EXPECT_THAT(trial.run(outside), HasSubstr("threads a CTA"));
    EXPECT_EQ(trial.code, code);
  }
}

TEST(Diagnostics, EndlessLoop) {
  Trial trial{.threads = 1};
  trial.options.maxSteps = 1000;
  EXPECT_THAT(trial.run("llvm.br ^loop\n^loop:\nllvm.cond_br %go, ^loop, ^end\n^end:"),
              HasSubstr("parse"));
  EXPECT_THAT(trial.run("%go = llvm.icmp \"eq\" %c0, %c0 : i32 llvm.br ^loop\n^loop:\n"
                        "llvm.cond_br %go, ^loop, ^end\n^end:"),
              AllOf(HasSubstr("instruction limit: 'llvm.cond_br' at t.mlir:3:"),
                    HasSubstr("1000 emulated instructions")));
}

TEST(Diagnostics, UnknownOp) {
  Trial trial;
  EXPECT_THAT(trial.run("%t = nvvm.read.ptx.sreg.clock : i32"),
              AllOf(HasSubstr("'nvvm.read.ptx.sreg.clock' has no semantics in the emulator"),
                    HasSubstr("t.mlir")));
  EXPECT_THAT(trial.run("%t = llvm.call_intrinsic \"llvm.nvvm.fns\"(%c0, %c0, %c0) : (i32, i32, "
                        "i32) -> i32"),
              HasSubstr("'llvm.nvvm.fns' has no semantics"));
  EXPECT_THAT(trial.run("llvm.inline_asm has_side_effects \"trap;\", \"\" : () -> ()"),
              HasSubstr("'llvm.inline_asm' has no semantics"));
  EXPECT_THAT(trial.run("llvm.call_intrinsic \"llvm.trap\"() : () -> ()"),
              HasSubstr("'llvm.trap' has no semantics"));
  EXPECT_EQ(trial.run("%m = llvm.call_intrinsic \"llvm.smax.i32\"(%c0, %c1) : (i32, i32) -> i32"),
            "");
}

TEST(Diagnostics, WarpCutShort) {
  Trial trial{.threads = 16};
  EXPECT_THAT(
      trial.run("%m = nvvm.ldmatrix %smem {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = "
                "#nvvm.mma_layout<row>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, "
                "n = 8>} : (!llvm.ptr<3>) -> i32"),
      AllOf(HasSubstr("divergent collective: 'nvvm.ldmatrix' at t.mlir:1:"),
            HasSubstr("executed by a warp of 16 threads; it takes 32")));
  EXPECT_THAT(trial.run("nvvm.wgmma.fence.aligned"),
              HasSubstr("executed by a warpgroup of 16 threads; it takes 128"));
}

TEST(Diagnostics, DivisionByZero) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run("%q = llvm.udiv %c1, %tid : i32"), HasSubstr("'llvm.udiv' at t.mlir:1:"));
}

TEST(Diagnostics, Unreachable) {
  Trial trial{.threads = 1};
  EXPECT_THAT(trial.run("%z = llvm.icmp \"eq\" %tid, %c0 : i32 llvm.cond_br %z, ^bad, ^end\n"
                        "^bad:\nllvm.unreachable\n^end:"),
              HasSubstr("'llvm.unreachable' at t.mlir:3:"));
}

TEST(Diagnostics, LaunchesThatDoNotFit) {
  Trial trial{.threads = 2000};
  EXPECT_THAT(trial.run(""), HasSubstr("expected 1 to 1024 threads a CTA on sm_90a, got 2000"));
  trial = {.sharedBytes = 1 << 20};
  EXPECT_THAT(trial.run(""), HasSubstr("bytes of shared memory"));
  trial = {.grid = 0};
  EXPECT_THAT(trial.run(""), HasSubstr("at least one CTA"));
}

TEST(Diagnostics, SharedMemoryOfATarget) {
  const std::pair<const char *, size_t> kBytes[] = {
      {"sm_80", 166912}, {"sm_86", 101376}, {"sm_89", 101376}, {"sm_90a", 232448}};
  for (auto [target, bytes] : kBytes) {
    Trial trial{.sharedBytes = bytes, .target = target};
    EXPECT_EQ(trial.run(""), "");
    ++trial.sharedBytes;
    EXPECT_THAT(trial.run(""), HasSubstr("expected at most " + std::to_string(bytes) +
                                         " bytes of shared memory a CTA on " + target + ", got "));
  }
}

TEST(Diagnostics, OpThatTheTargetLacks) {
  Trial trial{.threads = 1, .target = "sm_80"};
  EXPECT_THAT(trial.run("attn_nv.mbarrier_arrive %smem : !llvm.ptr<3>"),
              AllOf(HasSubstr("the program has ops that sm_80 lacks"),
                    HasSubstr("needs sm_90 or later, got sm_80")));
}
