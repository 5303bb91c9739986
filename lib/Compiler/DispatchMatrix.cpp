//===- DispatchMatrix.cpp - Which row each problem gets -------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/DispatchMatrix.h"

#include "SpecValues.h"
#include "attn/Compiler/BuildProblem.h"
#include "attn/Dispatch/ScheduleSelection.h"

#include <map>
#include <set>

using namespace mlir;
using namespace attn;

namespace {

/// An axis of the grid, and how a spec gets its value `i`.
struct GridAxis {
  MatrixAxis axis;
  std::function<void(KernelSpec &, size_t i)> apply;
};

/// Something that may stand on any problem of the grid.
struct Feature {
  std::string name;
  std::function<void(KernelSpec &)> apply;
};

/// Goes through a grid on one target.
class GridReader {
public:
  GridReader(const TargetInfo &target) : target(target) { loadProblemDialects(context); }

  /// The kernel of each problem, the last axis fastest.
  std::vector<MatrixKernel> read(ArrayRef<GridAxis> axes, const Feature *feature);

private:
  MatrixKernel select(const KernelSpec &spec);

  MLIRContext context;
  const TargetInfo &target;
};

} // namespace

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// An axis whose values are those of an enum of the spec.
template <class E>
static GridAxis enumAxis(StringRef name, std::vector<E> values, E KernelSpec::*field) {
  GridAxis result{{name.str(), {}}, {}};
  for (E value : values)
    result.axis.values.push_back(spec::valueText(value));
  result.apply = [values = std::move(values), field](KernelSpec &spec, size_t i) {
    spec.*field = values[i];
  };
  return result;
}

/// An axis of multiples of 8 up to a limit.
static GridAxis dimAxis(StringRef name, int64_t max,
                        std::function<void(KernelSpec &, int64_t)> set) {
  GridAxis result{{name.str(), {}, /*isRange=*/true}, {}};
  for (int64_t dim = 8; dim <= max; dim += 8)
    result.axis.values.push_back(std::to_string(dim));
  result.apply = [set = std::move(set)](KernelSpec &spec, size_t i) {
    set(spec, 8 * (static_cast<int64_t>(i) + 1));
  };
  return result;
}

/// The lengths that rows of the target's table ask for, and more; nothing where none asks.
static std::optional<GridAxis> lengthAxis(const TargetInfo &target) {
  std::set<int64_t> lengths;
  for (const ScheduleRow &row : scheduleTable(target).forward)
    if (row.takes.maxSeqLen != 0)
      lengths.insert(row.takes.maxSeqLen);
  if (lengths.empty())
    return std::nullopt;
  std::vector<int64_t> bounds(lengths.begin(), lengths.end());
  GridAxis result{{"max_seq_len", {}}, {}};
  for (int64_t bound : bounds)
    result.axis.values.push_back(std::to_string(bound));
  result.axis.values.push_back("longer");
  result.apply = [bounds](KernelSpec &spec, size_t i) {
    if (i < bounds.size())
      spec.maxSeqLen = bounds[i];
  };
  return result;
}

static std::vector<GridAxis> sharedAxes(const TargetInfo &target) {
  using rt::ElementType;
  std::vector<GridAxis> axes;
  axes.push_back(enumAxis("phase", std::vector{Phase::Prefill, Phase::Decode}, &KernelSpec::phase));
  axes.push_back(enumAxis("dtype",
                          std::vector{ElementType::F32, ElementType::F16, ElementType::BF16},
                          &KernelSpec::dtype));
  axes.push_back({{"mask", {"none", "causal", "window"}}, [](KernelSpec &spec, size_t i) {
                    const MaskKind kinds[] = {MaskKind::None, MaskKind::Causal, MaskKind::Window};
                    spec.mask = kinds[i];
                    if (spec.mask == MaskKind::Window)
                      spec.windowLeft = spec.windowRight = 128;
                  }});
  if (std::optional<GridAxis> lengths = lengthAxis(target))
    axes.push_back(std::move(*lengths));
  return axes;
}

static std::vector<GridAxis> equalDimsAxes(const TargetInfo &target) {
  std::vector<GridAxis> axes = sharedAxes(target);
  axes.push_back({{"alignment", {"16", "8", "4", "2"}}, [](KernelSpec &spec, size_t i) {
                    // Tensors of f32 promise the 4 bytes of an element.
                    spec.alignment = std::max<int64_t>(16 >> i, rt::byteSize(spec.dtype));
                  }});
  axes.push_back(dimAxis(
      "head_dim", 256, [](KernelSpec &spec, int64_t dim) { spec.headDim = spec.headDimV = dim; }));
  return axes;
}

static std::vector<GridAxis> unequalDimsAxes(const TargetInfo &target) {
  std::vector<GridAxis> axes = sharedAxes(target);
  axes.push_back(
      dimAxis("head_dim", 256, [](KernelSpec &spec, int64_t dim) { spec.headDim = dim; }));
  axes.push_back(
      dimAxis("head_dim_v", 512, [](KernelSpec &spec, int64_t dim) { spec.headDimV = dim; }));
  return axes;
}

/// The heads of a problem without features.
constexpr int64_t kHeads = 8;

