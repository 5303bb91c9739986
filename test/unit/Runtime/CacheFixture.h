//===- CacheFixture.h - A cache directory for tests -----------------------===//

#ifndef ATTN_TEST_UNIT_RUNTIME_CACHEFIXTURE_H
#define ATTN_TEST_UNIT_RUNTIME_CACHEFIXTURE_H

#include "TestUtils.h"
#include "attn/Runtime/DiskCache.h"

namespace attn::rt::test {

/// A cache directory that goes away with the test, whose warnings are kept.
class CacheFixture : public testing::Test {
protected:
  DiskCacheOptions options(const std::string &directory) {
    DiskCacheOptions result;
    result.directory = directory;
    result.warn = [this](const std::string &message) { warnings.push_back(message); };
    return result;
  }

  /// What this version of the format keeps in a cache directory.
  std::string tree(const std::string &directory = {}) {
    return (directory.empty() ? cacheDir : directory) + "/v" + std::to_string(kArtifactSchema);
  }
  std::string filePath(const std::string &name, const std::string &suffix,
                       const std::string &directory = {}) {
    return tree(directory) + "/" + name.substr(0, 2) + "/" + name + suffix;
  }
  std::string entryPath(const std::string &key, const std::string &directory = {}) {
    return filePath(key, ".attn", directory);
  }

  TempDir temp;
  std::string cacheDir = temp / "deep/cache";
  std::vector<std::string> warnings;
};

} // namespace attn::rt::test

#endif // ATTN_TEST_UNIT_RUNTIME_CACHEFIXTURE_H
