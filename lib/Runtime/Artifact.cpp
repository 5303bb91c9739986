//===- Artifact.cpp - The artifact file -----------------------------------===//

#include "attn/Runtime/Artifact.h"

#include <cstring>

#include "FileUtils.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt {

static constexpr std::string_view kMagic = "ATTNKRN\n";
static constexpr size_t kDigestOffset = 40;
static constexpr size_t kBodyOffset = kDigestOffset + sizeof(Digest);

Expected<std::string> serialize(const Artifact &artifact, std::string_view key) {
  if (!isKey(key))
    return fail(ErrorCode::Internal,
                "expected a key of 64 hexadecimal digits, got '" + std::string(key) + "'");
  if (Status valid = validate(artifact.manifest); !valid)
    return fail(valid.error());
  const std::string manifest = toJson(artifact.manifest);

  std::string header(kMagic);
  putInteger(header, kArtifactSchema, 4);
  putInteger(header, 0, 4);
  putInteger(header, key.size(), 8);
  putInteger(header, manifest.size(), 8);
  putInteger(header, artifact.payload.size(), 8);
  std::string body;
  body.reserve(key.size() + manifest.size() + artifact.payload.size());
  body.append(key).append(manifest).append(artifact.payload);

  const Digest digest = sha256({header, body});
  header.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  return header + body;
}

namespace {
/// The parts of a file whose digest is right.
struct Sections {
  std::string_view key, manifest, payload;
};
} // namespace

static Expected<Sections> split(std::string_view bytes) {
  if (bytes.size() < kMagic.size() || bytes.substr(0, kMagic.size()) != kMagic)
    return fail(ErrorCode::Corrupt, "not an attn artifact: it does not start with the magic");
  if (bytes.size() < kBodyOffset)
    return fail(ErrorCode::Corrupt, "truncated header: expected " + std::to_string(kBodyOffset) +
                                        " bytes, got " + std::to_string(bytes.size()));
  // The schema decides what the rest means, so it is looked at before the digest.
  if (uint64_t schema = getInteger(bytes, 8, 4); schema != kArtifactSchema)
    return fail(ErrorCode::Stale, "the artifact has schema " + std::to_string(schema) +
                                      ", this library reads " + std::to_string(kArtifactSchema));
  const uint64_t lengths[] = {getInteger(bytes, 16, 8), getInteger(bytes, 24, 8),
                              getInteger(bytes, 32, 8)};
  const std::string_view body = bytes.substr(kBodyOffset);
  uint64_t left = body.size();
  for (uint64_t length : lengths) {
    if (length > left)
      return fail(ErrorCode::Corrupt, "truncated: the header promises more than the " +
                                          std::to_string(body.size()) + " bytes that follow it");
    left -= length;
  }
  if (left != 0)
    return fail(ErrorCode::Corrupt, std::to_string(left) + " bytes follow the end of the artifact");
  const Digest digest = sha256({bytes.substr(0, kDigestOffset), body});
  if (std::memcmp(digest.data(), bytes.data() + kDigestOffset, digest.size()) != 0)
    return fail(ErrorCode::Corrupt, "the digest does not match the content");
  return Sections{body.substr(0, lengths[0]), body.substr(lengths[0], lengths[1]),
                  body.substr(lengths[0] + lengths[1])};
}

Expected<std::string> readKey(std::string_view bytes) {
  Expected<Sections> sections = split(bytes);
  if (!sections)
    return fail(sections.error());
  return std::string(sections->key);
}

Expected<Artifact> deserialize(std::string_view bytes, std::string_view key) {
  Expected<Sections> sections = split(bytes);
  if (!sections)
    return fail(sections.error());
  if (!key.empty() && sections->key != key)
    return fail(ErrorCode::Corrupt, "expected key " + std::string(key) + ", the artifact has " +
                                        std::string(sections->key));
  Expected<Manifest> manifest = parseManifest(sections->manifest);
  if (!manifest)
    return fail(manifest.error());
  return Artifact{std::move(*manifest), std::string(sections->payload)};
}

} // namespace attn::rt
