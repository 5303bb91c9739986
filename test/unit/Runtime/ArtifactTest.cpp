#include <functional>

#include "TestUtils.h"

using namespace attn::rt;
using namespace attn::rt::test;

namespace {
const std::string kKey = keyOf(1);

std::string sampleBytes() { return serialize(sampleArtifact(), kKey).value(); }

ErrorCode codeOf(const std::string &bytes, const std::string &key = kKey) {
  Expected<Artifact> result = deserialize(bytes, key);
  EXPECT_FALSE(result);
  return result ? ErrorCode::Internal : result.error().code;
}
} // namespace

TEST(Artifact, RoundTrip) {
  for (std::string payload : {std::string(), std::string("ptx"), std::string("a\0b\xff", 4)}) {
    Artifact artifact = sampleArtifact(payload);
    artifact.manifest.payloadKind = PayloadKind::Cubin;
    artifact.manifest.minDriverVersion = 12030;
    const std::string bytes = serialize(artifact, kKey).value();
    EXPECT_EQ(deserialize(bytes, kKey).value(), artifact);
    EXPECT_EQ(deserialize(bytes, "").value(), artifact);
    EXPECT_EQ(readKey(bytes).value(), kKey);
  }
}

TEST(Artifact, EveryKindOfArgumentRoundTrips) {
  Manifest manifest = sampleArtifact().manifest;
  for (ArgumentKind kind : {ArgumentKind::F32, ArgumentKind::F64, ArgumentKind::I64,
                            ArgumentKind::Index, ArgumentKind::I32})
    manifest.arguments.push_back(ArgumentSpec::scalar("s", kind));
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::BF16, ElementType::F16,
                           ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::I64,
                           ElementType::I32, ElementType::I16, ElementType::I8, ElementType::I1})
    manifest.arguments.push_back(ArgumentSpec::memref("t", type, {0, 5}));
  manifest.kernels.front().arguments.clear();
  EXPECT_EQ(parseManifest(toJson(manifest)).value(), manifest);
}

TEST(Artifact, EveryTruncationIsCorrupt) {
  const std::string bytes = sampleBytes();
  for (size_t length = 0; length < bytes.size(); ++length)
    ASSERT_EQ(codeOf(bytes.substr(0, length)), ErrorCode::Corrupt) << "length " << length;
  EXPECT_EQ(codeOf(bytes + "x"), ErrorCode::Corrupt);
}

TEST(Artifact, EveryFlippedBitIsNoticed) {
  const std::string bytes = sampleBytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] ^= static_cast<char>(1 << (at % 8));
    const bool isSchema = at >= 8 && at < 12;
    ASSERT_EQ(codeOf(damaged), isSchema ? ErrorCode::Stale : ErrorCode::Corrupt) << "byte " << at;
  }
}

TEST(Artifact, HugeLengthsAreCorrupt) {
  for (size_t offset : {16, 24, 32}) {
    std::string bytes = sampleBytes();
    bytes.replace(offset, 8, std::string(8, '\xff'));
    EXPECT_EQ(codeOf(bytes), ErrorCode::Corrupt);
  }
}

TEST(Artifact, AnotherKeyIsCorruptAndNamed) {
  Expected<Artifact> result = deserialize(sampleBytes(), keyOf(2));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(result.error().message, testing::HasSubstr(kKey));
}

TEST(Artifact, RefusesToWriteWhatItCannotRead) {
  EXPECT_EQ(serialize(sampleArtifact(), "short").error().code, ErrorCode::Internal);
  Artifact artifact = sampleArtifact();
  artifact.manifest.kernels.clear();
  EXPECT_EQ(serialize(artifact, kKey).error().code, ErrorCode::Internal);
}

TEST(Manifest, OtherSchemaIsStale) {
  Manifest manifest = sampleArtifact().manifest;
  manifest.schema = kArtifactSchema + 1;
  EXPECT_EQ(parseManifest(toJson(manifest)).error().code, ErrorCode::Stale);
}

