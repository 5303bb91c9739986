//===- DiskCache.cpp - Artifacts on disk ----------------------------------===//

#include "attn/Runtime/DiskCache.h"

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "CacheLayout.h"
#include "FileUtils.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt {

DiskCache::DiskCache(DiskCacheOptions given) : options(std::move(given)) {
  if (options.directory.empty()) {
    usable = false;
    return;
  }
  if (Status trusted = checkTrusted(); !trusted) {
    usable = false;
    warn(trusted.error().message + "; kernels are kept in memory only");
  }
}

std::string DiskCache::root() const { return cachelayout::tree(options.directory); }

void DiskCache::warn(const std::string &message) const {
  if (options.warn)
    options.warn("kernel cache: " + message);
}

/// Code from this directory is run, so nobody else may be able to put it there.
Status DiskCache::checkTrusted() const {
  struct stat info;
  if (::stat(options.directory.c_str(), &info) != 0) {
    // Nothing there yet, or nothing that could be: writing will say so.
    if (errno == ENOENT || errno == ENOTDIR)
      return {};
    return systemFailure("look at the cache directory", options.directory, errno);
  }
  const std::string where = "the cache directory '" + options.directory + "' ";
  if (!S_ISDIR(info.st_mode))
    return fail(ErrorCode::Unavailable, where + "is not a directory");
  if (info.st_uid != ::geteuid())
    return fail(ErrorCode::Unavailable, where + "belongs to user " + std::to_string(info.st_uid) +
                                            ", expected " + std::to_string(::geteuid()) +
                                            "; choose another with --cache-dir");
  if (info.st_mode & S_IWOTH)
    return fail(ErrorCode::Unavailable,
                where + "can be written by everybody; run chmod o-w on it, or choose another with "
                        "--cache-dir");
  return {};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Expected<Artifact> readEntry(const std::string &path, std::string_view key, bool isPack) {
  Expected<std::string> bytes = readCacheFile(path, cachelayout::kMaxEntryBytes, isPack);
  if (!bytes)
    return fail(bytes.error());
  Expected<Artifact> artifact = deserialize(*bytes, key);
  if (!artifact)
    return fail(artifact.error().code, "'" + path + "': " + artifact.error().message);
  // The time of the last change stands for the time of the last use. Failing to
  // set it costs an early eviction at worst.
  if (!isPack)
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return artifact;
}

void DiskCache::reportUnreadable(const std::string &path, const Error &error) {
  if (error.code == ErrorCode::NotFound || error.code == ErrorCode::Stale)
    return;
  std::lock_guard<std::mutex> guard(warnedMutex);
  if (warnedPaths.insert(path).second)
    warn("ignoring an entry: " + error.message);
}

std::optional<Artifact> DiskCache::read(const std::string &tree, std::string_view key,
                                        bool isPack) {
  const std::string path = cachelayout::entry(tree, key);
  Expected<Artifact> artifact = readEntry(path, key, isPack);
  if (artifact)
    return std::move(*artifact);
  reportUnreadable(path, artifact.error());
  return std::nullopt;
}

std::vector<DiskCache::Tree> DiskCache::trees() const {
  std::vector<Tree> result;
  if (usable)
    result.push_back({root(), /*isPack=*/false});
  for (const std::string &pack : options.packs)
    result.push_back({cachelayout::tree(pack), /*isPack=*/true});
  return result;
}

void DiskCache::addBundle(Bundle::Ptr bundle) {
  std::lock_guard<std::mutex> guard(bundlesMutex);
  options.bundles.push_back(std::move(bundle));
}

std::vector<Bundle::Ptr> DiskCache::bundles() const {
  std::lock_guard<std::mutex> guard(bundlesMutex);
  return options.bundles;
}

std::optional<Artifact> DiskCache::get(std::string_view key) {
  if (!isKey(key))
    return std::nullopt;
  for (const Tree &tree : trees())
    if (std::optional<Artifact> artifact = read(tree.path, key, tree.isPack))
      return artifact;
  for (const Bundle::Ptr &bundle : bundles()) {
    Expected<Artifact> artifact = bundle->get(key);
    if (artifact)
      return std::move(*artifact);
    reportUnreadable(bundle->path() + "#" + std::string(key), artifact.error());
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Status DiskCache::store(std::string_view key, const std::string &path,
                        const std::string &bytes) const {
  if (Status made = makeDirectories(cachelayout::shard(root(), key)); !made)
    return made;
  if (Status made = makeDirectories(cachelayout::temporaries(root())); !made)
    return made;
  // Asked again: the directory may be younger than this object.
  if (Status trusted = checkTrusted(); !trusted)
    return trusted;
  std::string temporary =
      cachelayout::temporaries(root()) + "/" + std::string(key.substr(0, 16)) + ".XXXXXX";
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid())
    return systemFailure("make a file", temporary, errno);
  Status written = writeAll(file.get(), temporary, bytes);
  return publishFile(std::move(written), std::move(file), temporary, path);
}

bool DiskCache::publish(std::string_view key, const std::string &path, const std::string &bytes) {
  Status stored = store(key, path, bytes);
  if (!stored && writable.exchange(false))
    warn(stored.error().message + "; kernels are kept in memory only");
  return stored.has_value();
}

bool DiskCache::put(std::string_view key, const Artifact &artifact) {
  if (!usable || !writable)
    return false;
  Expected<std::string> bytes = serialize(artifact, key);
  if (!bytes) {
    warn("not storing an entry: " + bytes.error().message);
    return false;
  }
  const uint64_t limit = options.maxBytes == 0
                             ? cachelayout::kMaxEntryBytes
                             : std::min<uint64_t>(options.maxBytes, cachelayout::kMaxEntryBytes);
  if (bytes->size() > limit) {
    warn("not storing an entry of " + std::to_string(bytes->size()) + " bytes, the limit is " +
         std::to_string(limit));
    return false;
  }
  if (!publish(key, cachelayout::entry(root(), key), *bytes))
    return false;
  applyBound(key, bytes->size());
  return true;
}

/// Share of the bound that goes before the aliases of what went are looked for.
static constexpr uint64_t kEvictionsPerSweep = 10;

void DiskCache::applyBound(std::string_view keep, uint64_t written) {
  if (options.maxBytes == 0)
    return;
  std::lock_guard<std::mutex> guard(boundMutex);
  if (written <= slack) {
    slack -= written;
    return;
  }
  Expected<std::vector<CacheEntry>> entries = list();
  if (!entries)
    return;
  uint64_t total = 0;
  for (const CacheEntry &entry : *entries)
    total += entry.bytes;
  const PruneReport removed = removeOldest(std::move(*entries), options.maxBytes, keep);
  total -= removed.bytes;
  // Aliases of entries that are gone do no harm, and finding them reads every alias.
  evictedBytes += removed.bytes;
  if (evictedBytes > options.maxBytes / kEvictionsPerSweep) {
    (void)removeAliases(/*all=*/false);
    evictedBytes = 0;
  }
  // Half, since other processes write too.
  slack = total < options.maxBytes ? (options.maxBytes - total) / 2 : 0;
}

//===----------------------------------------------------------------------===//
// Locking
//===----------------------------------------------------------------------===//

CompileLock::~CompileLock() {
  if (fd < 0)
    return;
  // Unlinked first: whoever opens the path from now on gets a file of their own.
  ::unlink(path.c_str());
  ::close(fd);
}

CompileLock::CompileLock(CompileLock &&other) noexcept
    : fd(std::exchange(other.fd, -1)), path(std::move(other.path)) {}

CompileLock &CompileLock::operator=(CompileLock &&other) noexcept {
  std::swap(fd, other.fd);
  std::swap(path, other.path);
  return *this;
}

/// Whether the path still names the opened file.
static bool namesSameFile(const std::string &path, int fd) {
  struct stat byPath, byDescriptor;
  return ::stat(path.c_str(), &byPath) == 0 && ::fstat(fd, &byDescriptor) == 0 &&
         byPath.st_dev == byDescriptor.st_dev && byPath.st_ino == byDescriptor.st_ino;
}

Expected<CompileLock> DiskCache::lock(std::string_view key, std::chrono::milliseconds wait) {
  if (!usable || !writable || !isKey(key))
    return fail(ErrorCode::Unavailable, "the cache directory cannot hold locks");
  const std::string directory = cachelayout::locks(root());
  if (Status made = makeDirectories(directory); !made)
    return fail(made.error());
  const std::string path = directory + "/" + std::string(key) + ".lock";
  const auto deadline = std::chrono::steady_clock::now() + wait;
  auto pause = std::chrono::milliseconds(1);
  for (;;) {
    FileDescriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!file.valid())
      return systemFailure("open", path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      // The owner before us may have unlinked the file that we opened.
      if (!namesSameFile(path, file.get()))
        continue;
      CompileLock lock;
      lock.fd = file.release();
      lock.path = path;
      return lock;
    }
    if (errno != EWOULDBLOCK && errno != EINTR)
      return systemFailure("lock", path, errno);
    if (std::chrono::steady_clock::now() >= deadline)
      return fail(ErrorCode::Busy, "another process has been compiling " + std::string(key) +
                                       " for more than " + std::to_string(wait.count()) + " ms");
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
}

} // namespace attn::rt
