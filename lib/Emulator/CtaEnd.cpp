//===- CtaEnd.cpp - What a CTA must not leave behind ----------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shared memory of a CTA goes to another one when its last thread returns. What still uses it
// then is a fault, whether or not it has landed by chance: somebody in the CTA must know that it is
// over.
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Machine.h"

using namespace attn::emu;

void Cta::threadExited() {
  if (++numExited == threads.size())
    checkEnd();
}

void Cta::checkEnd() {
  auto isKnown = [&](Component component, uint32_t epoch) {
    return llvm::any_of(
        threads, [&](const Thread &thread) { return thread.clocks.order[component] >= epoch; });
  };
  if (const AccessRecord *access = memory.findUnawaited(isKnown))
    return cluster.threadOf(access->thread)
        .reportAt(*access->site, ReportKind::InFlight,
                  text() + " ends, but nobody in it has waited for this, which may still " +
                      (access->kind == AccessKind::Read ? "read" : "write") + " its shared memory");
  for (const auto &[component, use] : memory.remoteUses())
    if (!isKnown(component, use.epoch))
      return use.thread->reportAt(*use.site, ReportKind::AfterEnd,
                                  "uses the shared memory of " + text() +
                                      ", and no barrier orders that before its end");
}
