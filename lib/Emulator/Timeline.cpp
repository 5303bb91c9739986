//===- Timeline.cpp - Replays a recorded CTA on a nominal clock -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Trace.h"

using namespace attn::emu;
using llvm::StringRef;

StringRef attn::emu::toString(TraceCategory category) {
  constexpr StringRef names[] = {"copy", "mma", "memory", "exchange", "arithmetic", "sync", "wait"};
  return names[static_cast<size_t>(category)];
}

/// Without the dialect: "mma.sync".
static StringRef shortName(const Site &site) {
  StringRef name = site.name;
  for (StringRef prefix : {"attn_nv.", "nvvm.", "llvm.nvvm.", "llvm."})
    if (name.consume_front(prefix))
      break;
  return name;
}

TraceCategory attn::emu::categoryOf(const Site &site) {
  StringRef name = shortName(site);
  auto has = [&](std::initializer_list<StringRef> words) {
    return llvm::any_of(words, [&](StringRef word) { return name.contains(word); });
  };
  // Names of copies and products contain those of their waits: "cp.async.wait.group".
  if (has({"barrier", "bar.warp", "fence", "wait", "commit", "arrive", "setmaxregister"}))
    return TraceCategory::Sync;
  if (has({"cp.async", "bulk_reduce"}))
    return TraceCategory::Copy;
  if (has({"mma"}))
    return TraceCategory::Mma;
  if (has({"shfl", "vote", "elect", "match", "redux"}))
    return TraceCategory::Exchange;
  if (has({"matrix", "load", "store", "atomic", "cmpxchg", "prefetch"}))
    return TraceCategory::Memory;
  return TraceCategory::Arithmetic;
}

namespace {

struct Lane {
  const ThreadTrace *trace;
  size_t next = 0;         ///< Entry.
  size_t action = 0;       ///< Where the entry's actions begin.
  bool hasArrived = false; ///< The entry's arrivals are done.

  bool isDone() const { return next == trace->entries.size(); }
  const Site &site() const { return *trace->entries[next].site; }
  llvm::ArrayRef<TraceAction> actions() const {
    return llvm::ArrayRef(trace->actions).slice(action, trace->entries[next].actionsEnd - action);
  }
};

struct WarpState {
  std::vector<Lane> lanes;
  uint64_t clock = 0;
  /// What the warp has begun since its last synchronization (a commit, say): one slice.
  std::optional<size_t> newestAsync;
  bool isStuck = false;

  bool isDone() const {
    return llvm::all_of(lanes, [](const Lane &lane) { return lane.isDone(); });
  }
};

/// What runs beside the warps, of one issuer.
struct AsyncSlice {
  TraceSlice slice;
  unsigned warp;
};

class Replay {
public:
  explicit Replay(TraceRecorder recorder);
  std::vector<TraceTrack> run();

private:
  bool advance(unsigned warp, bool force);
  bool attempt(unsigned warp, llvm::ArrayRef<Lane *> group, bool force);
  void arrive(unsigned warp, llvm::ArrayRef<Lane *> group);
  bool release(llvm::ArrayRef<Lane *> group, uint64_t &time) const;
  void execute(unsigned warp, llvm::ArrayRef<Lane *> group);
  void append(unsigned warp, TraceCategory category, std::string name, const Site &site,
              uint64_t cycles);
  bool resolve(uint32_t token, uint64_t &time) const;
  void placeAsync();

  TraceRecorder recorder;
  std::vector<WarpState> warps;
  std::vector<TraceTrack> tracks;
  std::vector<AsyncSlice> asyncSlices;
  bool progress = false;    ///< Somebody has arrived or executed something.
  uint64_t productsEnd = 0; ///< When the tensor cores have done all products begun so far.
};

} // namespace

Replay::Replay(TraceRecorder record) : recorder(std::move(record)) {
  size_t numThreads = recorder.threads.size();
  warps.resize(llvm::divideCeil(numThreads, kLanes));
  for (size_t i = 0; i != numThreads; ++i)
    warps[i / kLanes].lanes.push_back({&recorder.threads[i]});
  for (size_t i = 0; i != warps.size(); ++i)
    tracks.push_back({"warp " + std::to_string(i), {}});
}

/// Adds to a warp's track and its clock, in one slice with the same thing right before.
void Replay::append(unsigned warp, TraceCategory category, std::string name, const Site &site,
                    uint64_t cycles) {
  std::vector<TraceSlice> &slices = tracks[warp].slices;
  uint64_t begin = warps[warp].clock, end = begin + cycles;
  warps[warp].clock = end;
  if (!slices.empty() && category != TraceCategory::Wait && slices.back().end == begin &&
      slices.back().category == category && slices.back().name == name) {
    slices.back().end = end;
    slices.back().last = &site;
    ++slices.back().count;
    return;
  }
  slices.push_back({category, std::move(name), begin, end, &site, &site});
}

/// Whether what a token stands for has happened, and when.
bool Replay::resolve(uint32_t token, uint64_t &time) const {
  const TraceToken &self = recorder.tokens[token];
  time = std::max(time, self.time);
  bool known = self.missing == 0;
  for (uint32_t source : self.sources)
    known &= resolve(source, time);
  return known;
}

bool Replay::release(llvm::ArrayRef<Lane *> group, uint64_t &time) const {
  bool known = true;
  for (const Lane *lane : group)
    for (TraceAction action : lane->actions())
      if (action.kind == TraceAction::Await)
        known &= resolve(action.token, time);
  return known;
}

