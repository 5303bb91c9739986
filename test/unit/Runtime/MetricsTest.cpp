#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "TestUtils.h"
#include "attn/Runtime/Metrics.h"

using namespace attn::rt;

TEST(Metrics, EmptySetIsComplete) {
  EXPECT_EQ(Metrics().toJson(),
            "{\"cache\":{\"memory_hits\":0,\"disk_hits\":0,\"misses\":0,\"waits\":0,"
            "\"read_bytes\":0,\"written_bytes\":0},"
            "\"compile\":{\"count\":0,\"ms\":0.0},\"fast_path\":0,\"fallbacks\":{},\"other\":{}}");
}

TEST(Metrics, ThreadsLoseNothing) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        metrics.counter(metric::kMisses).add();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(metrics.counter(metric::kMisses).value(), 4000u);
}

TEST(Metrics, JsonGroups) {
  Metrics metrics;
  metrics.fallback("head_dim 71 is \"odd\"");
  metrics.fallback("head_dim 71 is \"odd\"");
  metrics.compiled(std::chrono::microseconds(1500));
  metrics.compiled(std::chrono::microseconds(500));
  metrics.counter("tiles").add(7);
  const nlohmann::json json = nlohmann::json::parse(metrics.toJson(), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["fallbacks"]["head_dim 71 is \"odd\""], 2);
  EXPECT_EQ(json["compile"]["count"], 2);
  EXPECT_EQ(json["compile"]["ms"], 2.0);
  EXPECT_EQ(json["other"]["tiles"], 7);
}

TEST(Metrics, PrometheusText) {
  Metrics metrics;
  metrics.counter(metric::kDiskHits).add(3);
  metrics.compiled(std::chrono::milliseconds(1500));
  metrics.fallback("a \"b\"\\\nc");
  const std::string text = metrics.toPrometheus();
  for (const char *line :
       {"# TYPE attn_cache_hits_total counter\n", "\nattn_cache_hits_total{level=\"disk\"} 3\n",
        "\nattn_compile_seconds_total 1.500000\n", "\nattn_compiles_total 1\n",
        "\nattn_fallbacks_total{reason=\"a \\\"b\\\"\\\\\\nc\"} 1\n"})
    EXPECT_THAT(text, testing::HasSubstr(line));
}

TEST(Metrics, EventsAreLogged) {
  Metrics metrics;
  std::vector<std::string> lines;
  metrics.event("before");
  metrics.setLog([&](const std::string &line) { lines.push_back(line); });
  metrics.fallback("odd");
  metrics.setLog({});
  metrics.event("after");
  EXPECT_EQ(lines, std::vector<std::string>{"fallback: odd"});
}
