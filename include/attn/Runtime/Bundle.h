//===- Bundle.h - Many kernels in one read-only file ----------------------===//
//
// A bundle is what pre-warming leaves for deployments: artifacts, and an index that
// says for which specs and targets they are. Finding and reading a kernel takes this
// library alone.
//
// File layout (integers little-endian):
//
//   offset  bytes  content
//        0      8  magic "ATTNBND\n"
//        8      4  schema (kBundleSchema)
//       12      4  zero
//       16      8  length of the index
//       24     32  SHA-256 of bytes 0-23 and of the index
//       56         index (JSON), then artifacts in the format of Artifact.h
//
// The index: {"compiler":..,
//   "artifacts":[{"key":..,"offset":..,"bytes":..,"sha256":..}],
//   "kernels":[{"spec":..,"target":..,"payload":..,"alias":..,"key":..,"remarks":[..]}]}
// Offsets count from the end of the index.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_BUNDLE_H
#define ATTN_RUNTIME_BUNDLE_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/Error.h"

namespace attn::rt {

/// Version of the bundle's header and index; a file of another version is Stale.
inline constexpr uint32_t kBundleSchema = 1;

/// One kernel of a bundle: what it was compiled from, and the key of its artifact.
struct BundleKernel {
  std::string spec; ///< Canonical, as `attnc prewarm --dry-run` prints it.
  std::string target;
  PayloadKind payload = PayloadKind::Ptx;
  std::string alias; ///< The cheap hash of spec, target and compiler (see DiskCache.h).
  std::string key;
  std::vector<std::string> remarks; ///< What the compiler said about the kernel.
  bool operator==(const BundleKernel &) const = default;
};

/// An open bundle. It reads from the file that was opened, whatever happens to its
/// name; entries are checked when they are read. Usable from any thread.
class Bundle {
public:
  using Ptr = std::shared_ptr<const Bundle>;

  /// Reads the index. NotFound when there is no file, Stale for another schema,
  /// Corrupt when it fails its checks, Unavailable when it cannot be read or another
  /// user but the system's administrator could have written it.
  static Expected<Ptr> open(const std::string &path);
  ~Bundle();
  Bundle(const Bundle &) = delete;
  Bundle &operator=(const Bundle &) = delete;

  const std::string &path() const { return name; }
  /// Build id of the compiler that wrote the bundle.
  const std::string &compiler() const { return compilerId; }
  const std::vector<BundleKernel> &kernels() const { return kernelList; }
  size_t numArtifacts() const { return places.size(); }

  bool holds(std::string_view key) const { return places.find(key) != places.end(); }
  /// Bytes of the artifact of `key`; 0 when there is none.
  uint64_t bytesOf(std::string_view key) const;

  /// The artifact of `key`. NotFound, or Corrupt when its bytes fail their checks.
  Expected<Artifact> get(std::string_view key) const;

  /// The kernel that `alias` stands for; null when there is none.
  const BundleKernel *resolve(std::string_view alias) const;

  /// The kernel of a canonical spec; null when there is none.
  const BundleKernel *find(std::string_view spec, std::string_view target,
                           PayloadKind payload) const;

  /// Reads every artifact and returns what is wrong: "key (spec, target)" and the problem.
  std::vector<std::pair<std::string, std::string>> verify() const;

private:
  Bundle() = default;
  Status readIndex();
  Status parseIndex(std::string_view json, uint64_t artifactBytes);

  struct Place {
    uint64_t offset = 0; ///< In the file.
    uint64_t bytes = 0;
    std::string sha256;
  };
  std::string name;
  int fd = -1;
  std::string compilerId;
  std::vector<BundleKernel> kernelList;
  std::map<std::string, Place, std::less<>> places;
  std::map<std::string_view, const BundleKernel *, std::less<>> byAlias;
};

/// Collects kernels and writes them as one file.
class BundleWriter {
public:
  explicit BundleWriter(std::string compiler) : compiler(std::move(compiler)) {}

  /// Adds a kernel with its artifact; kernels of one key share it. Internal when the
  /// artifact's manifest is not valid.
  Status add(BundleKernel kernel, const Artifact &artifact);

  /// Whether `path` may be written: nothing, an empty file or an older bundle is there, in a
  /// folder that exists. BadInput for anything else, which stays as it is.
  static Status checkTarget(const std::string &path);

  /// Checks the target, writes to a private file beside `path`, flushes it and renames it into
  /// place, so that `path` names the old bundle or all of the new one. Unavailable when it cannot.
  Status publish(const std::string &path) const;

private:
  std::string compiler;
  std::vector<BundleKernel> kernels;
  std::map<std::string, std::string> artifacts; ///< Serialized, by key.
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_BUNDLE_H
