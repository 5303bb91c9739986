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

static std::string serialize(std::string_view alias, const AliasTarget &target) {
  const std::string body =
      Json{{"alias", alias}, {"key", target.key}, {"remarks", target.remarks}}.dump(
          -1, ' ', false, Json::error_handler_t::replace);
  return toHex(sha256({body})) + "\n" + body;
}

static Expected<AliasTarget> parse(std::string_view bytes, std::string_view alias) {
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
  AliasTarget target;
  target.key = text(json.value("key", Json()));
  if (!isKey(target.key))
    return fail(ErrorCode::Corrupt,
                "expected a key of 64 hexadecimal digits, got '" + target.key + "'");
  for (const Json &remark : json["remarks"])
    target.remarks.push_back(text(remark));
  return target;
}

static Expected<AliasTarget> readAlias(const std::string &path, std::string_view alias,
                                       bool isPack) {
  Expected<std::string> bytes = readCacheFile(path, cachelayout::kMaxAliasBytes, isPack);
  if (!bytes)
    return fail(bytes.error());
  Expected<AliasTarget> target = parse(*bytes, alias);
  if (!target)
    return fail(target.error().code, "'" + path + "': " + target.error().message);
  return target;
}

std::optional<AliasTarget> DiskCache::resolve(std::string_view alias) {
  if (!isKey(alias))
    return std::nullopt;
  for (const Tree &tree : trees()) {
    const std::string path = cachelayout::alias(tree.path, alias);
    Expected<AliasTarget> target = readAlias(path, alias, tree.isPack);
    if (target)
      return std::move(*target);
    reportUnreadable(path, target.error());
  }
  for (const Bundle::Ptr &bundle : bundles())
    if (const BundleKernel *kernel = bundle->resolve(alias))
      return AliasTarget{kernel->key, kernel->remarks};
  return std::nullopt;
}

bool DiskCache::holds(std::string_view key) const {
  for (const Tree &tree : trees())
    if (::access(cachelayout::entry(tree.path, key).c_str(), F_OK) == 0)
      return true;
  const std::vector<Bundle::Ptr> all = bundles();
  return std::any_of(all.begin(), all.end(),
                     [&](const Bundle::Ptr &bundle) { return bundle->holds(key); });
}

bool DiskCache::link(std::string_view alias, const AliasTarget &target) {
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

Status DiskCache::verifyAliases(VerifyReport &report) const {
  Expected<std::vector<std::string>> paths = filesWith(cachelayout::kAliasSuffix);
  if (!paths)
    return fail(paths.error());
  for (const std::string &path : *paths)
    if (Expected<AliasTarget> target =
            readAlias(path, cachelayout::keyOf(path, cachelayout::kAliasSuffix), /*isPack=*/false);
        !target && target.error().code != ErrorCode::NotFound)
      report.bad.emplace_back(path, target.error().message);
  return {};
}

Expected<PruneReport> DiskCache::removeAliases(bool all) const {
  Expected<std::vector<std::string>> paths = filesWith(cachelayout::kAliasSuffix);
  if (!paths)
    return fail(paths.error());
  PruneReport report;
  for (const std::string &path : *paths) {
    if (!all) {
      Expected<AliasTarget> target =
          readAlias(path, cachelayout::keyOf(path, cachelayout::kAliasSuffix), /*isPack=*/false);
      if (target && holds(target->key))
        continue;
    }
    struct stat info;
    if (::lstat(path.c_str(), &info) != 0 || ::unlink(path.c_str()) != 0)
      continue;
    ++report.files;
    report.bytes += static_cast<uint64_t>(info.st_size);
  }
  return report;
}

} // namespace attn::rt
