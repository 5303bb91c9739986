//===- AtomicsTest.cpp - Atomic read-modify-write -------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

#include <cstring>

using namespace attn;
using namespace attn::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// What one op leaves and returns: of `before`, with one operand.
struct AtomicCase {
  const char *op;
  int64_t before, operand, after;
};

/// Negative numbers are large unsigned ones.
constexpr AtomicCase kCases[] = {
    {"add", 40, 2, 42},     {"sub", 40, 2, 38},     {"xchg", 40, 2, 2},     {"_and", 12, 10, 8},
    {"_or", 12, 10, 14},    {"_xor", 12, 10, 6},    {"max", -1, 3, 3},      {"max", 5, -7, 5},
    {"min", -1, 3, -1},     {"umax", -1, 3, -1},    {"umin", -1, 3, 3},     {"uinc_wrap", 4, 6, 5},
    {"uinc_wrap", 6, 6, 0}, {"uinc_wrap", 9, 6, 0}, {"uinc_wrap", 0, 0, 0}, {"udec_wrap", 4, 6, 3},
    {"udec_wrap", 0, 6, 6}, {"udec_wrap", 9, 6, 6},
};

/// Runs the op on x[0] or a copy of it in shared memory; what it returns goes to x[2].
void expectAtomic(const AtomicCase &each, const std::string &type, bool isShared) {
  Trial trial{.threads = 1};
  const size_t bytes = type == "i64" ? 8 : 4;
  std::memcpy(trial.x.data(), &each.before, bytes);
  const std::string space = isShared ? "3" : "1", at = isShared ? "%smem" : "%x";
  const std::string global = " : " + type + ", !llvm.ptr<1> ", in = " : !llvm.ptr<1> -> " + type;
  std::string body = "%operand = llvm.mlir.constant(" + std::to_string(each.operand) + " : " +
                     type + ") : " + type + " ";
  if (isShared)
    body += "%v = llvm.load %x" + in + " llvm.store %v, %smem : " + type + ", !llvm.ptr<3> ";
  body += "%old = llvm.atomicrmw " + std::string(each.op) + " " + at +
          ", %operand syncscope(\"device\") monotonic : !llvm.ptr<" + space + ">, " + type + " ";
  if (isShared)
    body += "%w = llvm.load %smem : !llvm.ptr<3> -> " + type + " llvm.store %w, %x" + global;
  body += "%to = llvm.getelementptr %x[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32 "
          "llvm.store %old, %to" +
          global;
  ASSERT_EQ(trial.run(body), "") << body;
  const std::string what = std::string(each.op) + " " + type + (isShared ? " shared" : " global");
  EXPECT_EQ(std::memcmp(&trial.x[0], &each.after, bytes), 0) << what << ": " << trial.x[0];
  EXPECT_EQ(std::memcmp(&trial.x[2], &each.before, bytes), 0) << what << ": " << trial.x[2];
}

} // namespace

TEST(Atomics, OperationsOfBothTypesAndMemories) {
  for (const AtomicCase &each : kCases)
    for (const char *type : {"i32", "i64"})
      for (bool isShared : {false, true})
        expectAtomic(each, type, isShared);
}

TEST(Atomics, EveryDrawHasANumberOfItsOwn) {
  // As many draws as the bound has numbers: the counter is back at 0. CTAs take turns.
  for (unsigned interleave : {1, 4}) {
    Trial trial{.threads = 8, .grid = 4};
    trial.options.interleave = interleave;
    ASSERT_EQ(trial.run("%n = llvm.atomicrmw uinc_wrap %x, %c31 monotonic : !llvm.ptr<1>, i32 "
                        "%at = llvm.add %n, %c1 : i32 "
                        "%to = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
                        "i32 llvm.store %at, %to : i32, !llvm.ptr<1>"),
              "");
    for (int i = 0; i <= 32; ++i)
      EXPECT_EQ(trial.x[i], i);
  }
}

