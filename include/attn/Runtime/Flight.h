//===- Flight.h - One caller's work that others wait for ------------------===//

#ifndef ATTN_RUNTIME_FLIGHT_H
#define ATTN_RUNTIME_FLIGHT_H

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "attn/Runtime/Error.h"

namespace attn::rt {

/// A result that one thread makes and any number of threads wait for.
template <class T> class Flight {
public:
  /// Whether the calling thread is the one that has to land it, and would wait for itself.
  bool isMine() const { return owner == std::this_thread::get_id(); }

  Expected<T> wait() {
    std::unique_lock<std::mutex> guard(mutex);
    landed.wait(guard, [this] { return result.has_value(); });
    return *result;
  }

  void land(const Expected<T> &value) {
    std::lock_guard<std::mutex> guard(mutex);
    result = value;
    landed.notify_all();
  }

private:
  const std::thread::id owner = std::this_thread::get_id();
  std::mutex mutex;
  std::condition_variable landed;
  std::optional<Expected<T>> result;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_FLIGHT_H
