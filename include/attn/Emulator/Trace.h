//===- Trace.h - What a CTA did, on a nominal clock -------------*- C++ -*-===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recorder listens to a launch and keeps what each thread of one CTA executed, and what that
// had to wait for. A timeline replays the records: the lanes of a warp as one, warps on clocks
// of their own that meet where they waited for one another. The order in which the emulator
// ran the threads has no influence.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_EMULATOR_TRACE_H
#define ATTN_EMULATOR_TRACE_H

#include "attn/Emulator/Machine.h"

#include <map>

namespace attn::emu {

/// What somebody waits for: arrivals of threads, and operations.
struct TraceToken {
  unsigned missing = 0;                   ///< Arrivals that are still to come in the replay.
  uint64_t time = 0;                      ///< Of the latest arrival so far.
  llvm::SmallVector<uint32_t, 1> sources; ///< Other tokens that it waits for.
};

struct TraceAction {
  enum Kind : uint8_t { Arrive, Issue, Await } kind;
  uint32_t token;
};

/// One execution of a site by a thread.
struct TraceEntry {
  const Site *site;
  uint32_t actionsEnd; ///< Its actions begin where the entry's before end.
};

struct ThreadTrace {
  std::vector<TraceEntry> entries;
  std::vector<TraceAction> actions;
  bool polledInVain = false;
  uint64_t numGroupOps = 0; ///< Executed instructions of a whole warpgroup.
};

/// Records one CTA, by its number in the grid.
class TraceRecorder : public Listener {
public:
  explicit TraceRecorder(uint64_t cta) : cta(cta) {}

  void executed(const Thread &thread, const Site &site) override;
  void looped(const Thread &thread, const Site &site) override;
  void polled(const Thread &thread) override;
  void issued(const AsyncOp &op) override;
  void awaited(const Thread &thread, const AsyncOp &op) override;
  void arrived(const Thread &thread, const void *barrier, uint64_t phase) override;
  void signalled(const AsyncOp &op, const void *barrier, uint64_t phase) override;
  void passed(const Thread &thread, const void *barrier, uint64_t phase) override;

  std::vector<ThreadTrace> threads;
  std::vector<TraceToken> tokens;

private:
  /// The record of a thread; null for threads of other CTAs.
  ThreadTrace *find(const Thread &thread);
  uint32_t newToken();
  uint32_t phaseToken(const void *barrier, uint64_t phase);

  uint64_t cta;
  std::map<std::pair<const void *, uint64_t>, uint32_t> phases;
  llvm::DenseMap<const AsyncOp *, uint32_t> operations;
};

enum class TraceCategory { Copy, Mma, Memory, Exchange, Arithmetic, Sync, Wait };

/// "copy", "mma", "memory", "exchange", "arithmetic", "sync", "wait".
llvm::StringRef toString(TraceCategory category);

/// What a site's instruction does.
TraceCategory categoryOf(const Site &site);

/// A stretch of a track: instructions of one kind, one after the other.
struct TraceSlice {
  TraceCategory category;
  std::string name; ///< "mma.sync", "arithmetic", "wait: barrier0".
  uint64_t begin, end;
  const Site *first, *last;
  unsigned count = 1; ///< Instructions.
};

/// In the order of time; slices do not overlap.
struct TraceTrack {
  std::string name; ///< "warp 0", "copies", "wgmma".
  std::vector<TraceSlice> slices;
};

/// Replays what was recorded. Tracks of warps come first, then those of what runs by itself.
/// The slices refer to the program's sites.
std::vector<TraceTrack> makeTimeline(TraceRecorder recorder);

} // namespace attn::emu

#endif // ATTN_EMULATOR_TRACE_H
