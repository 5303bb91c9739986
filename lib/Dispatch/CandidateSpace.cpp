//===- CandidateSpace.cpp - The schedules that a search may try -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dispatch/CandidateSpace.h"

#include <cmath>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Values worth trying
//===----------------------------------------------------------------------===//

CandidateSpace attn::spaceOf(const ScheduleValues &schedule) {
  CandidateSpace space;
  visitSchedule([](StringRef, auto &choices, const auto &value) { choices.assign(1, value); },
                space, schedule);
  return space;
}

bool attn::isWithin(const ScheduleValues &schedule, const CandidateSpace &given) {
  bool isIn = true;
  visitSchedule(
      [&](StringRef, const auto &value, const auto &choices) {
        isIn &= choices.empty() || llvm::is_contained(choices, value);
      },
      schedule, given);
  return isIn;
}

template <class T>
static void fill(FieldChoices<T> &choices, const FieldChoices<T> &given, ArrayRef<T> values) {
  if (given.empty())
    choices.assign(values.begin(), values.end());
  else
    choices = given;
}

/// Every multiple of `step` up to `last`.
static SmallVector<int64_t> multiples(int64_t step, int64_t last) {
  SmallVector<int64_t> values;
  for (int64_t value = step; value <= last; value += step)
    values.push_back(value);
  return values;
}

/// What the table gives to kernels of an instruction; `base` where it has none.
static ScheduleValues scheduleWith(Instruction instruction, const TargetInfo &target,
                                   const ScheduleValues &base) {
  if (instruction == base.instruction)
    return base;
  ScheduleValues schedule = base;
  schedule.instruction = instruction;
  for (const ScheduleRow &row : scheduleTable(target).forward)
    if (row.schedule.instruction == instruction) {
      schedule = row.schedule;
      break;
    }
  schedule.algorithm = base.algorithm;
  schedule.splitKV = base.splitKV;
  schedule.order = base.order;
  schedule.packGqa = base.packGqa;
  return schedule;
}

static bool isSwitch(StringRef field) {
  return llvm::is_contained({"split_kv", "order", "pack_gqa", "persistent", "overlap", "pingpong",
                             "kv_order", "integer_max"},
                            field);
}

static void fillTiles(CandidateSpace &space, const TargetInfo &target,
                      const CandidateSpace &given) {
  if (!target.isGpu) {
    fill<int64_t>(space.qTile, given.qTile, {8, 16, 32, 64, 128, 256});
    fill<int64_t>(space.kvTile, given.kvTile, {16, 32, 64, 128, 256});
    return;
  }
  fill<int64_t>(space.qTile, given.qTile, {16, 32, 64, 128, 192, 256});
  fill<int64_t>(space.kvTile, given.kvTile, multiples(16, 256));
  fill<int64_t>(space.stages, given.stages, {1, 2, 3, 4});
  fill<int64_t>(space.warps, given.warps, {1, 2, 4, 8, 12});
  fill<WarpSplit>(space.warpSplit, given.warpSplit, {WarpSplit::Rows, WarpSplit::Keys});
  fill<bool>(space.qInRegisters, given.qInRegisters, {false, true});
  if (space.instruction.front() != Instruction::Wgmma)
    return;
  fill<int64_t>(space.qStages, given.qStages, {1, 2, 3, 4});
  fill<bool>(space.qByWarpgroup, given.qByWarpgroup, {false, true});
  // Most for those that compute first; equal shares last.
  fill<int64_t>(space.producerRegisters, given.producerRegisters, {24, 32, 40, 0});
  fill<int64_t>(space.consumerRegisters, given.consumerRegisters,
                {256, 240, 232, 224, 208, 192, 176, 160, 0});
}

std::vector<CandidateSpace> attn::tileSpaces(const TargetInfo &target, const ScheduleValues &base,
                                             const CandidateSpace &given) {
  FieldChoices<Instruction> instructions = given.instruction;
  if (instructions.empty()) {
    instructions.push_back(base.instruction);
    // The generic path is for what tensor cores do not take.
    for (Instruction other : {Instruction::Wgmma, Instruction::Mma})
      if (target.isGpu && base.instruction != Instruction::Fma && other != base.instruction)
        instructions.push_back(other);
  }
  std::vector<CandidateSpace> spaces;
  for (Instruction instruction : instructions) {
    CandidateSpace space = spaceOf(scheduleWith(instruction, target, base));
    visitSchedule(
        [](StringRef name, auto &choices, const auto &wanted) {
          if (wanted.empty() || name == "instruction")
            return;
          if (!isSwitch(name))
            choices = wanted;
          else if (!llvm::is_contained(wanted, choices.front()))
            choices.assign(1, wanted.front());
        },
        space, given);
    fillTiles(space, target, given);
    spaces.push_back(std::move(space));
  }
  return spaces;
}

