//===- Bundle.cpp - Reads many kernels from one file ----------------------===//

#include "attn/Runtime/Bundle.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "BundleLayout.h"
#include "CacheLayout.h"
#include "FileUtils.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt {

using Json = nlohmann::json;

Bundle::~Bundle() {
  if (fd >= 0)
    ::close(fd);
}

Expected<Bundle::Ptr> Bundle::open(const std::string &path) {
  std::shared_ptr<Bundle> bundle(new Bundle());
  bundle->name = path;
  Expected<FileDescriptor> file = openCacheFile(path, /*isPack=*/true);
  if (!file)
    return fail(file.error().code, file.error().code == ErrorCode::NotFound
                                       ? "no bundle '" + path + "'"
                                       : file.error().message);
  bundle->fd = file->release();
  if (Status read = bundle->readIndex(); !read)
    return fail(read.error().code, "bundle '" + path + "': " + read.error().message);
  return bundle;
}

//===----------------------------------------------------------------------===//
// The index
//===----------------------------------------------------------------------===//

Status Bundle::readIndex() {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return systemFailure("read", name, errno);
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size < bundlelayout::kHeaderBytes)
    return fail(ErrorCode::Corrupt, "truncated header: expected " +
                                        std::to_string(bundlelayout::kHeaderBytes) +
                                        " bytes, got " + std::to_string(size));
  Expected<std::string> header = readAt(fd, name, 0, bundlelayout::kHeaderBytes);
  if (!header)
    return fail(header.error());
  if (!header->starts_with(bundlelayout::kMagic))
    return fail(ErrorCode::Corrupt, "not a bundle: it does not start with the magic");
  if (uint64_t schema = getInteger(*header, bundlelayout::kSchemaOffset, 4);
      schema != kBundleSchema)
    return fail(ErrorCode::Stale, "it has schema " + std::to_string(schema) +
                                      ", this library reads " + std::to_string(kBundleSchema) +
                                      "; make it again with attnc prewarm --bundle");
  const uint64_t length = getInteger(*header, bundlelayout::kLengthOffset, 8);
  if (length > size - bundlelayout::kHeaderBytes || length > bundlelayout::kMaxIndexBytes)
    return fail(ErrorCode::Corrupt,
                "truncated: the header promises an index of " + std::to_string(length) +
                    " bytes, " + std::to_string(size - bundlelayout::kHeaderBytes) + " follow it");
  Expected<std::string> index = readAt(fd, name, bundlelayout::kHeaderBytes, length);
  if (!index)
    return fail(index.error());
  const Digest digest =
      sha256({std::string_view(*header).substr(0, bundlelayout::kDigestOffset), *index});
  if (std::memcmp(digest.data(), header->data() + bundlelayout::kDigestOffset, digest.size()) != 0)
    return fail(ErrorCode::Corrupt, "the digest does not match the index");
  return parseIndex(*index, size - bundlelayout::kHeaderBytes - length);
}