TEST(Atomics, CompareAndExchange) {
  Trial trial{.threads = 32};
  EXPECT_EQ(trial.run("%r = llvm.cmpxchg %x, %c0, %c1 acq_rel monotonic : !llvm.ptr<1>, i32 "
                      "%won = llvm.extractvalue %r[1] : !llvm.struct<(i32, i1)> "
                      "%one = llvm.zext %won : i1 to i32 "
                      "%at = llvm.getelementptr %x[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32 "
                      "%old = llvm.atomicrmw add %at, %one monotonic : !llvm.ptr<1>, i32"),
            "");
  EXPECT_EQ(trial.x[0], 1);
  EXPECT_EQ(trial.x[1], 1);
}

TEST(Atomics, AreCheckedAsLoadsAre) {
  auto draw = [](const std::string &address, const std::string &space) {
    return Trial{.threads = 1, .sharedBytes = 16}.run(
        address + "\n%old = llvm.atomicrmw uinc_wrap %p, %c31 monotonic : !llvm.ptr<" + space +
        ">, i32");
  };
  auto global = [](int64_t byte) {
    return "%p = llvm.getelementptr %x[" + std::to_string(byte) +
           "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8";
  };
  auto shared = [](int64_t byte) {
    return "llvm.store %c0, %smem : i32, !llvm.ptr<3> %p = llvm.getelementptr %smem[" +
           std::to_string(byte) + "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8";
  };
  EXPECT_EQ(draw(global(0), "1"), "");
  EXPECT_EQ(draw(shared(0), "3"), "");
  EXPECT_THAT(draw(global(256), "1"),
              AllOf(HasSubstr("global memory out of bounds: 'llvm.atomicrmw' at t.mlir:2:"),
                    HasSubstr("past the end of 'x' [8, 8]")));
  EXPECT_THAT(draw(global(2), "1"), HasSubstr("misaligned address"));
  EXPECT_THAT(draw(shared(16), "3"), HasSubstr("shared memory out of bounds: 'llvm.atomicrmw'"));
  EXPECT_THAT(draw(shared(2), "3"), HasSubstr("misaligned address"));
  EXPECT_THAT(draw(shared(4), "3"),
              AllOf(HasSubstr("uninitialized read: 'llvm.atomicrmw'"),
                    HasSubstr("atomic access of shared offset 4, which nobody has written")));
}

/// Thread 0 initializes the word; `others` is what each thread does then.
static std::string afterInit(const std::string &others) {
  return R"(
    %zero = llvm.icmp "eq" %tid, %c0 : i32
    llvm.cond_br %zero, ^init, ^go
  ^init:
    llvm.store %c0, %smem : i32, !llvm.ptr<3>
    llvm.br ^go
  ^go:
    nvvm.barrier0
    )" + others;
}

TEST(Atomics, DoNotRaceWithEachOther) {
  Trial trial;
  EXPECT_EQ(trial.run(afterInit(R"(
    %old = llvm.atomicrmw add %smem, %c1 monotonic : !llvm.ptr<3>, i32
    nvvm.barrier0
    %sum = llvm.load %smem : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %sum, %to : i32, !llvm.ptr<1>)")),
            "");
  EXPECT_EQ(trial.x[31], 32);
}

TEST(Atomics, RaceWithPlainAccesses) {
  const std::string atomic = "%old = llvm.atomicrmw add %smem, %c1 monotonic : !llvm.ptr<3>, i32\n";
  const std::string load = "%v = llvm.load %smem : !llvm.ptr<3> -> i32\n";
  const std::string store = "llvm.store %tid, %smem : i32, !llvm.ptr<3>\n";
  for (const std::string &body : {atomic + load, load + atomic, atomic + store, store + atomic})
    EXPECT_THAT(Trial{}.run(afterInit(body)), AllOf(HasSubstr("race: "), HasSubstr("not ordered")))
        << body;
}
