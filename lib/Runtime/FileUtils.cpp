//===- FileUtils.cpp - Small files, directories and descriptors -----------===//

#include "FileUtils.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>

namespace attn::rt {

tl::unexpected<Error> systemFailure(std::string_view what, const std::string &path, int error) {
  return fail(ErrorCode::Unavailable, "cannot " + std::string(what) + " '" + path +
                                          "': " + std::generic_category().message(error));
}

Status makeDirectories(const std::string &path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return {};
  const size_t slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0)
    return systemFailure("make the directory", path, errno);
  if (Status parent = makeDirectories(path.substr(0, slash)); !parent)
    return parent;
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return {};
  return systemFailure("make the directory", path, errno);
}

Expected<std::string> readAt(int fd, const std::string &path, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemFailure("read", path, errno);
    if (count == 0)
      return fail(ErrorCode::Corrupt, "'" + path + "' was truncated while it was read");
    done += static_cast<size_t>(count);
  }
  return bytes;
}

Expected<std::string> readAll(int fd, const std::string &path, size_t limit) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return systemFailure("read", path, errno);
  const size_t size = static_cast<size_t>(info.st_size);
  if (size > limit)
    return fail(ErrorCode::Corrupt, "'" + path + "' has " + std::to_string(size) +
                                        " bytes, the limit is " + std::to_string(limit));
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(fd, bytes.data() + done, size - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemFailure("read", path, errno);
    if (count == 0)
      break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Status writeAll(int fd, const std::string &path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemFailure("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Status publishFile(Status written, FileDescriptor file, const std::string &temporary,
                   const std::string &path) {
  if (written && ::fsync(file.get()) != 0)
    written = systemFailure("flush", temporary, errno);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = systemFailure("rename to", path, errno);
  if (!written)
    ::unlink(temporary.c_str());
  return written;
}

void putInteger(std::string &bytes, uint64_t value, int width) {
  for (int i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> (8 * i));
}

uint64_t getInteger(std::string_view bytes, size_t offset, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  return value;
}

Expected<std::vector<std::string>> namesIn(const std::string &directory) {
  std::vector<std::string> names;
  std::error_code problem;
  std::filesystem::directory_iterator it(directory, problem), end;
  for (; !problem && it != end; it.increment(problem))
    names.push_back(it->path().filename().string());
  if (problem && problem != std::errc::no_such_file_or_directory)
    return fail(ErrorCode::Unavailable, "cannot list '" + directory + "': " + problem.message());
  return names;
}

/// Whether an opened entry was written by somebody we trust: this user, or for a
/// pack also the system's administrator.
static Status checkOwner(int fd, const std::string &path, bool isPack) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return systemFailure("read", path, errno);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::Corrupt, "'" + path + "' is not a regular file");
  const bool trusted = info.st_uid == ::geteuid() || (isPack && info.st_uid == 0);
  if (!trusted || (info.st_mode & S_IWOTH))
    return fail(ErrorCode::Unavailable, "'" + path +
                                            "' belongs to another user or can be written "
                                            "by everybody");
  return {};
}

Expected<FileDescriptor> openCacheFile(const std::string &path, bool isPack) {
  // Without O_NONBLOCK a named pipe in an entry's place would hang us.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR)
      return fail(ErrorCode::NotFound, "no entry '" + path + "'");
    return systemFailure("open", path, errno);
  }
  if (Status owner = checkOwner(file.get(), path, isPack); !owner)
    return fail(owner.error());
  return file;
}

Expected<std::string> readCacheFile(const std::string &path, size_t limit, bool isPack) {
  Expected<FileDescriptor> file = openCacheFile(path, isPack);
  if (!file)
    return fail(file.error());
  return readAll(file->get(), path, limit);
}

} // namespace attn::rt
