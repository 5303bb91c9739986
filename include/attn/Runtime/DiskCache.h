//===- DiskCache.h - Artifacts on disk ------------------------------------===//
//
// One file per entry, DIR/v<schema>/<first two digits of key>/<key>.attn, in the
// format of Artifact.h. Entries are written to a private file in the same tree,
// flushed and renamed into place, so a reader sees all of an entry or none. Aliases,
// DIR/v<schema>/<first two digits of alias>/<alias>.alias, say which key a cheaper
// hash of the same question has; an entry reached over one is checked like any. No
// failure of the cache is a failure of the caller: reading answers "miss" and
// writing gives up, each with at most one warning.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_DISKCACHE_H
#define ATTN_RUNTIME_DISKCACHE_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/Bundle.h"
#include "attn/Runtime/Error.h"

namespace attn::rt {

/// Where the cache lies: `flagValue` when given, else $ATTN_CACHE_DIR, else
/// $XDG_CACHE_HOME/attn, else ~/.cache/attn. Empty values count as not given, and
/// so does an XDG_CACHE_HOME that is no absolute path. For tools: nothing else in
/// the library reads the environment. Unavailable when there is no home directory.
Expected<std::string> defaultCacheDir(std::string_view flagValue = {});

struct DiskCacheOptions {
  /// Empty for none: what is read then comes from packs and bundles, and nothing is written.
  std::string directory;
  /// Bytes the entries may take; after a write the least recently used ones above
  /// it go, and an entry larger than that is not stored. 0 means no bound. Other
  /// processes that write at the same time may exceed it for a while.
  uint64_t maxBytes = uint64_t(1) << 30;
  /// Read-only cache directories, asked in order after `directory`.
  std::vector<std::string> packs;
  /// Asked in order after the packs.
  std::vector<Bundle::Ptr> bundles;
  /// Told about failures that the cache works around.
  std::function<void(const std::string &message)> warn;
};

/// An entry as it lies on disk.
struct CacheEntry {
  std::string key;
  std::string path;
  uint64_t bytes = 0;
  std::chrono::system_clock::time_point lastUse;
};

/// What a cheap hash of a question stands for: the content key that the question was
/// found to have, and what was said when it was.
struct AliasTarget {
  std::string key;
  std::vector<std::string> remarks;
  bool operator==(const AliasTarget &) const = default;
};

struct CacheStat {
  uint64_t entries = 0; ///< Aliases are no entries.
  uint64_t bytes = 0;
  uint64_t maxBytes = 0;
  uint64_t aliases = 0;
  uint64_t locks = 0;       ///< Files of compiles that run, or of owners that died.
  uint64_t temporaries = 0; ///< The same of writes.
};

struct VerifyReport {
  uint64_t good = 0; ///< Entries.
  /// Path and what is wrong with it.
  std::vector<std::pair<std::string, std::string>> bad;
};

struct PruneReport {
  uint64_t files = 0; ///< Removed: entries, aliases, abandoned temporaries and locks.
  uint64_t bytes = 0;
  std::vector<std::string> kept = {}; ///< What could not be removed: its path and why.

  PruneReport &operator+=(const PruneReport &other) {
    files += other.files;
    bytes += other.bytes;
    kept.insert(kept.end(), other.kept.begin(), other.kept.end());
    return *this;
  }
};

/// Held while one process compiles a key, so that others can wait for its result.
/// Released with the object or with the process.
class CompileLock {
public:
  CompileLock() = default;
  ~CompileLock();
  CompileLock(CompileLock &&other) noexcept;
  CompileLock &operator=(CompileLock &&other) noexcept;

private:
  friend class DiskCache;
  int fd = -1;
  std::string path;
};

/// Usable from any thread and by any number of processes on the same directory.
class DiskCache {
public:
  explicit DiskCache(DiskCacheOptions options);

  const std::string &directory() const { return options.directory; }

  /// Whether entries are still written; a directory that refused one is not asked again.
  bool isWritable() const { return usable && writable; }

  /// Adds a bundle, to be asked after those before it.
  void addBundle(Bundle::Ptr bundle);

  /// The entry of `key`, or nothing. Marks it as used now.
  std::optional<Artifact> get(std::string_view key);

  /// Stores an entry and applies the size bound. False when it was not stored;
  /// the first failure warns, and no write is tried after it.
  bool put(std::string_view key, const Artifact &artifact);

  /// What `alias` was linked to, or nothing. It only names a key: whether there is an
  /// entry of that key, and a good one, is for `get` to say.
  std::optional<AliasTarget> resolve(std::string_view alias);

  /// Stores that `alias` stands for a key whose entry is here. False when it was not
  /// stored.
  bool link(std::string_view alias, const AliasTarget &target);

  /// Waits until no other process holds the lock of `key`, at most `wait`. Busy
  /// when the time is over, Unavailable when there is nothing to lock; the caller
  /// compiles in both cases, since the lock only saves double work.
  Expected<CompileLock> lock(std::string_view key, std::chrono::milliseconds wait);

  /// The operations of `attnc cache`. A directory that does not exist is an empty
  /// cache; one that cannot be read or must not be trusted is Unavailable.
  Expected<std::vector<CacheEntry>> list() const; ///< Most recently used first.
  Expected<CacheStat> stat() const;
  Expected<VerifyReport> verify() const; ///< Reads every entry and alias.
  /// Removes temporaries and locks that nobody has touched for an hour, entries
  /// that fail verification when `removeBad`, then the least recently used
  /// entries until at most `maxBytes` remain, then aliases without an entry.
  Expected<PruneReport> prune(uint64_t maxBytes, bool removeBad = false);
  /// Removes all entries and aliases; nothing but what the cache itself wrote.
  Expected<PruneReport> clear();

private:
  std::string root() const;
  Status checkTrusted() const;
  Status store(std::string_view key, const std::string &path, const std::string &bytes) const;
  /// `store`; the first failure warns and ends writing.
  bool publish(std::string_view key, const std::string &path, const std::string &bytes);
  bool holds(std::string_view key) const;
  std::vector<Bundle::Ptr> bundles() const;
  /// Where to look for files, in this order: the own directory, if usable, then the packs.
  struct Tree {
    std::string path;
    bool isPack;
  };
  std::vector<Tree> trees() const;
  /// Paths of the files that are named KEY + suffix.
  Expected<std::vector<std::string>> filesWith(std::string_view suffix) const;
  Status verifyAliases(VerifyReport &report) const;
  /// Removes the aliases that are no good or name no entry, or all.
  Expected<PruneReport> removeAliases(bool all) const;
  void applyBound(std::string_view keep, uint64_t written);
  PruneReport removeAbandoned() const;
  PruneReport removeOldest(std::vector<CacheEntry> entries, uint64_t maxBytes,
                           std::string_view keep) const;
  std::optional<Artifact> read(const std::string &tree, std::string_view key, bool isPack);
  /// Warns of a file that is there and is no good, once.
  void reportUnreadable(const std::string &path, const Error &error);
  void warn(const std::string &message) const;

  DiskCacheOptions options;
  std::atomic<bool> usable{true};
  std::atomic<bool> writable{true};
  mutable std::mutex bundlesMutex; ///< Of options.bundles.
  std::mutex warnedMutex;
  std::set<std::string, std::less<>> warnedPaths;
  std::mutex boundMutex;
  /// Bytes that may still be written before the directory is looked at again.
  uint64_t slack = 0;
  /// Bytes of the entries that went since aliases were swept.
  uint64_t evictedBytes = 0;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_DISKCACHE_H
