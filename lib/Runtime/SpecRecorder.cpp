//===- SpecRecorder.cpp - What a process asked for ------------------------===//

#include "attn/Runtime/SpecRecorder.h"

#include <cerrno>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "FileUtils.h"

namespace attn::rt {

SpecRecorder::~SpecRecorder() {
  if (fd >= 0)
    ::close(fd);
}

Expected<std::shared_ptr<SpecRecorder>> SpecRecorder::open(const std::string &path) {
  constexpr size_t kMaxBytes = size_t(256) << 20;
  std::shared_ptr<SpecRecorder> recorder(new SpecRecorder());
  recorder->path = path;
  FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file.valid())
    return systemFailure("open", path, errno);
  struct stat info;
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::Unavailable, "cannot record to '" + path + "': it is no regular file");
  Expected<std::string> before = readAll(file.get(), path, kMaxBytes);
  if (!before)
    return fail(before.error());
  // A writer that was killed may have left a part of a line; ours starts on its own.
  if (!before->empty() && before->back() != '\n')
    if (Status ended = writeAll(file.get(), path, "\n"); !ended)
      return fail(ended.error());
  for (size_t begin = 0; begin < before->size();) {
    const size_t end = std::min(before->find('\n', begin), before->size());
    recorder->seen.insert(before->substr(begin, end - begin));
    begin = end + 1;
  }
  recorder->fd = file.release();
  return recorder;
}

Status SpecRecorder::record(std::string_view spec, std::string_view target) {
  std::string line = nlohmann::ordered_json{{"spec", spec}, {"target", target}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::lock_guard<std::mutex> guard(mutex);
  if (!seen.insert(line).second)
    return {};
  return writeAll(fd, path, line + "\n");
}

} // namespace attn::rt
