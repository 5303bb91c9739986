//===- SpecRecorder.h - What a process asked for --------------------------===//

#ifndef ATTN_RUNTIME_SPECRECORDER_H
#define ATTN_RUNTIME_SPECRECORDER_H

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "attn/Runtime/Error.h"

namespace attn::rt {

/// Appends kernels to a file, {"spec":..,"target":..} a line, each once: what
/// `attnc prewarm FILE.jsonl` takes. Any number of threads and processes may write to
/// one file: a line is one write at its end.
class SpecRecorder {
public:
  /// Makes the file when there is none; what it has already is not written again.
  /// Unavailable when it cannot be opened for writing.
  static Expected<std::shared_ptr<SpecRecorder>> open(const std::string &path);
  ~SpecRecorder();
  SpecRecorder(const SpecRecorder &) = delete;
  SpecRecorder &operator=(const SpecRecorder &) = delete;

  /// Unavailable when the line cannot be written.
  Status record(std::string_view spec, std::string_view target);

private:
  SpecRecorder() = default;
  std::string path;
  int fd = -1;
  std::mutex mutex;
  std::set<std::string, std::less<>> seen; ///< Lines.
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_SPECRECORDER_H
