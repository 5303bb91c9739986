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

void Metrics::setLog(Log given) {
  std::lock_guard<std::mutex> guard(mutex);
  log = given ? std::make_shared<const Log>(std::move(given)) : nullptr;
}

void Metrics::event(const std::string &line) const {
  std::shared_ptr<const Log> to;
  {
    std::lock_guard<std::mutex> guard(mutex);
    to = log;
  }
  if (to)
    (*to)(line);
}

void Metrics::fallback(std::string_view reason) {
  counter(std::string(metric::kFallbackPrefix).append(reason)).add();
  event("fallback: " + std::string(reason));
}

void Metrics::compiled(std::chrono::nanoseconds time) {
  using namespace std::chrono;
  counter(metric::kCompileMicros).add(duration_cast<microseconds>(time).count());
  counter(metric::kCompiles).add();
}

std::map<std::string, uint64_t, std::less<>> Metrics::snapshot() const {
  std::map<std::string, uint64_t, std::less<>> values;
  std::lock_guard<std::mutex> guard(mutex);
  for (const auto &[name, counter] : counters)
    values.emplace(name, counter->value());
  return values;
}

/// Takes a value out, so that what remains is what has no place of its own.
static uint64_t take(std::map<std::string, uint64_t, std::less<>> &values, std::string_view name) {
  auto it = values.find(name);
  if (it == values.end())
    return 0;
  const uint64_t value = it->second;
  values.erase(it);
  return value;
}

std::string Metrics::toJson() const {
  auto values = snapshot();
  nlohmann::ordered_json json;
  json["cache"] = {{"memory_hits", take(values, metric::kMemoryHits)},
                   {"disk_hits", take(values, metric::kDiskHits)},
                   {"misses", take(values, metric::kMisses)},
                   {"waits", take(values, metric::kWaits)},
                   {"read_bytes", take(values, metric::kReadBytes)},
                   {"written_bytes", take(values, metric::kWrittenBytes)}};
  json["compile"] = {{"count", take(values, metric::kCompiles)},
                     {"ms", static_cast<double>(take(values, metric::kCompileMicros)) / 1000.0}};
  json["fast_path"] = take(values, metric::kFastPath);
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

//===----------------------------------------------------------------------===//
// Prometheus
//===----------------------------------------------------------------------===//

/// A label's value: backslash, quote and newline are escaped.
static std::string labelText(std::string_view value) {
  std::string text;
  for (char c : value) {
    if (c == '\\' || c == '"')
      text += '\\';
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text;
}

/// The head of a metric: what it counts.
static std::string head(const std::string &name, const std::string &help) {
  return "# HELP " + name + " " + help + "\n# TYPE " + name + " counter\n";
}

std::string Metrics::toPrometheus() const {
  auto values = snapshot();
  auto number = [&](std::string_view name) { return std::to_string(take(values, name)); };
  std::string text = head("attn_cache_hits_total", "Kernels found, by where.");
  text += "attn_cache_hits_total{level=\"memory\"} " + number(metric::kMemoryHits) + "\n";
  text += "attn_cache_hits_total{level=\"disk\"} " + number(metric::kDiskHits) + "\n";
  auto plain = [&](const std::string &name, const std::string &help, const std::string &value) {
    text += head(name, help) + name + " " + value + "\n";
  };
  plain("attn_cache_misses_total", "Kernels found nowhere.", number(metric::kMisses));
  plain("attn_cache_waits_total", "Waits for another thread's compile.", number(metric::kWaits));
  plain("attn_cache_read_bytes_total", "Code read from disk.", number(metric::kReadBytes));
  plain("attn_cache_written_bytes_total", "Code written to disk.", number(metric::kWrittenBytes));
  plain("attn_compiles_total", "Kernels compiled.", number(metric::kCompiles));
  plain("attn_compile_seconds_total", "Time spent compiling.",
        std::to_string(static_cast<double>(take(values, metric::kCompileMicros)) * 1e-6));
  plain("attn_fast_path_total", "Kernels that a fast path took.", number(metric::kFastPath));
  text += head("attn_fallbacks_total", "Kernels that no fast path took, by reason.");
  std::string others = head("attn_other_total", "Further counters, by name.");
  for (const auto &[name, value] : values) {
    if (name.starts_with(metric::kFallbackPrefix))
      text += "attn_fallbacks_total{reason=\"" +
              labelText(name.substr(metric::kFallbackPrefix.size())) + "\"} " +
              std::to_string(value) + "\n";
    else
      others +=
          "attn_other_total{name=\"" + labelText(name) + "\"} " + std::to_string(value) + "\n";
  }
  return text + others;
}

} // namespace attn::rt
