//===- DiskCacheAliases.cpp - Cheap hashes that stand for keys ------------===//
//
// An alias is a text file: the SHA-256 of the rest in hexadecimal, a newline, and
// {"alias":..,"key":..,"remarks":[..]}. It holds nothing that is run.
//
//===----------------------------------------------------------------------===//

#include <nlohmann/json.hpp>

#include "CacheLayout.h"
#include "FileUtils.h"
#include "attn/Runtime/DiskCache.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt {

using Json = nlohmann::json;

static std::string serialize(std::string_view alias, const CacheAlias &target) {
  const std::string body =
      Json{{"alias", alias}, {"key", target.key}, {"remarks", target.remarks}}.dump(
          -1, ' ', false, Json::error_handler_t::replace);
  return toHex(sha256({body})) + "\n" + body;
}

static Expected<CacheAlias> parse(std::string_view bytes, std::string_view alias) {
  constexpr size_t kDigestSize = 2 * sizeof(Digest);
  if (bytes.size() <= kDigestSize || bytes[kDigestSize] != '\n')
    return fail(ErrorCode::Corrupt, "not an alias: it does not start with a digest and a newline");
  const std::string_view body = bytes.substr(kDigestSize + 1);
  if (toHex(sha256({body})) != bytes.substr(0, kDigestSize))
    return fail(ErrorCode::Corrupt, "the digest does not match the content");
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  auto text = [&](const Json &value) { return value.is_string() ? value.get<std::string>() : ""; };
  if (!json.is_object() || !json.contains("remarks") || !json["remarks"].is_array())
    return fail(ErrorCode::Corrupt, "not an alias: expected an object with remarks");
  if (std::string own = text(json.value("alias", Json())); own != alias)
    return fail(ErrorCode::Corrupt,
                "expected alias " + std::string(alias) + ", the file has '" + own + "'");
  CacheAlias target;
  target.key = text(json.value("key", Json()));
  if (!isKey(target.key))
    return fail(ErrorCode::Corrupt,
                "expected a key of 64 hexadecimal digits, got '" + target.key + "'");
  for (const Json &remark : json["remarks"])
    target.remarks.push_back(text(remark));
  return target;
}

static Expected<CacheAlias> readAlias(const std::string &path, std::string_view alias,
                                      bool isPack) {
  Expected<std::string> bytes = readCacheFile(path, cachelayout::kMaxAliasBytes, isPack);
  if (!bytes)
    return fail(bytes.error());
  Expected<CacheAlias> target = parse(*bytes, alias);
  if (!target)
    return fail(target.error().code, "'" + path + "': " + target.error().message);
  return target;
}

std::optional<CacheAlias> DiskCache::resolve(std::string_view alias) {
  if (!isKey(alias))
    return std::nullopt;
  auto look = [&](const std::string &tree, bool isPack) -> std::optional<CacheAlias> {
    const std::string path = cachelayout::alias(tree, alias);
    Expected<CacheAlias> target = readAlias(path, alias, isPack);
    if (target)
      return std::move(*target);
    reportUnreadable(path, target.error());
    return std::nullopt;
  };
  if (usable)
    if (std::optional<CacheAlias> target = look(root(), /*isPack=*/false))
      return target;
  for (const std::string &pack : options.packs)
    if (std::optional<CacheAlias> target = look(cachelayout::tree(pack), /*isPack=*/true))
      return target;
  return std::nullopt;
}

bool DiskCache::holds(std::string_view key) const {
  auto has = [&](const std::string &directory) {
    return ::access(cachelayout::entry(cachelayout::tree(directory), key).c_str(), F_OK) == 0;
  };
  return has(options.directory) || std::any_of(options.packs.begin(), options.packs.end(), has);
}

bool DiskCache::link(std::string_view alias, const CacheAlias &target) {
  if (!usable || !writable || !isKey(alias) || !isKey(target.key) || !holds(target.key))
    return false;
  const std::string bytes = serialize(alias, target);
  if (bytes.size() > cachelayout::kMaxAliasBytes)
    return false;
  return publish(alias, cachelayout::alias(root(), alias), bytes);
}

//===----------------------------------------------------------------------===//
// Maintenance
//===----------------------------------------------------------------------===//

/// The alias in a file's name, empty for any other file.
static std::string_view aliasOf(std::string_view path) {
  if (!path.ends_with(cachelayout::kAliasSuffix))
    return {};
  path.remove_suffix(cachelayout::kAliasSuffix.size());
  path.remove_prefix(path.rfind('/') + 1);
  return isKey(path) ? path : std::string_view();
}

std::vector<std::string> DiskCache::aliasPaths() const {
  std::vector<std::string> paths;
  Expected<std::vector<std::string>> shards = namesIn(root());
  for (const std::string &shard : shards ? *shards : std::vector<std::string>()) {
    const std::string directory = root() + "/" + shard;
    Expected<std::vector<std::string>> names =
        shard.size() == 2 ? namesIn(directory) : std::vector<std::string>();
    for (const std::string &name : names ? *names : std::vector<std::string>())
      if (!aliasOf(name).empty())
        paths.push_back(directory + "/" + name);
  }
  return paths;
}

void DiskCache::verifyAliases(VerifyReport &report) const {
  for (const std::string &path : aliasPaths())
    if (Expected<CacheAlias> target = readAlias(path, aliasOf(path), /*isPack=*/false);
        !target && target.error().code != ErrorCode::NotFound)
      report.bad.emplace_back(path, target.error().message);
}

PruneReport DiskCache::removeAliases(bool all) const {
  PruneReport report;
  for (const std::string &path : aliasPaths()) {
    if (!all) {
      Expected<CacheAlias> target = readAlias(path, aliasOf(path), /*isPack=*/false);
      if (target && holds(target->key))
        continue;
    }
    struct stat info;
    if (::lstat(path.c_str(), &info) != 0 || ::unlink(path.c_str()) != 0)
      continue;
    ++report.entries;
    report.bytes += static_cast<uint64_t>(info.st_size);
  }
  return report;
}

} // namespace attn::rt
