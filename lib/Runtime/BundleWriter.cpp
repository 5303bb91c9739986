//===- BundleWriter.cpp - Writes many kernels as one file -----------------===//

#include "attn/Runtime/Bundle.h"

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "BundleLayout.h"
#include "FileUtils.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt {

using Json = nlohmann::json;

Status BundleWriter::add(BundleKernel kernel, const Artifact &artifact) {
  std::string &bytes = artifacts[kernel.key];
  if (bytes.empty()) {
    Expected<std::string> made = serialize(artifact, kernel.key);
    if (!made) {
      artifacts.erase(kernel.key);
      return fail(made.error());
    }
    bytes = std::move(*made);
  }
  kernels.push_back(std::move(kernel));
  return {};
}

static std::string makeIndex(const std::string &compiler, const std::vector<BundleKernel> &kernels,
                             const std::map<std::string, std::string> &artifacts) {
  Json index = {{"compiler", compiler}, {"artifacts", Json::array()}, {"kernels", Json::array()}};
  uint64_t offset = 0;
  for (const auto &[key, bytes] : artifacts) {
    index["artifacts"].push_back({{"key", key},
                                  {"offset", offset},
                                  {"bytes", bytes.size()},
                                  {"sha256", toHex(sha256({bytes}))}});
    offset += bytes.size();
  }
  for (const BundleKernel &kernel : kernels)
    index["kernels"].push_back({{"spec", kernel.spec},
                                {"target", kernel.target},
                                {"payload", toString(kernel.payload)},
                                {"alias", kernel.alias},
                                {"key", kernel.key},
                                {"remarks", kernel.remarks}});
  return index.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status BundleWriter::publish(const std::string &path) const {
  const std::string index = makeIndex(compiler, kernels, artifacts);
  std::string header(bundlelayout::kMagic);
  putInteger(header, kBundleSchema, 4);
  putInteger(header, 0, 4);
  putInteger(header, index.size(), 8);
  const Digest digest = sha256({header, index});
  header.append(reinterpret_cast<const char *>(digest.data()), digest.size());

  std::string temporary = path + ".XXXXXX";
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid())
    return systemFailure("make a file", temporary, errno);
  // A bundle is for others to read, unlike the entries of a user's cache.
  (void)::fchmod(file.get(), 0644);
  Status status = writeAll(file.get(), temporary, header);
  if (status)
    status = writeAll(file.get(), temporary, index);
  for (const auto &[key, bytes] : artifacts)
    if (status)
      status = writeAll(file.get(), temporary, bytes);
  return publishFile(std::move(status), std::move(file), temporary, path);
}

} // namespace attn::rt
