#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "TestUtils.h"
#include "attn/Runtime/Metrics.h"

using namespace attn::rt;

TEST(Metrics, EmptySetIsComplete) {
  EXPECT_EQ(Metrics().toJson(),
            "{\"cache\":{\"memory_hits\":0,\"disk_hits\":0,\"misses\":0,\"waits\":0},"
            "\"compile\":{\"count\":0,\"ms\":0.0},\"fallbacks\":{},\"other\":{}}");
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
