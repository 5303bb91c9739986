//===- ScheduleFileTest.cpp - Schedule files: text, errors, dispatch ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/ScheduleFileText.h"

#include "CompilerTestUtils.h"

#include <gmock/gmock.h>
#include <mlir/AsmParser/AsmParser.h>

using namespace attn;
using attn::test::compilerFor;
using attn::test::spec;
using testing::HasSubstr;

namespace {

KernelSpec causal() { return spec({"dtype=bf16", "head_dim=64", "heads_q=4", "mask=causal"}); }

FileSchedules schedulesOf(const std::string &rows, const std::string &device = "") {
  auto file = parseScheduleFile("{\"attn_schedules\": 1, \"rows\": [" + rows + "]}", "f.json");
  EXPECT_TRUE(file) << file.error().message;
  return {std::make_shared<const ScheduleFile>(std::move(*file)), device};
}

/// A row of sm_80 that differs from the table's in kv_tile; `more` are further keys.
std::string row(const std::string &more = "", const std::string &schedule = "\"kv_tile\": 32") {
  return R"({"name": "mine", "target": "sm_80", )" + more + R"("schedule": {"q_tile": 128, )" +
         schedule + "}}";
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(ScheduleFile, ReadsAllConditionsAndFields) {
  FileSchedules schedules = schedulesOf(R"({
    "name": "all", "target": "sm_90a", "device": "NVIDIA H?00*", "elements": ["f16", "bf16"],
    "head_dim": [8, 128], "head_dim_v": [64, 64], "masks": ["full", "other"],
    "phases": ["decode"], "min_alignment": 16,
    "schedule": {"algorithm": "fa2", "warps": 8, "overlap": true, "persistent": "static"},
    "provenance": {"device": "NVIDIA H200", "driver": "CUDA 13.0", "attn": "x", "problem": "p",
                   "shape": "s", "date": "today", "median_us": 1.5, "second_best_us": 2,
                   "default_us": 3}})");
  const FileRow &read = schedules.file->rows.at(0);
  EXPECT_EQ(read.name, "all");
  EXPECT_EQ(read.device, "NVIDIA H?00*");
  EXPECT_EQ(read.takes.elements, elements::SixteenBit);
  EXPECT_EQ(read.takes.headDimQK.max, 128);
  EXPECT_EQ(read.takes.headDimV.min, 64);
  EXPECT_EQ(read.takes.masks, masks::Full | masks::Other);
  EXPECT_EQ(read.takes.phases, phases::Decode);
  EXPECT_EQ(read.takes.minAlignment, 16);
  EXPECT_EQ(read.schedule.warps, 8);
  EXPECT_EQ(read.schedule.persistent, Persistence::Static);
  EXPECT_FALSE(read.schedule.qTile);
  EXPECT_EQ(read.provenance.driver, "CUDA 13.0");
  EXPECT_EQ(read.provenance.medianUs, 1.5);
  // And back.
  std::string text = toText(schedules.file->rows);
  auto again = parseScheduleFile(text, "again.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(toText(again->rows), text);
}

TEST(ScheduleFile, FieldsLeftOutHaveTheAttributesDefaults) {
  mlir::MLIRContext context;
  context.loadDialect<AttnDialect>();
  auto attribute = mlir::dyn_cast_or_null<ScheduleAttr>(
      mlir::parseAttribute("#attn.schedule<q_tile = 64>", &context));
  ASSERT_TRUE(attribute);
  EXPECT_EQ(scheduleOf(FileRow{}, &context), toValues(attribute));
}

std::string inRow(const std::string &keys) {
  return R"({"attn_schedules": 1, "rows": [{"name": "r", "target": "sm_80", "schedule": {}, )" +
         keys + "}]}";
}
std::string inSchedule(const std::string &fields) {
  return R"({"attn_schedules": 1, "rows": [{"name": "r", "target": "sm_80", "schedule": {)" +
         fields + "}}]}";
}

TEST(ScheduleFile, NamesFileRowKeyAndLimitOfAFault) {
  std::string deep(100, '[');
  std::pair<std::string, std::vector<std::string>> cases[] = {
      {"", {"f.json: not JSON"}},
      {"{\"attn_schedules\": 1, \"rows\": [", {"f.json: not JSON"}},
      {deep, {"deeper than 64"}},
      {"[]", {"expected a schedule file", "\"rows\""}},
      {"{\"rows\": []}", {"expected a schedule file"}},
      {"{\"attn_schedules\": 2, \"rows\": []}", {"expected version 1, got 2"}},
      {"{\"attn_schedules\": 1}", {"rows: expected a list, got nothing"}},
      {"{\"attn_schedules\": 1, \"rows\": {}}", {"rows: expected a list, got {}"}},
      {"{\"attn_schedules\": 1, \"rows\": [], \"row\": 1}", {"unknown key 'row'", "'rows'"}},
      {"{\"attn_schedules\": 1, \"rows\": [7]}", {"rows[0]: expected an object, got 7"}},
      {"{\"attn_schedules\": 1, \"rows\": [{}]}", {"rows[0]: name: expected 1 to 128 letters"}},
      {R"({"attn_schedules": 1, "rows": [{"name": "a b"}]})", {"rows[0] 'a b': name", "'a b'"}},
      {R"({"attn_schedules": 1, "rows": [{"name": 5}]})", {"name: expected a string", "got 5"}},
      {R"({"attn_schedules": 1, "rows": [{"name": "r", "schedule": {}}]})",
       {"rows[0] 'r': target: unknown target ''", "sm_90a"}},
      {R"({"attn_schedules": 1, "rows": [{"name": "r", "target": "sm_70", "schedule": {}}]})",
       {"target: unknown target 'sm_70'"}},
      {R"({"attn_schedules": 1, "rows": [{"name": "r", "target": "cpu"}]})", {"missing schedule"}},
      {R"({"attn_schedules": 1, "rows": [{"name": "r", "target": "cpu", "schedule": {}},
                                         {"name": "r", "target": "cpu", "schedule": {}}]})",
       {"rows[1] 'r'", "a row above has this name"}},
      {R"({"attn_schedules": 1, "rows": [{"name": "r", "target": "cpu", "target": "cpu",
                                          "schedule": {}}]})",
       {"'target' is given twice"}},
      {inRow(R"("head_dim": [64])"), {"rows[0] 'r': head_dim: expected [MIN, MAX]", "512"}},
      {inRow(R"("head_dim": [128, 64])"), {"head_dim", "MIN <= MAX", "[128,64]"}},
      {inRow(R"("head_dim_v": [8, 1024])"), {"head_dim_v", "512"}},
      {inRow(R"("elements": ["bf61"])"), {"elements", "f32, f16, bf16", "did you mean 'bf16'"}},
      {inRow(R"("elements": [])"), {"elements: expected a list"}},
      {inRow(R"("masks": "causal")"), {"masks: expected a list of full, causal, window, other"}},
      {inRow(R"("phases": [3])"), {"phases", "prefill, decode", "got 3"}},
      {inRow(R"("min_alignment": 0)"), {"min_alignment: expected an integer in [1, 256], got 0"}},
      {inRow(R"("device": "[")"), {"device: expected a pattern"}},
      {inRow(R"("mask": ["full"])"), {"unknown key 'mask'", "'masks'"}},
      {inRow(R"("provenance": [])"), {"provenance: expected an object"}},
      {inRow(R"("provenance": {"median_us": -1})"), {"provenance: median_us", "at least 0"}},
      {inSchedule(R"("q_tile": 4096)"), {"schedule: q_tile=4096", "[1, 1024]"}},
      {inSchedule(R"("q_tile": "64")"), {"schedule: q_tile=\"64\"", "integer"}},
      {inSchedule(R"("stages": 2.5)"), {"schedule: stages=2.5", "[1, 8]"}},
      {inSchedule(R"("overlap": 1)"), {"schedule: overlap=1", "true or false"}},
      {inSchedule(R"("order": "longest")"), {"schedule: order=longest", "longest_first"}},
      {inSchedule(R"("instruction": "wmma")"), {"schedule: instruction=wmma", "wgmma"}},
      {inSchedule(R"("kvtile": 64)"), {"schedule: unknown key 'kvtile'", "'kv_tile'"}},
  };
  for (const auto &[text, parts] : cases) {
    auto file = parseScheduleFile(text, "f.json");
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().code, rt::ErrorCode::BadInput);
    EXPECT_THAT(file.error().message, testing::StartsWith("f.json: "));
    for (const std::string &part : parts)
      EXPECT_THAT(file.error().message, HasSubstr(part)) << text;
  }
}

