//===- ExplanationText.cpp - Explanations as text and JSON ----------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dispatch/Explanation.h"

using namespace mlir;
using namespace attn;

static std::string attributeText(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

/// Lines of "label   text".
class Lines {
public:
  explicit Lines(std::string &text) : os(text) {}
  void add(StringRef label, const Twine &line) {
    os << llvm::left_justify(label, 14) << line << "\n";
  }

private:
  llvm::raw_string_ostream os;
};

} // namespace

static void addResources(Lines &lines, const Resources &use) {
  const RegisterUse &registers = use.registers;
  lines.add("registers",
            llvm::formatv("about {0} a thread of {1} (O {2}, S {3}, Q {4}, {5}other {6}){7}",
                          registers.total(), use.registerLimit, registers.o, registers.s,
                          registers.q,
                          registers.p ? llvm::formatv("P {0}, ", registers.p).str() : "",
                          registers.other, registers.total() > use.registerLimit ? ": spills" : "")
                .str());
  lines.add("shared memory",
            llvm::formatv("{0} bytes a CTA of {1} (Q {2}, K {3}, V {4}, epilogue {5} over them)",
                          use.shared.total(), use.sharedLimit, use.shared.q, use.shared.k,
                          use.shared.v, use.shared.epilogue)
                .str());
  lines.add("occupancy",
            llvm::formatv("{0} CTAs an SM, limited by {1}", use.ctasPerSM, use.limitedBy).str());
}

static std::string gridText(const Work &work, bool isGpu) {
  if (work.isPersistent)
    return llvm::formatv("{0} tiles on {1} persistent CTAs, {2:F2} tiles a CTA", work.tiles,
                         work.ctas, work.tilesPerCta());
  return llvm::formatv("{0} {1}, {2:F2} waves", work.ctas, isGpu ? "CTAs" : "tasks", work.waves);
}

static void addWork(Lines &lines, const Work &work, bool hasGrid, bool isGpu) {
  lines.add("shape", llvm::formatv("batch {0}, seq_q {1}, seq_kv {2}", work.shape.batch,
                                   work.shape.seqLenQ, work.shape.seqLenKV)
                         .str());
  if (hasGrid)
    lines.add("grid", gridText(work, isGpu));
  lines.add("work",
            llvm::formatv("{0}{1:F3} GFLOP, {2:F3} MB", work.pairsAreExact ? "" : "at most ",
                          work.flops * 1e-9, work.bytes * 1e-6)
                .str());
  for (const Roofline &roof : work.rooflines)
    lines.add("roofline",
              llvm::formatv("{0:F2} us, {1:F1} TFLOP/s, {2} bound ({3} rates: {4})", roof.boundUs,
                            roof.tflops, roof.isMemoryBound ? "memory" : "compute",
                            toText(roof.rates.source), roof.rates.device)
                  .str());
}

std::string Explanation::toText() const {
  std::string text;
  Lines lines(text);
  lines.add("problem", problem);
  lines.add("target", target);
  if (selection) {
    lines.add("row", rowText(selection.row, selection.file));
    lines.add("schedule", attributeText(selection.schedule));
  } else {
    lines.add("error", selection.error);
  }
  if (selection.isFallback)
    lines.add("generic path", selection.fallbackReason);
  for (const RejectedRow &row : selection.rejected)
    lines.add("rejected", rowText(row.row, row.file) + ": " + row.reason);
  if (resources)
    addResources(lines, *resources);
  if (work)
    addWork(lines, *work, static_cast<bool>(selection), resources.has_value());
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Object scheduleJson(ScheduleAttr schedule) {
  llvm::json::Object object;
  const ScheduleValues values = toValues(schedule);
  visitSchedule(
      [&](StringRef name, const auto &value) {
        if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>)
          object[name] = fieldText(value);
        else
          object[name] = value;
      },
      values);
  return object;
}

static llvm::json::Object resourcesJson(const Resources &use) {
  return llvm::json::Object{{"registers", llvm::json::Object{{"estimate", use.registers.total()},
                                                             {"o", use.registers.o},
                                                             {"s", use.registers.s},
                                                             {"q", use.registers.q},
                                                             {"p", use.registers.p},
                                                             {"other", use.registers.other},
                                                             {"limit", use.registerLimit}}},
                            {"shared_memory", llvm::json::Object{{"bytes", use.shared.total()},
                                                                 {"q", use.shared.q},
                                                                 {"k", use.shared.k},
                                                                 {"v", use.shared.v},
                                                                 {"epilogue", use.shared.epilogue},
                                                                 {"limit", use.sharedLimit}}},
                            {"ctas_per_sm", use.ctasPerSM},
                            {"limited_by", use.limitedBy}};
}

static llvm::json::Object workJson(const Work &work, bool hasGrid) {
  llvm::json::Array rooflines;
  for (const Roofline &roof : work.rooflines)
    rooflines.push_back(llvm::json::Object{{"device", roof.rates.device},
                                           {"source", toText(roof.rates.source)},
                                           {"compute_us", roof.computeUs},
                                           {"memory_us", roof.memoryUs},
                                           {"bound_us", roof.boundUs},
                                           {"tflops", roof.tflops},
                                           {"bound", roof.isMemoryBound ? "memory" : "compute"}});
  llvm::json::Object object{{"batch", work.shape.batch},     {"seq_q", work.shape.seqLenQ},
                            {"seq_kv", work.shape.seqLenKV}, {"pairs", work.pairs},
                            {"exact", work.pairsAreExact},   {"flops", work.flops},
                            {"bytes", work.bytes},           {"rooflines", std::move(rooflines)}};
  if (hasGrid) {
    object["ctas"] = work.ctas;
    if (work.isPersistent) {
      object["tiles"] = work.tiles;
      object["tiles_per_cta"] = work.tilesPerCta();
    } else {
      object["waves"] = work.waves;
    }
  }
  return object;
}

llvm::json::Value Explanation::toJson() const {
  llvm::json::Array rejected;
  for (const RejectedRow &row : selection.rejected) {
    llvm::json::Object entry{{"row", row.row}, {"reason", row.reason}};
    if (!row.file.empty())
      entry["file"] = row.file;
    rejected.push_back(std::move(entry));
  }
  llvm::json::Object object{{"problem", problem},
                            {"target", target},
                            {"rejected", std::move(rejected)},
                            {"generic_path", selection.isFallback}};
  if (selection) {
    object["row"] = selection.row;
    if (!selection.file.empty())
      object["file"] = selection.file;
    object["schedule"] = scheduleJson(selection.schedule);
  } else {
    object["error"] = selection.error;
  }
  if (selection.isFallback)
    object["generic_reason"] = selection.fallbackReason;
  if (resources)
    object["resources"] = resourcesJson(*resources);
  if (work)
    object["work"] = workJson(*work, static_cast<bool>(selection));
  return object;
}
