//===- Fork.h - What survives a fork and what does not --------------------===//
//
// A child has the memory of its parent and one thread. Locks that other threads held stay locked
// in it, and thread pools have no threads. Code that takes locks does so inside a NoForkScope, and
// pools live in a PerProcess.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_FORK_H
#define ATTN_RUNTIME_FORK_H

#include <memory>
#include <mutex>
#include <utility>

namespace attn::rt {

/// Forks between this process and the one that loaded the library.
unsigned forkGeneration();

/// While one lives, fork() in another thread waits, so that no child sees what this thread has
/// half done. Scopes nest; a thread that holds one may fork itself.
class NoForkScope {
public:
  NoForkScope();
  ~NoForkScope();
  NoForkScope(const NoForkScope &) = delete;
  NoForkScope &operator=(const NoForkScope &) = delete;
};

/// A T with threads of its own, made at need. A child forgets its parent's, without destroying it:
/// there is no thread to join.
template <class T> class PerProcess {
public:
  PerProcess() = default;
  ~PerProcess() { forgetParents(); }
  PerProcess(const PerProcess &) = delete;
  PerProcess &operator=(const PerProcess &) = delete;

  /// The object for which `fits` holds, or what `make` returns, which replaces it.
  template <class Fits, class Make> std::shared_ptr<T> get(Fits &&fits, Make &&make) {
    NoForkScope scope;
    std::lock_guard<std::mutex> guard(mutex);
    forgetParents();
    if (!object || !fits(*object))
      object = make();
    return object;
  }

  /// The object, if this process has one.
  std::shared_ptr<T> find() {
    NoForkScope scope;
    std::lock_guard<std::mutex> guard(mutex);
    forgetParents();
    return object;
  }

private:
  void forgetParents() {
    if (generation == forkGeneration())
      return;
    if (object)
      new std::shared_ptr<T>(std::move(object));
    object = nullptr;
    generation = forkGeneration();
  }

  std::mutex mutex;
  std::shared_ptr<T> object;
  unsigned generation = forkGeneration();
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_FORK_H
