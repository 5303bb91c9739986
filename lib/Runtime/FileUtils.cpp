//===- FileUtils.cpp - Small files, directories and descriptors -----------===//

#include "FileUtils.h"

#include <cerrno>
#include <system_error>

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

} // namespace attn::rt
