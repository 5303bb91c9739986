//===- RunReport.cpp - What a run says ------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Tools/RunProblem.h"

#include <cmath>

using namespace attn;
using llvm::formatv;

/// JSON has no NaN and no infinity.
static llvm::json::Value number(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

static std::string toText(const ErrorReport &error, llvm::StringRef against) {
  std::string rows = error.checkedRows == error.totalRows
                         ? std::string()
                         : formatv(", {0} of {1} rows", error.checkedRows, error.totalRows).str();
  return formatv("error      max {0:e2}, mean {1:e2}, relative {2:e2} (limit {3:e1}) against {4}{5}"
                 ": {6}\n",
                 error.maxAbs, error.meanAbs, error.relative, error.tolerance, against, rows,
                 error.passed ? "passed" : "FAILED: " + error.failure);
}

std::string RunReport::toText() const {
  std::string text =
      formatv("problem    {0}\nshape      {1}\ndevice     {2}\n", problem, shape, device);
  if (error)
    text += ::toText(*error, "float64");
  if (expected)
    text += ::toText(*expected, "the expected file");
  text +=
      formatv("time       {0:F3} ms median, {1:F3} ms p95, {2:F3} TFLOP/s (compile {3:F0} ms)\n",
              medianMs, p95Ms, tflops, compileMs);
  return text;
}

static llvm::json::Value toJson(const std::optional<ErrorReport> &error) {
  if (!error)
    return nullptr;
  return llvm::json::Object{{"max_abs", number(error->maxAbs)},
                            {"mean_abs", number(error->meanAbs)},
                            {"relative", number(error->relative)},
                            {"naive_max_abs", number(error->naiveMaxAbs)},
                            {"lse_max", number(error->lseMaxAbs)},
                            {"tolerance", error->tolerance},
                            {"checked_rows", error->checkedRows},
                            {"total_rows", error->totalRows},
                            {"passed", error->passed},
                            {"failure", error->failure}};
}

llvm::json::Value RunReport::toJson() const {
  return llvm::json::Object{{"problem", problem},
                            {"shape", shape},
                            {"device", device},
                            {"digest", digest},
                            {"passed", passed()},
                            {"error", ::toJson(error)},
                            {"expected", ::toJson(expected)},
                            {"median_ms", medianMs},
                            {"p95_ms", p95Ms},
                            {"tflops", tflops},
                            {"compile_ms", compileMs}};
}