TEST(ScheduleFile, AFileThatIsNotThereIsNamed) {
  auto file = readScheduleFile("nowhere/f.json");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("nowhere/f.json: cannot read: No such file"));
  file = readScheduleFile("/dev/zero");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("/dev/zero: cannot read: expected a regular file"));
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

TEST(ScheduleFile, RowsComeBeforeTheTables) {
  auto chosen = compilerFor("sm_80", schedulesOf(row())).choose(causal());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->row, "mine");
  EXPECT_EQ(chosen->file, "f.json");
  EXPECT_EQ(chosen->schedule.kvTile, 32);
  // Left out, so that it is chosen as for the table's rows.
  EXPECT_EQ(chosen->schedule.order, TileOrder::LongestFirst);

  auto linear =
      compilerFor("sm_80", schedulesOf(row("", "\"order\": \"linear\""))).choose(causal());
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->schedule.order, TileOrder::Linear);
}

TEST(ScheduleFile, PinsReplaceFieldsOfARow) {
  KernelSpec pinned = causal();
  pinned.pins.kvTile = 16;
  auto chosen = compilerFor("sm_80", schedulesOf(row())).choose(pinned);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->row, "mine");
  EXPECT_EQ(chosen->schedule.kvTile, 16);
}

TEST(ScheduleFile, ARowTakesOnlyWhatItSays) {
  for (const char *condition : {R"("elements": ["f16"], )", R"("head_dim": [128, 128], )",
                                R"("head_dim_v": [8, 32], )", R"("masks": ["full", "window"], )",
                                R"("phases": ["decode"], )", R"("min_alignment": 32, )"}) {
    auto chosen = compilerFor("sm_80", schedulesOf(row(condition))).choose(causal());
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->row, "mma_d64") << condition;
    EXPECT_EQ(chosen->file, "") << condition;
  }
  // Rows of other targets do not even show.
  auto explained = compilerFor("sm_86", schedulesOf(row())).explain(causal(), std::nullopt);
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->text, testing::Not(HasSubstr("f.json")));
}

