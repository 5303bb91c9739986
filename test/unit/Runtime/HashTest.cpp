#include "TestUtils.h"

using namespace attn::rt;

TEST(Hash, KnownDigests) {
  EXPECT_EQ(toHex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256({"a", "bc"})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, PartsDoNotRunIntoEachOther) {
  const std::string key = KeyBuilder().add("ab", "c").finish();
  EXPECT_NE(key, KeyBuilder().add("a", "bc").finish());
  EXPECT_NE(key, KeyBuilder().add("ab", "c").add("", "").finish());
  EXPECT_EQ(key, KeyBuilder().add("ab", "c").finish());
}

TEST(Hash, OrderMattersAndFinishDoesNotEnd) {
  KeyBuilder builder;
  builder.add("x", 1);
  const std::string one = builder.finish();
  EXPECT_EQ(one, builder.finish());
  const std::string two = builder.add("y", 2).finish();
  EXPECT_NE(one, two);
  EXPECT_NE(two, KeyBuilder().add("y", 2).add("x", 1).finish());
}

TEST(Hash, IsKey) {
  EXPECT_TRUE(isKey(KeyBuilder().finish()));
  EXPECT_FALSE(isKey(""));
  EXPECT_FALSE(isKey("../../../../etc/passwd"));
  EXPECT_FALSE(isKey(std::string(64, 'A')));
  EXPECT_FALSE(isKey(std::string(63, 'a')));
}