static std::vector<Feature> features() {
  std::vector<Feature> all{
      {"heads_kv = heads_q / 4", [](KernelSpec &spec) { spec.headsKV = kHeads / 4; }},
      {"heads_kv = 1", [](KernelSpec &spec) { spec.headsKV = 1; }},
      {"alibi=true", [](KernelSpec &spec) { spec.alibi = true; }},
      {"softcap=50", [](KernelSpec &spec) { spec.softcap = 50; }},
      {"lse=false", [](KernelSpec &spec) { spec.lse = false; }},
      {"out=f32", [](KernelSpec &spec) { spec.out = rt::ElementType::F32; }},
      {"masks aligned top left", [](KernelSpec &spec) {
         if (spec.mask == MaskKind::Causal)
           spec.mask = MaskKind::CausalTopLeft;
         else if (spec.mask == MaskKind::Window)
           spec.mask = MaskKind::WindowTopLeft;
       }}};
  all.push_back({"all of these", [each = all](KernelSpec &spec) {
                   for (const Feature &feature : each)
                     feature.apply(spec);
                 }});
  return all;
}

//===----------------------------------------------------------------------===//
// Asking selection
//===----------------------------------------------------------------------===//

MatrixKernel GridReader::select(const KernelSpec &spec) {
  OwningOpRef<ModuleOp> module = buildProblem(spec, context);
  MatrixKernel kernel;
  module->walk([&](ForwardOp op) {
    Selection selection = chooseSchedule(op, target);
    if (!selection)
      return;
    kernel.row = selection.row;
    kernel.instruction = fieldText(selection.schedule.getInstruction());
    kernel.qTile = selection.schedule.getQTile();
    kernel.kvTile = selection.schedule.getKvTile();
    kernel.stages = selection.schedule.getStages();
  });
  return kernel;
}

std::vector<MatrixKernel> GridReader::read(ArrayRef<GridAxis> axes, const Feature *feature) {
  std::vector<size_t> at(axes.size(), 0);
  std::vector<MatrixKernel> kernels;
  while (true) {
    KernelSpec spec;
    spec.headsQ = spec.headsKV = kHeads;
    for (auto [axis, i] : llvm::zip_equal(axes, at))
      axis.apply(spec, i);
    spec.out = spec.dtype;
    if (feature)
      feature->apply(spec);
    kernels.push_back(select(spec));
    size_t last = axes.size();
    while (last > 0 && ++at[last - 1] == axes[last - 1].axis.values.size())
      at[--last] = 0;
    if (last == 0)
      return kernels;
  }
}

//===----------------------------------------------------------------------===//
// Collapsing
//===----------------------------------------------------------------------===//

/// Joins cells that differ in nothing but this axis.
static std::vector<MatrixCell> joinAlong(size_t axis, std::vector<MatrixCell> cells) {
  std::map<MatrixCell, uint64_t> sets;
  for (MatrixCell &cell : cells) {
    uint64_t set = std::exchange(cell.sets[axis], 0);
    sets[cell] |= set;
  }
  std::vector<MatrixCell> joined;
  for (const auto &[rest, set] : sets) {
    joined.push_back(rest);
    joined.back().sets[axis] = set;
  }
  return joined;
}

/// The cells of a grid; those that `isShown` refuses are left out.
static MatrixTable collapse(ArrayRef<GridAxis> grid, ArrayRef<MatrixKernel> kernels,
                            llvm::function_ref<bool(size_t)> isShown) {
  MatrixTable table;
  for (const GridAxis &axis : grid)
    table.axes.push_back(axis.axis);
  for (size_t index = 0; index < kernels.size(); ++index) {
    if (!isShown(index))
      continue;
    MatrixCell cell{std::vector<uint64_t>(grid.size()), kernels[index]};
    size_t rest = index;
    for (size_t axis = grid.size(); axis-- > 0;) {
      size_t count = table.axes[axis].values.size();
      cell.sets[axis] = uint64_t(1) << rest % count;
      rest /= count;
    }
    table.cells.push_back(std::move(cell));
  }
  // Head dims first, whose limits are those of the rows.
  for (size_t axis = grid.size(); axis-- > 0;)
    table.cells = joinAlong(axis, std::move(table.cells));
  llvm::sort(table.cells);
  return table;
}

DispatchMatrix attn::makeDispatchMatrix(const TargetInfo &target) {
  GridReader reader(target);
  auto all = [](size_t) { return true; };
  DispatchMatrix matrix;
  std::vector<GridAxis> grid = unequalDimsAxes(target);
  matrix.unequalDims = collapse(grid, reader.read(grid, nullptr), all);
  grid = equalDimsAxes(target);
  std::vector<MatrixKernel> plain = reader.read(grid, nullptr);
  matrix.equalDims = collapse(grid, plain, all);
  for (const Feature &feature : features()) {
    std::vector<MatrixKernel> kernels = reader.read(grid, &feature);
    matrix.features.push_back(
        {feature.name, collapse(grid, kernels, [&](size_t i) { return kernels[i] != plain[i]; })});
  }
  return matrix;
}

std::vector<SharedMatrix> attn::makeDispatchMatrices(ArrayRef<TargetInfo> targets) {
  std::vector<SharedMatrix> matrices;
  for (const TargetInfo &target : targets) {
    DispatchMatrix matrix = makeDispatchMatrix(target);
    auto same = llvm::find_if(matrices,
                              [&](const SharedMatrix &shared) { return shared.matrix == matrix; });
    if (same == matrices.end())
      matrices.push_back({{target.name}, std::move(matrix)});
    else
      same->targets.push_back(target.name);
  }
  return matrices;
}
