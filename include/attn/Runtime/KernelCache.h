//===- KernelCache.h - Compiled kernels of this process -------------------===//

#ifndef ATTN_RUNTIME_KERNELCACHE_H
#define ATTN_RUNTIME_KERNELCACHE_H

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/CudaContext.h"
#include "attn/Runtime/DiskCache.h"
#include "attn/Runtime/Error.h"
#include "attn/Runtime/Metrics.h"
#include "attn/Runtime/Module.h"

namespace attn::rt {

/// An artifact in memory, with the modules made from it.
class LoadedArtifact {
public:
  enum class Origin { Compiled, Disk };

  LoadedArtifact(std::string key, Artifact artifact, Origin origin)
      : cacheKey(std::move(key)), content(std::move(artifact)), source(origin) {}

  const std::string &key() const { return cacheKey; }
  const Artifact &artifact() const { return content; }
  Origin origin() const { return source; }

  /// The artifact loaded on the context's device; loaded at the first call for
  /// that device and kept. A failure is not kept.
  Expected<Module::Ptr> module(const CudaContextPtr &context) const;

private:
  std::string cacheKey;
  Artifact content;
  Origin source;
  mutable std::mutex mutex;
  mutable std::map<const CudaContext *, Module::Ptr> modules;
};

using LoadedArtifactPtr = std::shared_ptr<const LoadedArtifact>;

/// A hash that is cheaper to make than a key, of everything that the key depends on:
/// equal aliases mean equal keys, but equal keys may have several aliases.
struct Alias {
  std::string text;
};

/// In-process map from key to artifact, over an optional disk cache. Usable from
/// any thread. For each key one caller looks at the disk and compiles; the others
/// wait for it and share its result or its error. Errors are not kept.
class KernelCache {
public:
  using Producer = std::function<Expected<Artifact>()>;

  struct Options {
    /// How long to wait for another process that compiles the same key.
    std::chrono::milliseconds processWait{2000};
  };

  /// `disk` may be null (memory only). `metrics` outlives the cache.
  KernelCache(std::unique_ptr<DiskCache> disk, Metrics &metrics, Options options);
  KernelCache(std::unique_ptr<DiskCache> disk, Metrics &metrics)
      : KernelCache(std::move(disk), metrics, Options{}) {}

  /// The artifact of `key` from memory, from disk, or from `produce`. `produce`
  /// runs at most once at a time per key and never under a lock of the cache; it
  /// must not ask the cache for the same key. BadInput when `key` is no key.
  Expected<LoadedArtifactPtr> get(std::string_view key, const Producer &produce);

  /// An artifact with what was said when its alias was linked.
  struct Aliased {
    LoadedArtifactPtr artifact;
    std::vector<std::string> remarks;
  };

  /// The artifact that `alias` stands for, from memory or from disk, if both the alias
  /// and the artifact are there and good. Never compiles.
  std::optional<Aliased> findAliased(const Alias &alias);

  /// Says that `alias` stands for the key of an artifact of this cache.
  void link(const Alias &alias, const LoadedArtifact &artifact, std::vector<std::string> remarks);

  /// The artifact of `key` if it is in memory already.
  LoadedArtifactPtr find(std::string_view key) const;

  /// Forgets what is in memory; the disk keeps its entries.
  void clearMemory();

  DiskCache *disk() const { return store.get(); }

private:
  struct Flight;
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  template <class T> using KeyMap = std::unordered_map<std::string, T, KeyHash, std::equal_to<>>;

  LoadedArtifactPtr fromDisk(std::string_view key);
  Expected<LoadedArtifactPtr> fill(std::string_view key, const Producer &produce);

  std::unique_ptr<DiskCache> store;
  Metrics &metrics;
  Options options;
  Counter &memoryHits; ///< Named once: it is on the warm path.
  mutable std::shared_mutex mapMutex;
  KeyMap<LoadedArtifactPtr> ready;
  KeyMap<Aliased> aliases;
  std::mutex flightMutex;
  KeyMap<std::shared_ptr<Flight>> flights;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_KERNELCACHE_H
