//===- DispatchMatrixText.cpp - The dispatch matrix as text and JSON ------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/DispatchMatrix.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/raw_ostream.h>

using namespace attn;
using llvm::formatv;
using llvm::StringRef;

static llvm::SmallVector<StringRef> valuesOf(const MatrixAxis &axis, uint64_t set) {
  llvm::SmallVector<StringRef> values;
  for (auto [i, value] : llvm::enumerate(axis.values))
    if (set >> i & 1)
      values.push_back(value);
  return values;
}

/// The first and the last value of each range of neighbours.
static llvm::SmallVector<std::pair<StringRef, StringRef>> rangesOf(const MatrixAxis &axis,
                                                                   uint64_t set) {
  llvm::SmallVector<std::pair<StringRef, StringRef>> ranges;
  for (auto [i, value] : llvm::enumerate(axis.values)) {
    if (!(set >> i & 1))
      continue;
    bool follows = i > 0 && (set >> (i - 1) & 1);
    if (!follows)
      ranges.push_back({value, value});
    ranges.back().second = value;
  }
  return ranges;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string setText(const MatrixAxis &axis, uint64_t set) {
  llvm::SmallVector<StringRef> values = valuesOf(axis, set);
  if (values.size() == axis.values.size())
    return "any";
  if (!axis.isRange)
    return llvm::join(values, ", ");
  llvm::SmallVector<std::string> texts;
  for (auto [first, last] : rangesOf(axis, set))
    texts.push_back(first == last ? first.str() : (first + " to " + last).str());
  return llvm::join(texts, ", ");
}

/// Lines of a Markdown table.
class TableLines {
public:
  explicit TableLines(std::string &text) : os(text) {}
  void add(llvm::ArrayRef<std::string> fields) {
    os << "| " << llvm::join(fields, " | ") << " |\n";
  }

private:
  llvm::raw_string_ostream os;
};

static std::vector<std::string> fieldsOf(const MatrixTable &table, const MatrixCell &cell) {
  std::vector<std::string> fields;
  for (auto [axis, set] : llvm::zip_equal(table.axes, cell.sets))
    fields.push_back(setText(axis, set));
  const MatrixKernel &kernel = cell.kernel;
  if (kernel.row.empty())
    fields.insert(fields.end(), {"none: refused", "", "", ""});
  else
    fields.insert(fields.end(), {"`" + kernel.row + "`", kernel.instruction,
                                 formatv("{0} x {1}", kernel.qTile, kernel.kvTile).str(),
                                 std::to_string(kernel.stages)});
  return fields;
}

static void addTable(std::string &text, const MatrixTable &table) {
  std::vector<std::string> heading;
  for (const MatrixAxis &axis : table.axes)
    heading.push_back(axis.name);
  heading.insert(heading.end(), {"row", "instruction", "q_tile x kv_tile", "stages"});
  TableLines lines(text);
  lines.add(heading);
  lines.add(std::vector<std::string>(heading.size(), "---"));
  for (const MatrixCell &cell : table.cells)
    lines.add(fieldsOf(table, cell));
  text += "\n";
}

static void addFeatures(std::string &text, llvm::ArrayRef<MatrixFeature> features) {
  llvm::SmallVector<StringRef> without;
  for (const MatrixFeature &feature : features)
    if (feature.changed.cells.empty())
      without.push_back(feature.name);
  if (!without.empty())
    text += "These change no row: " + llvm::join(without, "; ") + ".\n\n";
  for (const MatrixFeature &feature : features) {
    if (feature.changed.cells.empty())
      continue;
    text += "With " + feature.name + ", other than above:\n\n";
    addTable(text, feature.changed);
  }
}

std::string attn::toText(llvm::ArrayRef<SharedMatrix> matrices) {
  std::string text;
  for (const SharedMatrix &shared : matrices) {
    text += "## " + llvm::join(shared.targets, ", ") + "\n\n";
    text += "Equal head dims, `head_dim_v` = `head_dim`:\n\n";
    addTable(text, shared.matrix.equalDims);
    addFeatures(text, shared.matrix.features);
    text += "Any head dims, at `alignment` 16:\n\n";
    addTable(text, shared.matrix.unequalDims);
  }
  // One newline at the end, as files have it.
  text.pop_back();
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// A number where the value is one: names of the same axis stay words.
static llvm::json::Value valueJson(StringRef value) {
  int64_t number;
  if (!value.getAsInteger(10, number))
    return number;
  return value;
}

static llvm::json::Array tableJson(const MatrixTable &table) {
  llvm::json::Array cells;
  for (const MatrixCell &cell : table.cells) {
    llvm::json::Object object;
    for (auto [axis, set] : llvm::zip_equal(table.axes, cell.sets)) {
      llvm::json::Array values;
      if (axis.isRange)
        for (auto [first, last] : rangesOf(axis, set))
          values.push_back(llvm::json::Object{{"min", valueJson(first)}, {"max", valueJson(last)}});
      else
        for (StringRef value : valuesOf(axis, set))
          values.push_back(valueJson(value));
      object[axis.name] = std::move(values);
    }
    const MatrixKernel &kernel = cell.kernel;
    if (kernel.row.empty()) {
      object["row"] = nullptr;
    } else {
      object["row"] = kernel.row;
      object["instruction"] = kernel.instruction;
      object["q_tile"] = kernel.qTile;
      object["kv_tile"] = kernel.kvTile;
      object["stages"] = kernel.stages;
    }
    cells.push_back(std::move(object));
  }
  return cells;
}

llvm::json::Value attn::toJson(llvm::ArrayRef<SharedMatrix> matrices) {
  llvm::json::Array all;
  for (const SharedMatrix &shared : matrices) {
    llvm::json::Array features;
    for (const MatrixFeature &feature : shared.matrix.features)
      features.push_back(
          llvm::json::Object{{"feature", feature.name}, {"changed", tableJson(feature.changed)}});
    all.push_back(llvm::json::Object{{"targets", llvm::json::Array(shared.targets)},
                                     {"equal_head_dims", tableJson(shared.matrix.equalDims)},
                                     {"any_head_dims", tableJson(shared.matrix.unequalDims)},
                                     {"features", std::move(features)}});
  }
  return llvm::json::Object{{"matrices", std::move(all)}};
}
