//===- Explanation.cpp - Why a problem runs as it does --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dispatch/Explanation.h"

#include "attn/Dispatch/MaskWork.h"

using namespace mlir;
using namespace attn;

static std::string describe(ForwardOp op, const ProblemFacts &facts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "forward " << facts.elementType << " -> " << facts.outType << ", head_dim "
     << facts.headDimQK << "/" << facts.headDimV << ", heads " << op.getHeadsQ() << "/"
     << op.getHeadsKV() << ", mask " << op.getMask() << ", kv " << op.getKv() << ", alignment "
     << facts.alignmentBytes;
  if (op.hasScore())
    os << ", score region";
  return text;
}

Resources attn::estimateResources(const ProblemFacts &facts, const TargetInfo &target,
                                  ScheduleAttr schedule) {
  Resources use;
  use.registers = estimateRegisters(facts, schedule);
  use.registerLimit = registerLimit(target, schedule);
  use.shared = sharedMemoryUse(facts, schedule);
  use.sharedLimit = target.sharedBytesPerCta;

  // Registers are handed out in units of eight a thread.
  int64_t registers = std::min<int64_t>(llvm::alignTo(use.registers.total(), 8), 256);
  // Kernels of wgmma ask for all registers of an SM and hand them out themselves.
  if (schedule.usesWgmma())
    registers = target.registersPerSM / (schedule.getCtaWarps() * kWarpSize);
  int64_t sharedOfCta = use.shared.total() + target.reservedSharedBytesPerCta;
  std::pair<int64_t, StringRef> bounds[] = {
      {target.registersPerSM / (registers * schedule.getCtaWarps() * kWarpSize), "registers"},
      {target.sharedBytesPerSM / sharedOfCta, "shared memory"},
      {target.maxWarpsPerSM / schedule.getCtaWarps(), "warps"},
      {target.maxCtasPerSM, "CTAs"}};
  auto least = std::min_element(std::begin(bounds), std::end(bounds), llvm::less_first());
  // What verification let pass runs, if need be with spilled registers.
  use.ctasPerSM = std::max<int64_t>(least->first, 1);
  use.limitedBy = least->second.str();
  return use;
}

static Roofline rooflineOf(const PeakRates &rates, const Work &work, bool usesTensorCores) {
  Roofline roof;
  roof.rates = rates;
  double tflops = usesTensorCores ? rates.tensorTFlops : rates.f32TFlops;
  if (tflops > 0)
    roof.computeUs = work.flops / tflops * 1e-6;
  if (rates.memoryGBs > 0)
    roof.memoryUs = work.bytes / rates.memoryGBs * 1e-3;
  roof.isMemoryBound = roof.memoryUs > roof.computeUs;
  roof.boundUs = std::max(roof.computeUs, roof.memoryUs);
  roof.tflops = roof.boundUs > 0 ? work.flops / roof.boundUs * 1e-6 : 0;
  return roof;
}

Work attn::describeWork(ForwardOp op, const TargetInfo &target, const ProblemShape &shape) {
  ProblemFacts facts = describeProblem(op);
  auto real = [](int64_t value) { return static_cast<double>(value); };
  Work work;
  work.shape = shape;
  double batch = real(shape.batch), headsQ = real(op.getHeadsQ()), headsKV = real(op.getHeadsKV());
  double seqQ = real(shape.seqLenQ), seqKV = real(shape.seqLenKV);
  double dims = real(facts.headDimQK + facts.headDimV);

  KeptPairs pairs = countKeptPairs(op.getMask(), shape.seqLenQ, shape.seqLenKV, shape.maskParams);
  work.pairs = pairs.count * batch * headsQ;
  work.pairsAreExact = pairs.isExact;
  work.flops = 2 * dims * work.pairs;
  // Q + K + V + O + LSE
  work.bytes = batch * (headsQ * seqQ * real(facts.headDimQK * facts.elementBytes()) +
                        headsKV * seqKV * dims * real(facts.elementBytes()) +
                        headsQ * seqQ * real(facts.headDimV * facts.outElementBytes()) +
                        (facts.hasLse ? headsQ * seqQ * 4 : 0));
  for (const PeakRates &rates : target.rates)
    work.rooflines.push_back(
        rooflineOf(rates, work, target.hasMmaM16N8K16() && !facts.elementType.isF32()));
  return work;
}

void attn::addGrid(Work &work, ForwardOp op, const TargetInfo &target, ScheduleAttr schedule,
                   const std::optional<Resources> &resources) {
  bool packs = schedule.getPackGqa();
  int64_t heads = packs ? op.getHeadsKV() : op.getHeadsQ();
  int64_t rows = packs ? op.getHeadsQ() / op.getHeadsKV() : work.shape.seqLenQ;
  int64_t tilesOfHead =
      schedule.getAlgorithm() == Algorithm::FA1 ? 1 : llvm::divideCeil(rows, schedule.getQTile());
  work.tiles = work.shape.batch * heads * tilesOfHead * schedule.getSplitKv();
  int64_t atOnce = target.parallelUnits * (resources ? resources->ctasPerSM : 1);
  work.isPersistent = schedule.getPersistent() != Persistence::None;
  work.ctas = work.isPersistent ? std::min(work.tiles, atOnce) : work.tiles;
  work.waves = static_cast<double>(work.tiles) / static_cast<double>(atOnce);
}

Explanation attn::explainForward(ForwardOp op, const TargetInfo &target,
                                 const std::optional<ProblemShape> &shape,
                                 const FileSchedules &files) {
  ProblemFacts facts = describeProblem(op);
  Explanation explanation;
  explanation.problem = describe(op, facts);
  explanation.target = target.name;
  explanation.selection = chooseSchedule(op, target, files);
  ScheduleAttr schedule = explanation.selection.schedule;
  if (schedule && target.isGpu)
    explanation.resources = estimateResources(facts, target, schedule);
  if (shape) {
    explanation.work = describeWork(op, target, *shape);
    if (schedule)
      addGrid(*explanation.work, op, target, schedule, explanation.resources);
  }
  return explanation;
}
