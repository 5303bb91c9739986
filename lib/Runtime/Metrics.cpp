//===- Metrics.cpp - Named counters ---------------------------------------===//

#include "attn/Runtime/Metrics.h"

#include <nlohmann/json.hpp>

namespace attn::rt {

Counter &Metrics::counter(std::string_view name) {
  std::lock_guard<std::mutex> guard(mutex);
  auto it = counters.find(name);
  if (it == counters.end())
    it = counters.emplace(name, std::make_unique<Counter>()).first;
  return *it->second;
}

void Metrics::fallback(std::string_view reason) {
  counter(std::string(metric::kFallbackPrefix).append(reason)).add();
}

void Metrics::compiled(std::chrono::nanoseconds time) {
  using namespace std::chrono;
  counter(metric::kCompileMicros).add(duration_cast<microseconds>(time).count());
  counter(metric::kCompiles).add();
}

std::string Metrics::toJson() const {
  std::map<std::string, uint64_t, std::less<>> values;
  {
    std::lock_guard<std::mutex> guard(mutex);
    for (const auto &[name, counter] : counters)
      values.emplace(name, counter->value());
  }
  // Takes a value out, so that what remains is what has no place of its own.
  auto take = [&](std::string_view name) -> uint64_t {
    auto it = values.find(name);
    if (it == values.end())
      return 0;
    uint64_t value = it->second;
    values.erase(it);
    return value;
  };

  nlohmann::ordered_json json;
  json["cache"] = {{"memory_hits", take(metric::kMemoryHits)},
                   {"disk_hits", take(metric::kDiskHits)},
                   {"misses", take(metric::kMisses)},
                   {"waits", take(metric::kWaits)}};
  json["compile"] = {{"count", take(metric::kCompiles)},
                     {"ms", static_cast<double>(take(metric::kCompileMicros)) / 1000.0}};
  json["fallbacks"] = nlohmann::ordered_json::object();
  json["other"] = nlohmann::ordered_json::object();
  for (const auto &[name, value] : values) {
    if (name.starts_with(metric::kFallbackPrefix))
      json["fallbacks"][name.substr(metric::kFallbackPrefix.size())] = value;
    else
      json["other"][name] = value;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace attn::rt
