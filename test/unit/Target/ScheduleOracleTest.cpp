//===- ScheduleOracleTest.cpp - Selection agrees with verification --------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asks selection and verification about every cell of a matrix of problems and targets.
// What they say is also compared with the rules written out a second time here.
//
//===----------------------------------------------------------------------===//

#include "TestProblem.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

int64_t padded(int64_t dim) { return (dim + 15) / 16 * 16; }

int64_t tileBytes(int64_t rows, int64_t dim, int64_t elementBytes) {
  int64_t chunks = padded(dim) * elementBytes / 16;
  if (chunks % 8 != 0 && chunks % 2 == 0)
    ++chunks;
  return (rows * chunks * 16 + 1023) / 1024 * 1024;
}

/// The budgets of a GPU by the rules of fa2, whatever the library says.
bool fitsGpu(const TargetInfo &target, ScheduleAttr s, const ProblemText &text) {
  int64_t bytes = text.element == "f32" ? 4 : 2;
  bool byRows = s.getWarpSplit() == WarpSplit::Rows;
  int64_t rows = s.getQTile() / (byRows ? s.getWarps() : 1);
  int64_t keys = s.getKvTile() / (byRows ? 1 : s.getWarps());
  bool blocks = rows % 16 == 0 && keys % 16 == 0 &&
                (byRows || padded(text.headDimV) % (8 * s.getWarps()) == 0);
  int64_t tiles = tileBytes(s.getQTile(), text.headDimQK, bytes) +
                  s.getStages() * (tileBytes(s.getKvTile(), text.headDimQK, bytes) +
                                   tileBytes(s.getKvTile(), text.headDimV, bytes));
  // Products without tensor cores read P from shared memory, in the type of the tensors.
  if (s.getInstruction() == Instruction::Fma)
    tiles += tileBytes(s.getQTile(), s.getKvTile(), bytes);
  int64_t epilogue = bytes == 4 ? 0 : tileBytes(s.getQTile(), text.headDimV, bytes);
  bool shared = std::max(tiles, epilogue) <= target.sharedBytesPerCta;
  int64_t registers = rows * padded(text.headDimV) / 32 + rows * keys / 32 +
                      (s.getQInRegisters() ? rows * padded(text.headDimQK) * bytes / 128 : 0) + 40;
  bool mma = s.getInstruction() == Instruction::Mma;
  // What has no tensor cores may use its registers up twice.
  int64_t registerLimit = std::min<int64_t>(255, 65536 / (32 * s.getWarps()) / 8 * 8);
  return blocks && shared && (!mma || bytes == 2) && registers <= registerLimit * (mma ? 1 : 2);
}

/// Runs the verification pass; returns its first message.
std::string verify(TestProblem &problem, const TargetInfo &target) {
  std::string message;
  ScopedDiagnosticHandler handler(problem.module->getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  AttnVerifyScheduleOptions options;
  options.target = target.name;
  bool passed = problem.run(createAttnVerifySchedule(options));
  EXPECT_EQ(passed, message.empty()) << message;
  return message;
}

void checkCell(MLIRContext &context, const TargetInfo &target, const ProblemText &text) {
  SCOPED_TRACE(llvm::formatv("{0} {1} {2}/{3} {4} q {5}", target.name, text.element, text.headDimQK,
                             text.headDimV, text.mask, text.seqLenQ)
                   .str());
  TestProblem problem(context, text);
  ASSERT_TRUE(problem.op);
  Selection selection = selectSchedule(problem.op, target);
  ASSERT_TRUE(static_cast<bool>(selection)) << selection.error;

  // Every row up to the one taken: rejected by its condition, or verification agrees.
  llvm::StringMap<std::string> reasons;
  for (const RejectedRow &row : selection.rejected)
    reasons[row.row] = row.reason;
  bool uneven = text.mask != "#attn.none";
  for (const ScheduleRow &row : scheduleTable(target).forward) {
    ScheduleValues values = row.schedule;
    values.order = uneven ? TileOrder::LongestFirst : TileOrder::Linear;
    values.packGqa &= problem.op.canPackGqa();
    ScheduleAttr schedule = toAttr(&context, values);
    problem.op.setScheduleAttr(schedule);
    std::string message = verify(problem, target);
    if (target.isGpu) {
      EXPECT_EQ(message.empty(), fitsGpu(target, schedule, text)) << row.name.str() << message;
    }
    if (row.name == selection.row) {
      EXPECT_EQ(message, "");
      EXPECT_EQ(schedule, selection.schedule);
      break;
    }
    ASSERT_TRUE(reasons.contains(row.name)) << row.name.str();
    bool takesProblem = !matchRow(row.takes, describeProblem(problem.op));
    if (takesProblem && message.empty()) {
      // The schedule is valid, but the row wants more of its CTAs on an SM than fit.
      int64_t bytes = sharedMemoryUse(describeProblem(problem.op), schedule).total();
      EXPECT_GT(row.ctasPerSM * (bytes + target.reservedSharedBytesPerCta),
                target.sharedBytesPerSM);
      EXPECT_NE(reasons[row.name].find("CTAs of the row"), std::string::npos) << reasons[row.name];
    } else if (takesProblem) {
      EXPECT_NE(message.find(reasons[row.name]), std::string::npos) << message;
    }
  }

  // Tensor cores take all 16-bit problems that fit; everything else says why not.
  bool mma = selection.schedule.getInstruction() == Instruction::Mma;
  bool expectMma = target.isGpu && text.element != "f32" && text.headDimV <= 384;
  EXPECT_EQ(mma, expectMma);
  EXPECT_EQ(selection.isFallback, target.isGpu && !expectMma);
  EXPECT_EQ(selection.isFallback, !selection.fallbackReason.empty());
}

class ScheduleOracle : public ::testing::TestWithParam<const char *> {};

} // namespace

TEST_P(ScheduleOracle, AgreesInEveryCell) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  const TargetInfo &target = *findTarget(GetParam());
  for (const char *element : {"f32", "f16", "bf16"})
    for (int64_t dim = 8; dim <= 256; dim += 8)
      for (const char *mask : {"#attn.none", "#attn.causal<bottom_right>", "#attn.window<127, 0>",
                               "#attn.all_of<#attn.causal<top_left>, #attn.window<64, 64>>"})
        checkCell(context, target,
                  {.element = element, .headDimQK = dim, .headDimV = dim, .mask = mask});
}

TEST_P(ScheduleOracle, AgreesForUnequalDimsAndDecode) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  const TargetInfo &target = *findTarget(GetParam());
  for (const char *element : {"f32", "f16", "bf16"})
    for (auto [dimQK, dimV] : {std::pair{192, 128},
                               {64, 256},
                               {256, 64},
                               {128, 512},
                               {256, 512},
                               {8, 512},
                               {40, 264},
                               {128, 384},
                               {80, 80},
                               {128, 128},
                               {16, 104}})
      for (const char *seqLenQ : {"?", "1", "128"})
        checkCell(context, target,
                  {.element = element, .headDimQK = dimQK, .headDimV = dimV, .seqLenQ = seqLenQ});
}

INSTANTIATE_TEST_SUITE_P(Targets, ScheduleOracle,
                         ::testing::Values("cpu", "sm_80", "sm_86", "sm_89", "sm_90"));
