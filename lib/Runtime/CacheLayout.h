//===- CacheLayout.h - Names inside a cache directory ---------------------===//

#ifndef ATTN_LIB_RUNTIME_CACHELAYOUT_H
#define ATTN_LIB_RUNTIME_CACHELAYOUT_H

#include <string>
#include <string_view>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt::cachelayout {

inline constexpr std::string_view kEntrySuffix = ".attn";
inline constexpr std::string_view kAliasSuffix = ".alias";
inline constexpr std::string_view kTempDirectory = "tmp";
inline constexpr std::string_view kLockDirectory = "locks";

/// Most bytes an entry may have; a larger file is none of ours.
inline constexpr size_t kMaxEntryBytes = size_t(256) << 20;

/// Most bytes an alias may have.
inline constexpr size_t kMaxAliasBytes = size_t(64) << 10;

/// The tree of this version of the format inside a cache directory.
inline std::string tree(const std::string &directory) {
  return directory + "/v" + std::to_string(kArtifactSchema);
}

inline std::string shard(const std::string &tree, std::string_view key) {
  return tree + "/" + std::string(key.substr(0, 2));
}

inline std::string entry(const std::string &tree, std::string_view key) {
  return shard(tree, key) + "/" + std::string(key) + std::string(kEntrySuffix);
}

inline std::string alias(const std::string &tree, std::string_view alias) {
  return shard(tree, alias) + "/" + std::string(alias) + std::string(kAliasSuffix);
}

/// The key in the path of a file KEY + suffix, empty for any other file.
inline std::string_view keyOf(std::string_view path, std::string_view suffix) {
  if (!path.ends_with(suffix))
    return {};
  path.remove_suffix(suffix.size());
  path.remove_prefix(path.rfind('/') + 1);
  return isKey(path) ? path : std::string_view();
}

inline std::string temporaries(const std::string &tree) {
  return tree + "/" + std::string(kTempDirectory);
}

inline std::string locks(const std::string &tree) {
  return tree + "/" + std::string(kLockDirectory);
}

} // namespace attn::rt::cachelayout

#endif // ATTN_LIB_RUNTIME_CACHELAYOUT_H