std::vector<std::pair<std::string, CandidateSpace>>
attn::switchSpaces(const TargetInfo &target, const ScheduleValues &schedule,
                   const CandidateSpace &given) {
  std::vector<std::pair<std::string, CandidateSpace>> spaces;
  CandidateSpace one = spaceOf(schedule);
  auto add = [&](StringRef name, auto field, auto values) {
    CandidateSpace space = one;
    using T = typename std::decay_t<decltype(space.*field)>::value_type;
    fill<T>(space.*field, given.*field, ArrayRef<T>(values));
    if ((space.*field).size() > 1)
      spaces.emplace_back(name, std::move(space));
  };
  add("split_kv", &CandidateSpace::splitKV, SmallVector<int64_t>{1, 2, 4, 8, 16});
  add("order", &CandidateSpace::order,
      SmallVector<TileOrder>{TileOrder::Linear, TileOrder::LongestFirst});
  SmallVector<bool> either{false, true};
  // A row asks for it only where it applies.
  if (schedule.packGqa || !given.packGqa.empty())
    add("pack_gqa", &CandidateSpace::packGqa, either);
  if (!target.isGpu || schedule.instruction != Instruction::Wgmma)
    return spaces;
  add("persistent", &CandidateSpace::persistent,
      SmallVector<Persistence>{Persistence::None, Persistence::Static, Persistence::Dynamic});
  add("overlap", &CandidateSpace::overlap, either);
  add("pingpong", &CandidateSpace::pingpong, either);
  add("kv_order", &CandidateSpace::kvOrder,
      SmallVector<KVOrder>{KVOrder::Ascending, KVOrder::Descending});
  add("integer_max", &CandidateSpace::integerMax, either);
  CandidateSpace registers = one;
  fill<int64_t>(registers.producerRegisters, given.producerRegisters, {0, 24, 32, 40});
  fill<int64_t>(registers.consumerRegisters, given.consumerRegisters,
                {0, 160, 176, 192, 208, 224, 232, 240, 256});
  if (registers.producerRegisters.size() * registers.consumerRegisters.size() > 1)
    spaces.emplace_back("registers", std::move(registers));
  return spaces;
}

//===----------------------------------------------------------------------===//
// Combinations
//===----------------------------------------------------------------------===//

namespace {

/// Estimates below this many times the least one are worth a measurement: peak rates and whole
/// waves say no more than the order of magnitude.
constexpr int kEstimateSlack = 4;

class Lister {
public:
  Lister(ForwardOp op, const TargetInfo &target, const ProblemShape &shape)
      : op(op), target(target), facts(describeProblem(op)), work(describeWork(op, target, shape)) {}

  CandidateList run(ArrayRef<CandidateSpace> spaces, RegisterSplits splits);

private:
  using Split = std::pair<int64_t, int64_t>;

  /// Why the target cannot run the schedule with a register split; if it can, adds it.
  std::string add(ScheduleValues schedule, Split split);
  void reject(ScheduleValues schedule, Split split, std::string fault);
  void addAll(const ScheduleValues &schedule, ArrayRef<Split> splits);
  void addFirstThatFits(const ScheduleValues &schedule, ArrayRef<Split> splits);
  double estimate(ScheduleAttr schedule);
  void pruneByEstimate();

  ForwardOp op;
  const TargetInfo &target;
  ProblemFacts facts;
  Work work;
  CandidateList list;
};

} // namespace

/// Calls visit(schedule) for every combination of the choices of all fields but the register split.
static void forEachCombination(const CandidateSpace &space,
                               llvm::function_ref<void(ScheduleValues &)> visit) {
  // An odometer over the fields.
  SmallVector<size_t> sizes;
  visitSchedule(
      [&](StringRef name, const auto &choices) {
        bool isSplit = name == "producer_registers" || name == "consumer_registers";
        sizes.push_back(isSplit ? 1 : choices.size());
      },
      space);
  SmallVector<size_t> at(sizes.size(), 0);
  if (llvm::is_contained(sizes, size_t(0)))
    return;
  while (true) {
    ScheduleValues schedule;
    size_t field = 0;
    visitSchedule(
        [&](StringRef, auto &value, const auto &choices) { value = choices[at[field++]]; },
        schedule, space);
    visit(schedule);
    size_t next = sizes.size();
    while (next > 0 && ++at[next - 1] == sizes[next - 1])
      at[--next] = 0;
    if (next == 0)
      return;
  }
}

