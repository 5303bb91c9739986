//===- FileUtils.h - Small files, directories and descriptors -------------===//

#ifndef ATTN_LIB_RUNTIME_FILEUTILS_H
#define ATTN_LIB_RUNTIME_FILEUTILS_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "attn/Runtime/Error.h"

namespace attn::rt {

/// A file descriptor that is closed with the object.
class FileDescriptor {
public:
  explicit FileDescriptor(int fd = -1) : fd(fd) {}
  ~FileDescriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  FileDescriptor(FileDescriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&) = delete;

  bool valid() const { return fd >= 0; }
  int get() const { return fd; }
  int release() { return std::exchange(fd, -1); }

private:
  int fd;
};

/// Unavailable: "cannot WHAT 'PATH': reason of errno".
tl::unexpected<Error> systemFailure(std::string_view what, const std::string &path, int error);

/// Makes a directory and its parents, for this user alone.
Status makeDirectories(const std::string &path);

/// Everything from the descriptor's position; at most `limit` bytes.
Expected<std::string> readAll(int fd, const std::string &path, size_t limit);

/// `size` bytes from `offset`; Corrupt when the file ends before.
Expected<std::string> readAt(int fd, const std::string &path, uint64_t offset, size_t size);

/// Opens a file of a cache that this user, or for a pack also the system's
/// administrator, wrote; NotFound when there is none.
Expected<FileDescriptor> openCacheFile(const std::string &path, bool isPack);

/// All of such a file.
Expected<std::string> readCacheFile(const std::string &path, size_t limit, bool isPack);

Status writeAll(int fd, const std::string &path, std::string_view bytes);

/// Flushes what was written, `written` says whether it could be, and renames it; removes the
/// temporary when any of them fails.
Status publishFile(Status written, FileDescriptor file, const std::string &temporary,
                   const std::string &path);

/// Little-endian integers of files.
void putInteger(std::string &bytes, uint64_t value, int width);
uint64_t getInteger(std::string_view bytes, size_t offset, int width);

/// Names in a directory; none when it does not exist.
Expected<std::vector<std::string>> namesIn(const std::string &directory);

} // namespace attn::rt

#endif // ATTN_LIB_RUNTIME_FILEUTILS_H