TEST(ScheduleFile, ADeviceIsAPattern) {
  std::string rows = row(R"("device": "NVIDIA A100*", )");
  auto rowOn = [&](const std::string &device) {
    auto chosen = compilerFor("sm_80", schedulesOf(rows, device)).choose(causal());
    return chosen ? chosen->row : chosen.error().message;
  };
  EXPECT_EQ(rowOn("NVIDIA A100-SXM4-80GB"), "mine");
  EXPECT_EQ(rowOn("NVIDIA A30"), "mma_d64");
  EXPECT_EQ(rowOn(""), "mma_d64");
}

TEST(ScheduleFile, ARowThatBreaksABudgetGivesWayWithItsReason) {
  auto explained = compilerFor("sm_80", schedulesOf(row("", "\"kv_tile\": 512, \"stages\": 4")))
                       .explain(causal(), std::nullopt);
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->text, HasSubstr("mma_d64\n"));
  EXPECT_THAT(explained->text,
              HasSubstr("rejected      mine (from f.json): shared memory: expected at most"));
  // Fields that are each in range may contradict each other.
  explained = compilerFor("cpu", schedulesOf(R"({"name": "mine", "target": "cpu",
      "schedule": {"algorithm": "fa1", "split_kv": 2}})"))
                  .explain(causal(), std::nullopt);
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->text, HasSubstr("mine (from f.json): expected split_kv = 1"));
}

TEST(ScheduleFile, ReasonsForTheGenericPathAreTheTables) {
  KernelSpec f32 = spec({"dtype=f32", "head_dim=64", "heads_q=4"});
  auto explained =
      compilerFor("sm_80", schedulesOf(row(R"("masks": ["causal"], )"))).explain(f32, std::nullopt);
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->text, HasSubstr("generic path  element type"));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST(ScheduleFile, TheKeyHasTheScheduleAndNotWhereItIsFrom) {
  auto keyOf = [](const KernelSpec &problem, FileSchedules schedules) {
    auto key = compilerFor("sm_80", std::move(schedules)).key(problem);
    EXPECT_TRUE(key) << key.error().message;
    return *key;
  };
  std::string plain = keyOf(causal(), {}), tuned = keyOf(causal(), schedulesOf(row()));
  EXPECT_NE(plain, tuned);
  // The same schedule from another file, another device and pins.
  FileSchedules other = schedulesOf(row("\"device\": \"A*\", "), "A100");
  EXPECT_EQ(keyOf(causal(), other), tuned);
  KernelSpec pinned = causal();
  pinned.pins = toPins(compilerFor("sm_80", schedulesOf(row())).choose(causal())->schedule);
  EXPECT_EQ(keyOf(pinned, {}), tuned);
  // A file whose rows do not match changes nothing.
  EXPECT_EQ(keyOf(causal(), schedulesOf(row("\"masks\": [\"full\"], "))), plain);
}

TEST(ScheduleFile, AliasesTellFilesAndDevicesApart) {
  auto aliasOf = [](FileSchedules schedules) {
    return compilerFor("sm_80", std::move(schedules)).alias(causal()).text;
  };
  std::string plain = aliasOf({}), tuned = aliasOf(schedulesOf(row()));
  EXPECT_NE(plain, tuned);
  EXPECT_NE(aliasOf(schedulesOf(row("", "\"kv_tile\": 16"))), tuned);
  EXPECT_NE(aliasOf(schedulesOf(row(), "A100")), tuned);
  EXPECT_EQ(aliasOf(schedulesOf(row())), tuned);
}

TEST(ScheduleFile, ACachedKernelOfOneFileIsNotThatOfAnother) {
  rt::Metrics metrics;
  rt::KernelCache cache(nullptr, metrics);
  auto keyIn = [&](FileSchedules schedules) {
    auto artifact =
        compilerFor("sm_80", std::move(schedules)).compile(causal(), rt::PayloadKind::Ptx, cache);
    EXPECT_TRUE(artifact) << artifact.error().message;
    return (*artifact)->key();
  };
  std::string plain = keyIn({});
  EXPECT_NE(keyIn(schedulesOf(row())), plain);
  EXPECT_EQ(keyIn({}), plain);
}

} // namespace
