//===- TraceRecorder.cpp - Records what a CTA executes --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Launch.h"
#include "attn/Emulator/Trace.h"

using namespace attn::emu;

ThreadTrace *TraceRecorder::find(const Thread &thread) {
  const Cta &block = thread.cta();
  Dim3 grid = thread.launch().shape.grid;
  uint64_t number = block.blockIdx.x +
                    uint64_t(grid.x) * (block.blockIdx.y + uint64_t(grid.y) * block.blockIdx.z);
  if (number != cta)
    return nullptr;
  if (threads.empty())
    threads.resize(block.threads.size());
  return &threads[thread.index()];
}

uint32_t TraceRecorder::newToken() {
  tokens.emplace_back();
  return tokens.size() - 1;
}

uint32_t TraceRecorder::phaseToken(const void *barrier, uint64_t phase) {
  auto [it, isNew] = phases.insert({{barrier, phase}, 0});
  if (isNew)
    it->second = newToken();
  return it->second;
}

void TraceRecorder::executed(const Thread &thread, const Site &site) {
  ThreadTrace *trace = find(thread);
  if (!trace)
    return;
  // How often a thread polls depends on when the emulator lets it run.
  if (std::exchange(trace->polledInVain, false))
    return;
  // The threads of a warpgroup execute such instructions together.
  if (site.instruction->scope() == Scope::Warpgroup) {
    const void *group = &thread.warpgroup();
    arrived(thread, group, trace->numGroupOps);
    passed(thread, group, trace->numGroupOps++);
  }
  trace->entries.push_back({&site, static_cast<uint32_t>(trace->actions.size())});
}

void TraceRecorder::looped(const Thread &thread, const Site &site) {
  if (ThreadTrace *trace = find(thread))
    trace->entries.push_back({&site, static_cast<uint32_t>(trace->actions.size())});
}

void TraceRecorder::polled(const Thread &thread) {
  if (ThreadTrace *trace = find(thread))
    trace->polledInVain = true;
}

void TraceRecorder::issued(const AsyncOp &op) {
  ThreadTrace *trace = find(op.issuer);
  if (!trace)
    return;
  uint32_t token = newToken();
  tokens[token].missing = 1;
  // A later operation may have the address of one that is gone.
  operations[&op] = token;
  trace->actions.push_back({TraceAction::Issue, token});
}

void TraceRecorder::awaited(const Thread &thread, const AsyncOp &op) {
  ThreadTrace *trace = find(thread);
  auto it = operations.find(&op);
  if (trace && it != operations.end())
    trace->actions.push_back({TraceAction::Await, it->second});
}

void TraceRecorder::arrived(const Thread &thread, const void *barrier, uint64_t phase) {
  ThreadTrace *trace = find(thread);
  if (!trace)
    return;
  uint32_t token = phaseToken(barrier, phase);
  ++tokens[token].missing;
  trace->actions.push_back({TraceAction::Arrive, token});
}

void TraceRecorder::signalled(const AsyncOp &op, const void *barrier, uint64_t phase) {
  auto it = operations.find(&op);
  if (find(op.issuer) && it != operations.end())
    tokens[phaseToken(barrier, phase)].sources.push_back(it->second);
}

void TraceRecorder::passed(const Thread &thread, const void *barrier, uint64_t phase) {
  if (ThreadTrace *trace = find(thread))
    trace->actions.push_back({TraceAction::Await, phaseToken(barrier, phase)});
}
