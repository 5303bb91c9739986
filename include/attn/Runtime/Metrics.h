//===- Metrics.h - Named counters -----------------------------------------===//

#ifndef ATTN_RUNTIME_METRICS_H
#define ATTN_RUNTIME_METRICS_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace attn::rt {

/// One counter; adding is a relaxed atomic operation.
class Counter {
public:
  void add(uint64_t amount = 1) { count.fetch_add(amount, std::memory_order_relaxed); }
  uint64_t value() const { return count.load(std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> count{0};
};

/// Names the runtime itself counts under.
namespace metric {
inline constexpr std::string_view kMemoryHits = "cache.memory.hits";
inline constexpr std::string_view kDiskHits = "cache.disk.hits";
inline constexpr std::string_view kMisses = "cache.misses";
inline constexpr std::string_view kWaits = "cache.waits"; ///< Joined another thread's compile.
inline constexpr std::string_view kReadBytes = "cache.read_bytes";       ///< Payloads from disk.
inline constexpr std::string_view kWrittenBytes = "cache.written_bytes"; ///< Payloads to disk.
inline constexpr std::string_view kCompiles = "compile.count";
inline constexpr std::string_view kCompileMicros = "compile.us";
/// Kernels that a fast path took; the others are fallbacks.
inline constexpr std::string_view kFastPath = "dispatch.fast";
/// Followed by the reason: "fallback.head_dim 71 is no multiple of 8".
inline constexpr std::string_view kFallbackPrefix = "fallback.";
} // namespace metric

/// A set of counters that appear when they are first named. Usable from any
/// thread; a counter's address stays valid as long as the set.
class Metrics {
public:
  Counter &counter(std::string_view name);
  /// Counts a problem that a fast path declined, by reason.
  void fallback(std::string_view reason);
  /// Counts a compile and its time.
  void compiled(std::chrono::nanoseconds time);

  /// {"cache":{"memory_hits":..,"disk_hits":..,"misses":..,"waits":..,"read_bytes":..,
  ///  "written_bytes":..},"compile":{"count":..,"ms":..},"fast_path":..,
  ///  "fallbacks":{reason:count},"other":{name:count}}
  std::string toJson() const;

  /// The same in the text format that Prometheus scrapes: attn_cache_hits_total{level="disk"} ...
  std::string toPrometheus() const;

  using Log = std::function<void(const std::string &line)>;
  /// Told about each event in one line, from the thread in which it happens; empty for none.
  void setLog(Log log);
  void event(const std::string &line) const;

private:
  std::map<std::string, uint64_t, std::less<>> snapshot() const;

  mutable std::mutex mutex;
  std::shared_ptr<const Log> log;
  std::map<std::string, std::unique_ptr<Counter>, std::less<>> counters;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_METRICS_H