void Replay::arrive(unsigned warp, llvm::ArrayRef<Lane *> group) {
  if (llvm::all_of(group, [](const Lane *lane) { return lane->hasArrived; }))
    return;
  progress = true;
  const Site &site = group.front()->site();
  if (site.plainCycles != 0)
    append(warp, TraceCategory::Arithmetic, "arithmetic", site, site.plainCycles);
  for (Lane *lane : group) {
    if (std::exchange(lane->hasArrived, true))
      continue;
    for (TraceAction action : lane->actions())
      if (action.kind == TraceAction::Arrive) {
        TraceToken &token = recorder.tokens[action.token];
        --token.missing;
        token.time = std::max(token.time, warps[warp].clock);
      }
  }
}

void Replay::execute(unsigned warp, llvm::ArrayRef<Lane *> group) {
  const Site &site = group.front()->site();
  WarpState &state = warps[warp];
  // Loops have no instruction.
  if (site.instruction) {
    TraceCategory category = categoryOf(site);
    std::string name = category == TraceCategory::Arithmetic ? "arithmetic" : shortName(site).str();
    append(warp, category, name, site, site.instruction->cycles());
    if (category == TraceCategory::Sync)
      state.newestAsync.reset();

    uint64_t begin = state.clock;
    if (category == TraceCategory::Mma)
      begin = std::max(begin, productsEnd);
    uint64_t end = begin + site.instruction->latency();
    bool issues = false;
    for (const Lane *lane : group)
      for (TraceAction action : lane->actions())
        if (action.kind == TraceAction::Issue) {
          recorder.tokens[action.token].missing = 0;
          recorder.tokens[action.token].time = end;
          issues = true;
        }
    if (issues && end != begin) {
      if (category == TraceCategory::Mma)
        productsEnd = end;
      if (state.newestAsync && asyncSlices[*state.newestAsync].slice.name == name) {
        TraceSlice &slice = asyncSlices[*state.newestAsync].slice;
        slice.end = end;
        slice.last = &site;
        ++slice.count;
      } else {
        state.newestAsync = asyncSlices.size();
        asyncSlices.push_back({{category, std::move(name), begin, end, &site, &site}, warp});
      }
    }
  }
  for (Lane *lane : group) {
    lane->action = lane->trace->entries[lane->next].actionsEnd;
    ++lane->next;
    lane->hasArrived = false;
  }
}

/// Lanes at one site; false when they have to wait for what has not happened yet.
bool Replay::attempt(unsigned warp, llvm::ArrayRef<Lane *> group, bool force) {
  arrive(warp, group);
  WarpState &state = warps[warp];
  uint64_t time = state.clock;
  if (!release(group, time) && !force)
    return false;
  if (time > state.clock) {
    const Site &site = group.front()->site();
    append(warp, TraceCategory::Wait, ("wait: " + shortName(site)).str(), site, time - state.clock);
  }
  execute(warp, group);
  progress = true;
  return true;
}

/// The lanes that are farthest behind in the program's text go first: so those that took
/// different ways meet again where the ways do.
bool Replay::advance(unsigned warp, bool force) {
  std::map<unsigned, llvm::SmallVector<Lane *, kLanes>> groups;
  for (Lane &lane : warps[warp].lanes)
    if (!lane.isDone())
      groups[lane.site().order].push_back(&lane);
  return llvm::any_of(groups,
                      [&](const auto &group) { return attempt(warp, group.second, force); });
}

std::vector<TraceTrack> Replay::run() {
  while (true) {
    // The warp that is behind goes on; one that waits for an op of another CTA, which nobody
    // recorded, does so when all others are through or wait too.
    std::optional<unsigned> next, behind;
    for (unsigned i = 0; i != warps.size(); ++i) {
      if (warps[i].isDone())
        continue;
      if (!behind || warps[i].clock < warps[*behind].clock)
        behind = i;
      if (!warps[i].isStuck && (!next || warps[i].clock < warps[*next].clock))
        next = i;
    }
    if (!behind)
      break;
    progress = false;
    unsigned warp = next.value_or(*behind);
    bool hasExecuted = advance(warp, /*force=*/!next);
    if (progress)
      for (WarpState &other : warps)
        other.isStuck = false;
    warps[warp].isStuck = !hasExecuted;
  }
  placeAsync();
  return std::move(tracks);
}

/// Operations that overlap get tracks beside one another.
void Replay::placeAsync() {
  llvm::sort(asyncSlices, [](const AsyncSlice &a, const AsyncSlice &b) {
    return std::pair(a.slice.begin, a.warp) < std::pair(b.slice.begin, b.warp);
  });
  std::vector<TraceTrack> copies, products;
  for (AsyncSlice &async : asyncSlices) {
    bool isProduct = async.slice.category == TraceCategory::Mma;
    std::vector<TraceTrack> &rows = isProduct ? products : copies;
    auto row = llvm::find_if(rows, [&](const TraceTrack &track) {
      return track.slices.back().end <= async.slice.begin;
    });
    if (row == rows.end()) {
      std::string number = rows.empty() ? "" : " " + std::to_string(rows.size() + 1);
      rows.push_back({(isProduct ? "async products" : "async copies") + number, {}});
      row = std::prev(rows.end());
    }
    async.slice.name += " of warp " + std::to_string(async.warp);
    row->slices.push_back(std::move(async.slice));
  }
  llvm::move(copies, std::back_inserter(tracks));
  llvm::move(products, std::back_inserter(tracks));
}

std::vector<TraceTrack> attn::emu::makeTimeline(TraceRecorder recorder) {
  return Replay(std::move(recorder)).run();
}