TEST(Manifest, MalformedJsonIsCorrupt) {
  const std::string good = toJson(sampleArtifact().manifest);
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::string bad[] = {"",
                             "{",
                             "[]",
                             "null",
                             "{}",
                             std::string(100000, '['),
                             replaced("\"threads\":128", "\"threads\":\"128\""),
                             replaced("\"threads\":128", "\"threads\":1.5"),
                             replaced("\"threads\":128", "\"threads\":99999999999"),
                             replaced("\"threads\":128", "\"threads\":18446744073709551615"),
                             replaced("\"threads\":128", "\"threads\":-1"),
                             replaced("\"kind\":\"memref\"", "\"kind\":\"memory\""),
                             replaced("\"type\":\"bf16\"", "\"type\":\"bf17\""),
                             replaced("\"payload\":\"ptx\"", "\"payload\":\"elf\""),
                             replaced("\"name\":\"partial\"", "\"nome\":\"partial\""),
                             replaced("\"name\":\"partial\"", "\"name\":7"),
                             replaced("\"grid\":[", "\"grid\":[\"x\","),
                             replaced("\"tile_counter\":false", "\"tile_counter\":0"),
                             replaced("\"tile_counter\":false", "\"counter\":false"),
                             replaced("\"arg\":0", "\"arg\":-1"),
                             replaced("\"align\":16", "\"align\":12")};
  for (const std::string &text : bad) {
    Expected<Manifest> result = parseManifest(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::Corrupt) << text;
    EXPECT_FALSE(result.error().message.empty());
  }
}

TEST(Manifest, ValidationNamesWhatIsWrong) {
  struct Case {
    const char *message;
    std::function<void(Manifest &)> spoil;
  };
  const Case cases[] = {
      {"chip", [](Manifest &m) { m.chip.clear(); }},
      {"driver version, got -1", [](Manifest &m) { m.minDriverVersion = -1; }},
      {"'q': expected rank at most 8, got 9", [](Manifest &m) { m.arguments[0].shape.resize(9); }},
      {"size of at least 0, or -1 for any, got -2",
       [](Manifest &m) { m.arguments[0].shape[0] = -2; }},
      {"power of two, got 0", [](Manifest &m) { m.arguments[0].alignment = 0; }},
      {"no shape for a scalar", [](Manifest &m) { m.arguments[3].shape = {1}; }},
      {"equal sizes", [](Manifest &m) { m.equalSizes[0][1].dim = 3; }},
      {"equal sizes", [](Manifest &m) { m.equalSizes[0][1].argument = 3; }},
      {"workspace: expected rank", [](Manifest &m) { m.workspaces[0].shape.resize(9); }},
      {"workspace: expected a constant factor of at least 0, got -1",
       [](Manifest &m) { m.workspaces[0].shape[0].factors[0].value = -1; }},
      {"'partial': expected a divisor of at least 1, got 0",
       [](Manifest &m) { m.kernels[0].grid.factors[0].value = 0; }},
      {"'partial': expected a dimension of a tensor argument",
       [](Manifest &m) { m.kernels[0].grid.factors[0].argument = 9; }},
      {"1 to 1024 threads, got 0", [](Manifest &m) { m.kernels[0].threads = 0; }},
      {"1 to 1024 threads, got 1025", [](Manifest &m) { m.kernels[0].threads = 1025; }},
      {"static shared memory", [](Manifest &m) { m.kernels[0].staticSharedBytes = -1; }},
      {"dynamic shared memory", [](Manifest &m) { m.kernels[0].dynamicSharedBytes = -1; }},
      {"register count, or -1, got -2", [](Manifest &m) { m.kernels[0].registers = -2; }},
      {"argument positions below 7, got 7",
       [](Manifest &m) { m.kernels[0].arguments.push_back(7); }},
      {"'partial': expected a tile counter of persistent kernels alone",
       [](Manifest &m) { m.kernels[0].tileCounter = true; }},
      {"a kernel has no name", [](Manifest &m) { m.kernels[0].name.clear(); }},
      {"there is no kernel", [](Manifest &m) { m.kernels.clear(); }},
  };
  ASSERT_TRUE(validate(sampleArtifact().manifest));
  for (const Case &each : cases) {
    Manifest manifest = sampleArtifact().manifest;
    each.spoil(manifest);
    Status status = validate(manifest);
    ASSERT_FALSE(status) << each.message;
    EXPECT_THAT(status.error().message, testing::HasSubstr(each.message));
  }
}