static std::string textOf(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

static uint64_t numberOf(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<uint64_t>() : UINT64_MAX;
}

static tl::unexpected<Error> badIndex(const std::string &what) {
  return fail(ErrorCode::Corrupt, "the index is malformed: " + what);
}

static Expected<BundleKernel> readKernel(const Json &json) {
  BundleKernel kernel{textOf(json, "spec"),  textOf(json, "target"), {},
                      textOf(json, "alias"), textOf(json, "key"),    {}};
  std::optional<PayloadKind> payload = parsePayloadKind(textOf(json, "payload"));
  if (!payload || !isKey(kernel.key) || !isKey(kernel.alias))
    return badIndex("a kernel lacks its payload, key or alias");
  kernel.payload = *payload;
  if (auto remarks = json.find("remarks"); remarks != json.end() && remarks->is_array())
    for (const Json &remark : *remarks)
      if (remark.is_string())
        kernel.remarks.push_back(remark.get<std::string>());
  return kernel;
}

Status Bundle::parseIndex(std::string_view text, uint64_t artifactBytes) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("artifacts") || !json["artifacts"].is_array() ||
      !json.contains("kernels") || !json["kernels"].is_array())
    return badIndex("expected an object with artifacts and kernels");
  compilerId = textOf(json, "compiler");
  const uint64_t base = bundlelayout::kHeaderBytes + text.size();
  for (const Json &item : json["artifacts"]) {
    if (!item.is_object())
      return badIndex("an artifact is no object");
    std::string key = textOf(item, "key");
    Place place{numberOf(item, "offset"), numberOf(item, "bytes"), textOf(item, "sha256")};
    if (!isKey(key) || !isKey(place.sha256))
      return badIndex("an artifact lacks its key or digest");
    if (place.offset > artifactBytes || place.bytes > artifactBytes - place.offset ||
        place.bytes > cachelayout::kMaxEntryBytes)
      return fail(ErrorCode::Corrupt, "truncated: artifact " + key + " ends after the " +
                                          std::to_string(artifactBytes) +
                                          " bytes that follow the index");
    place.offset += base;
    places.emplace(std::move(key), std::move(place));
  }
  for (const Json &item : json["kernels"]) {
    if (!item.is_object())
      return badIndex("a kernel is no object");
    Expected<BundleKernel> kernel = readKernel(item);
    if (!kernel)
      return fail(kernel.error());
    if (!holds(kernel->key))
      return badIndex("there is no artifact " + kernel->key);
    kernelList.push_back(std::move(*kernel));
  }
  for (const BundleKernel &kernel : kernelList)
    byAlias.emplace(kernel.alias, &kernel);
  return {};
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

uint64_t Bundle::bytesOf(std::string_view key) const {
  auto it = places.find(key);
  return it == places.end() ? 0 : it->second.bytes;
}

Expected<Artifact> Bundle::get(std::string_view key) const {
  auto it = places.find(key);
  if (it == places.end())
    return fail(ErrorCode::NotFound, "no artifact " + std::string(key) + " in '" + name + "'");
  auto bad = [&](const Error &error) {
    return fail(error.code, "'" + name + "': artifact " + it->first + ": " + error.message);
  };
  Expected<std::string> bytes = readAt(fd, name, it->second.offset, it->second.bytes);
  if (!bytes)
    return bad(bytes.error());
  if (toHex(sha256({*bytes})) != it->second.sha256)
    return bad({ErrorCode::Corrupt, "the digest does not match the content"});
  Expected<Artifact> artifact = deserialize(*bytes, key);
  if (!artifact)
    return bad(artifact.error());
  return artifact;
}

const BundleKernel *Bundle::resolve(std::string_view alias) const {
  auto it = byAlias.find(alias);
  return it == byAlias.end() ? nullptr : it->second;
}

const BundleKernel *Bundle::find(std::string_view spec, std::string_view target,
                                 PayloadKind payload) const {
  for (const BundleKernel &kernel : kernelList)
    if (kernel.spec == spec && kernel.target == target && kernel.payload == payload)
      return &kernel;
  return nullptr;
}

std::vector<std::pair<std::string, std::string>> Bundle::verify() const {
  std::vector<std::pair<std::string, std::string>> bad;
  for (const auto &[key, place] : places) {
    Expected<Artifact> artifact = get(key);
    const BundleKernel *owner = nullptr;
    for (const BundleKernel &kernel : kernelList)
      if (kernel.key == key)
        owner = &kernel;
    const std::string what = owner ? key + " (" + owner->spec + ", " + owner->target + ")" : key;
    if (!artifact)
      bad.emplace_back(what, artifact.error().message);
    else if (owner && artifact->manifest.payloadKind != owner->payload)
      bad.emplace_back(what, "expected payload " + std::string(toString(owner->payload)) +
                                 ", got " + std::string(toString(artifact->manifest.payloadKind)));
  }
  return bad;
}

} // namespace attn::rt
