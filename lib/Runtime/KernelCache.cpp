//===- KernelCache.cpp - Compiled kernels of this process -----------------===//

#include "attn/Runtime/KernelCache.h"

#include <optional>

#include "attn/Runtime/Flight.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt {

Expected<Module::Ptr> LoadedArtifact::module(const CudaContextPtr &context) const {
  std::lock_guard<std::mutex> guard(mutex);
  Module::Ptr &slot = modules[context.get()];
  if (slot)
    return slot;
  Expected<Module::Ptr> loaded = Module::load(context, content);
  if (!loaded) {
    modules.erase(context.get());
    return loaded;
  }
  slot = *loaded;
  return loaded;
}

/// One caller's work on a key, which others wait for.
struct KernelCache::Flight : rt::Flight<LoadedArtifactPtr> {};

KernelCache::KernelCache(std::unique_ptr<DiskCache> disk, Metrics &metrics, Options options)
    : store(std::move(disk)), metrics(metrics), options(options),
      memoryHits(metrics.counter(metric::kMemoryHits)) {}

LoadedArtifactPtr KernelCache::find(std::string_view key) const {
  std::shared_lock<std::shared_mutex> guard(mapMutex);
  auto it = ready.find(key);
  return it == ready.end() ? nullptr : it->second;
}

void KernelCache::clearMemory() {
  std::unique_lock<std::shared_mutex> guard(mapMutex);
  ready.clear();
  aliases.clear();
}

std::optional<KernelCache::Aliased> KernelCache::findAliased(const Alias &alias) {
  {
    std::shared_lock<std::shared_mutex> guard(mapMutex);
    if (auto it = aliases.find(alias.text); it != aliases.end()) {
      memoryHits.add();
      return it->second;
    }
  }
  std::optional<AliasTarget> target = store ? store->resolve(alias.text) : std::nullopt;
  if (!target)
    return std::nullopt;
  Aliased found{find(target->key), std::move(target->remarks)};
  if (found.artifact)
    memoryHits.add();
  else
    found.artifact = fromDisk(target->key);
  if (!found.artifact)
    return std::nullopt;
  std::unique_lock<std::shared_mutex> guard(mapMutex);
  // Whoever was first: all callers share one artifact with its modules.
  found.artifact = ready.emplace(target->key, found.artifact).first->second;
  return aliases.emplace(alias.text, std::move(found)).first->second;
}

void KernelCache::link(const Alias &alias, const LoadedArtifact &artifact,
                       std::vector<std::string> remarks) {
  AliasTarget target{artifact.key(), std::move(remarks)};
  if (store)
    store->link(alias.text, target);
  std::unique_lock<std::shared_mutex> guard(mapMutex);
  if (auto it = ready.find(target.key); it != ready.end())
    aliases.insert_or_assign(alias.text, Aliased{it->second, std::move(target.remarks)});
}

Expected<LoadedArtifactPtr> KernelCache::get(std::string_view key, const Producer &produce) {
  if (LoadedArtifactPtr found = find(key)) {
    memoryHits.add();
    return found;
  }
  if (!isKey(key))
    return fail(ErrorCode::BadInput,
                "expected a key of 64 hexadecimal digits, got '" + std::string(key) + "'");

  std::shared_ptr<Flight> flight;
  bool mine = false;
  {
    std::lock_guard<std::mutex> guard(flightMutex);
    // A flight may have landed since the look above.
    if (LoadedArtifactPtr found = find(key)) {
      memoryHits.add();
      return found;
    }
    std::shared_ptr<Flight> &slot = flights[std::string(key)];
    if (!slot) {
      slot = std::make_shared<Flight>();
      mine = true;
    }
    flight = slot;
  }
  if (!mine) {
    if (flight->isMine())
      return fail(ErrorCode::Internal,
                  "the producer of " + std::string(key) + " asked the cache for its own key");
    metrics.counter(metric::kWaits).add();
    return flight->wait();
  }

  Expected<LoadedArtifactPtr> result = fill(key, produce);
  {
    std::lock_guard<std::mutex> guard(flightMutex);
    if (result) {
      std::unique_lock<std::shared_mutex> mapGuard(mapMutex);
      ready.emplace(key, *result);
    }
    flights.erase(flights.find(key));
  }
  flight->land(result);
  return result;
}

/// "0123... (ptx for sm_80, 4567 bytes)".
static std::string describe(std::string_view key, const Artifact &artifact) {
  return std::string(key) + " (" + std::string(toString(artifact.manifest.payloadKind)) + " for " +
         artifact.manifest.chip + ", " + std::to_string(artifact.payload.size()) + " bytes)";
}

LoadedArtifactPtr KernelCache::fromDisk(std::string_view key) {
  std::optional<Artifact> artifact = store ? store->get(key) : std::nullopt;
  if (!artifact)
    return nullptr;
  metrics.counter(metric::kDiskHits).add();
  metrics.counter(metric::kReadBytes).add(artifact->payload.size());
  metrics.event("hit on disk: " + describe(key, *artifact));
  return std::make_shared<LoadedArtifact>(std::string(key), std::move(*artifact),
                                          LoadedArtifact::Origin::Disk);
}

Expected<LoadedArtifactPtr> KernelCache::fill(std::string_view key, const Producer &produce) {
  if (LoadedArtifactPtr found = fromDisk(key))
    return found;

  // Held, busy or unavailable: we compile in any case, unless the wait was for
  // somebody who has stored the entry by now.
  std::optional<Expected<CompileLock>> lock;
  if (store) {
    lock.emplace(store->lock(key, options.processWait));
    if (LoadedArtifactPtr found = fromDisk(key))
      return found;
  }

  metrics.counter(metric::kMisses).add();
  const auto start = std::chrono::steady_clock::now();
  Expected<Artifact> artifact = produce();
  const auto time = std::chrono::steady_clock::now() - start;
  metrics.compiled(time);
  if (!artifact) {
    metrics.event("compile failed: " + std::string(key));
    return fail(artifact.error());
  }
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  metrics.event("compiled in " + std::to_string(ms) + " ms: " + describe(key, *artifact));
  if (store && store->put(key, *artifact))
    metrics.counter(metric::kWrittenBytes).add(artifact->payload.size());
  return std::make_shared<LoadedArtifact>(std::string(key), std::move(*artifact),
                                          LoadedArtifact::Origin::Compiled);
}

} // namespace attn::rt
