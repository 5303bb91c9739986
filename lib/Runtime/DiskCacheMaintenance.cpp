//===- DiskCacheMaintenance.cpp - Listing, checking and emptying ----------===//

#include "attn/Runtime/DiskCache.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "CacheLayout.h"
#include "FileUtils.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt {

static std::chrono::system_clock::time_point lastUse(const struct stat &info) {
  using namespace std::chrono;
  // File systems hold times that nanoseconds do not.
  constexpr int64_t kLimit = duration_cast<seconds>(system_clock::duration::max()).count() - 1;
  const auto whole = seconds(std::clamp<int64_t>(info.st_mtim.tv_sec, -kLimit, kLimit));
  return system_clock::time_point(
      duration_cast<system_clock::duration>(whole + nanoseconds(info.st_mtim.tv_nsec)));
}

Expected<std::vector<std::string>> DiskCache::filesWith(std::string_view suffix) const {
  if (Status trusted = checkTrusted(); !trusted)
    return fail(trusted.error());
  Expected<std::vector<std::string>> shards = namesIn(root());
  if (!shards)
    return fail(shards.error());
  std::vector<std::string> paths;
  for (const std::string &shard : *shards) {
    if (shard.size() != 2)
      continue;
    const std::string directory = root() + "/" + shard;
    Expected<std::vector<std::string>> names = namesIn(directory);
    if (!names)
      return fail(names.error());
    for (const std::string &name : *names)
      if (!cachelayout::keyOf(name, suffix).empty())
        paths.push_back(directory + "/" + name);
  }
  return paths;
}

Expected<std::vector<CacheEntry>> DiskCache::list() const {
  Expected<std::vector<std::string>> paths = filesWith(cachelayout::kEntrySuffix);
  if (!paths)
    return fail(paths.error());
  std::vector<CacheEntry> entries;
  for (std::string &path : *paths) {
    struct stat info;
    // Gone in the meantime is as good as never there.
    if (::lstat(path.c_str(), &info) != 0)
      continue;
    std::string key(cachelayout::keyOf(path, cachelayout::kEntrySuffix));
    entries.push_back(
        {std::move(key), std::move(path), static_cast<uint64_t>(info.st_size), lastUse(info)});
  }
  std::sort(entries.begin(), entries.end(), [](const CacheEntry &a, const CacheEntry &b) {
    return std::tie(b.lastUse, a.key) < std::tie(a.lastUse, b.key);
  });
  return entries;
}

Expected<CacheStat> DiskCache::stat() const {
  Expected<std::vector<CacheEntry>> entries = list();
  if (!entries)
    return fail(entries.error());
  CacheStat result;
  result.maxBytes = options.maxBytes;
  for (const CacheEntry &entry : *entries) {
    ++result.entries;
    result.bytes += entry.bytes;
  }
  Expected<std::vector<std::string>> aliases = filesWith(cachelayout::kAliasSuffix);
  if (!aliases)
    return fail(aliases.error());
  result.aliases = aliases->size();
  result.locks = namesIn(cachelayout::locks(root())).value_or(std::vector<std::string>()).size();
  result.temporaries =
      namesIn(cachelayout::temporaries(root())).value_or(std::vector<std::string>()).size();
  return result;
}

/// What is wrong with an entry's file; nothing when it is good or gone.
static Status verifyEntry(const CacheEntry &entry) {
  Expected<std::string> bytes =
      readCacheFile(entry.path, cachelayout::kMaxEntryBytes, /*isPack=*/false);
  if (!bytes)
    return bytes.error().code == ErrorCode::NotFound ? Status() : fail(bytes.error());
  if (Expected<Artifact> artifact = deserialize(*bytes, entry.key); !artifact)
    return fail(artifact.error());
  return {};
}

Expected<VerifyReport> DiskCache::verify() const {
  Expected<std::vector<CacheEntry>> entries = list();
  if (!entries)
    return fail(entries.error());
  VerifyReport report;
  for (const CacheEntry &entry : *entries) {
    if (Status status = verifyEntry(entry); !status)
      report.bad.emplace_back(entry.path, status.error().message);
    else
      ++report.good;
  }
  if (Status status = verifyAliases(report); !status)
    return fail(status.error());
  return report;
}

/// Whether nobody has touched the file for an hour. Younger ones may belong to a
/// process at work. A time in the future says that the clock was wrong then.
static bool isAbandoned(const std::string &path, uint64_t &bytes) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  bytes = static_cast<uint64_t>(info.st_size);
  constexpr auto kHour = std::chrono::hours(1);
  const auto now = std::chrono::system_clock::now(), used = lastUse(info);
  return used < now - kHour || used > now + kHour;
}

PruneReport DiskCache::removeAbandoned() const {
  PruneReport report;
  auto sweep = [&](const std::string &directory, bool areLocks) {
    Expected<std::vector<std::string>> names = namesIn(directory);
    if (!names)
      return;
    for (const std::string &name : *names) {
      const std::string path = directory + "/" + name;
      uint64_t bytes = 0;
      if (!isAbandoned(path, bytes))
        continue;
      FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
      const bool held = areLocks && (!file.valid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0);
      if (held || ::unlink(path.c_str()) != 0)
        continue;
      ++report.files;
      report.bytes += bytes;
    }
  };
  sweep(cachelayout::temporaries(root()), /*areLocks=*/false);
  sweep(cachelayout::locks(root()), /*areLocks=*/true);
  return report;
}

/// Removes an entry's file. One that is gone anyway counts as removed by somebody else.
static bool removeEntry(const CacheEntry &entry, PruneReport &report) {
  if (::unlink(entry.path.c_str()) == 0) {
    ++report.files;
    report.bytes += entry.bytes;
    return true;
  }
  if (errno == ENOENT)
    return true;
  // A folder in the place of an entry is not the cache's, nor is what it holds.
  report.kept.push_back(entry.path + ": " + std::generic_category().message(errno));
  return false;
}

PruneReport DiskCache::removeOldest(std::vector<CacheEntry> entries, uint64_t maxBytes,
                                    std::string_view keep) const {
  uint64_t total = 0;
  for (const CacheEntry &entry : entries)
    total += entry.bytes;
  PruneReport report;
  for (auto entry = entries.rbegin(); entry != entries.rend() && total > maxBytes; ++entry) {
    if (entry->key == keep)
      continue;
    if (removeEntry(*entry, report))
      total -= entry->bytes;
  }
  return report;
}

Expected<PruneReport> DiskCache::prune(uint64_t maxBytes, bool removeBad) {
  Expected<std::vector<CacheEntry>> entries = list();
  if (!entries)
    return fail(entries.error());
  PruneReport report = removeAbandoned();
  if (removeBad)
    std::erase_if(*entries, [&](const CacheEntry &entry) {
      if (verifyEntry(entry))
        return false;
      removeEntry(entry, report);
      return true;
    });
  report += removeOldest(std::move(*entries), maxBytes, /*keep=*/{});
  Expected<PruneReport> aliases = removeAliases(/*all=*/false);
  if (!aliases)
    return fail(aliases.error());
  return report += *aliases;
}

Expected<PruneReport> DiskCache::clear() {
  Expected<std::vector<CacheEntry>> entries = list();
  if (!entries)
    return fail(entries.error());
  PruneReport report = removeAbandoned();
  for (const CacheEntry &entry : *entries)
    removeEntry(entry, report);
  Expected<PruneReport> aliases = removeAliases(/*all=*/true);
  if (!aliases)
    return fail(aliases.error());
  return report += *aliases;
}

} // namespace attn::rt
