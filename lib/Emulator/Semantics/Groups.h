//===- Groups.h - Groups of a thread's copies -------------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_EMULATOR_SEMANTICS_GROUPS_H
#define ATTN_LIB_EMULATOR_SEMANTICS_GROUPS_H

#include "attn/Emulator/Machine.h"

namespace attn::emu {

/// Closes the group of the copies begun since the last one.
template <AsyncGroups Thread::*groups> class CommitGroup : public Instruction {
public:
  void execute(Thread &thread, const std::byte *, std::byte *) const override {
    (thread.*groups).commit();
  }
};

/// The thread's copies but those of the `pending` newest groups are over, and its own accesses now.
template <AsyncGroups Thread::*groups> class WaitGroup : public Instruction {
public:
  explicit WaitGroup(size_t pending) : pending(pending) {}
  void execute(Thread &thread, const std::byte *, std::byte *) const override {
    thread.complete((thread.*groups).take(pending));
  }

private:
  size_t pending;
};

} // namespace attn::emu

#endif // ATTN_LIB_EMULATOR_SEMANTICS_GROUPS_H