CandidateList Lister::run(ArrayRef<CandidateSpace> spaces, RegisterSplits which) {
  for (const CandidateSpace &space : spaces) {
    SmallVector<Split> splits;
    for (int64_t consumer : space.consumerRegisters)
      for (int64_t producer : space.producerRegisters)
        splits.emplace_back(producer, consumer);
    forEachCombination(space, [&](ScheduleValues &schedule) {
      if (which == RegisterSplits::All)
        addAll(schedule, splits);
      else
        addFirstThatFits(schedule, splits);
    });
  }
  pruneByEstimate();
  list.takes = {.elements = facts.element,
                .headDimQK = {facts.headDimQK, facts.headDimQK},
                .headDimV = {facts.headDimV, facts.headDimV},
                .masks = facts.masks,
                .phases = facts.phase};
  return std::move(list);
}

std::string Lister::add(ScheduleValues schedule, Split split) {
  std::tie(schedule.producerRegisters, schedule.consumerRegisters) = split;
  MLIRContext *context = op.getContext();
  std::string fault = checkPins(context, toPins(schedule));
  if (!fault.empty())
    return fault;
  ScheduleAttr attribute = toAttr(context, schedule);
  fault = checkSchedule(facts, target, attribute);
  if (fault.empty())
    list.admitted.push_back({schedule, estimate(attribute)});
  return fault;
}

void Lister::reject(ScheduleValues schedule, Split split, std::string fault) {
  std::tie(schedule.producerRegisters, schedule.consumerRegisters) = split;
  list.rejected.push_back({schedule, std::move(fault)});
}

void Lister::addAll(const ScheduleValues &schedule, ArrayRef<Split> splits) {
  for (Split split : splits)
    if (std::string fault = add(schedule, split); !fault.empty())
      reject(schedule, split, std::move(fault));
}

/// Whether a fault is that of a register split rather than of what it is for.
static bool isOfSplit(StringRef fault) {
  return fault.starts_with("producer_registers") || fault.starts_with("consumer_registers");
}

void Lister::addFirstThatFits(const ScheduleValues &schedule, ArrayRef<Split> splits) {
  std::string first, reason;
  Split reasonSplit = splits.front();
  for (Split split : splits) {
    std::string fault = add(schedule, split);
    if (fault.empty())
      return;
    if (first.empty())
      first = reason = fault;
    // What is wrong with two splits in the same words is wrong with all.
    else if (split.first != splits[0].first && split.second != splits[0].second && fault == first)
      break;
    // A split that no such CTA can have says nothing of the tile.
    if (isOfSplit(reason) && !isOfSplit(fault)) {
      reason = std::move(fault);
      reasonSplit = split;
    }
  }
  reject(schedule, reasonSplit, std::move(reason));
}

double Lister::estimate(ScheduleAttr schedule) {
  if (work.rooflines.empty())
    return 0;
  std::optional<Resources> resources;
  if (target.isGpu)
    resources = estimateResources(facts, target, schedule);
  addGrid(work, op, target, schedule, resources);
  // Tiles are computed whole, and the last wave of CTAs takes as long as a full one.
  auto padding = [](int64_t length, int64_t tile) {
    int64_t whole = std::max<int64_t>(llvm::alignTo(length, tile), tile);
    return static_cast<double>(whole) / static_cast<double>(std::max<int64_t>(length, 1));
  };
  double padded = padding(work.shape.seqLenQ, schedule.getQTile()) *
                  padding(work.shape.seqLenKV, schedule.getKvTile());
  double waves = work.waves > 0 ? std::ceil(work.waves) / work.waves : 1;
  const Roofline &roof = work.rooflines.front();
  return std::max(roof.computeUs * padded * waves, roof.memoryUs);
}

void Lister::pruneByEstimate() {
  double least = INFINITY;
  for (const Candidate &candidate : list.admitted)
    least = std::min(least, candidate.estimateUs);
  std::vector<Candidate> kept;
  for (Candidate &candidate : list.admitted) {
    if (candidate.estimateUs <= kEstimateSlack * least)
      kept.push_back(std::move(candidate));
    else
      list.rejected.push_back(
          {candidate.schedule,
           llvm::formatv("estimate: {0:F1} us by peak rates, whole tiles and whole waves is more "
                         "than {1} times the least, {2:F1} us",
                         candidate.estimateUs, kEstimateSlack, least)});
  }
  list.admitted = std::move(kept);
}

CandidateList attn::listCandidates(ForwardOp op, const TargetInfo &target,
                                   ArrayRef<CandidateSpace> spaces, const ProblemShape &shape,
                                   RegisterSplits splits) {
  return Lister(op, target, shape).run(spaces, splits);
}

double attn::distance(const ScheduleValues &a, const ScheduleValues &b) {
  double sum = 0;
  visitSchedule(
      [&](StringRef, const auto &x, const auto &y) {
        using T = std::decay_t<decltype(x)>;
        if (x == y)
          return;
        if constexpr (std::is_same_v<T, int64_t>)
          sum += x > 0 && y > 0
                     ? std::abs(std::log2(static_cast<double>(x) / static_cast<double>(y)))
                     : 1;
        else
          sum += 1;
      },
      a, b);
  return sum;
}
