//===- BundleWriter.cpp - Writes many kernels as one file -----------------===//

#include "attn/Runtime/Bundle.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

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

Status BundleWriter::checkTarget(const std::string &path) {
  auto refuse = [&](const std::string &what) {
    return fail(ErrorCode::BadInput, "bundle '" + path + "': " + what);
  };
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (status.type() == std::filesystem::file_type::not_found) {
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    if (!std::filesystem::is_directory(folder, problem))
      return refuse("there is no folder '" + folder.string() + "'; make it first");
    return {};
  }
  if (status.type() != std::filesystem::file_type::regular)
    return refuse("is there and no regular file; give the name of a file");
  std::string start(bundlelayout::kMagic.size(), '\0');
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid())
    return systemFailure("open", path, errno);
  const ssize_t count = ::read(file.get(), start.data(), start.size());
  if (count != 0 && start != bundlelayout::kMagic)
    return refuse("is there and no bundle; remove it, or give another name");
  return {};
}

Status BundleWriter::publish(const std::string &path) const {
  if (Status status = checkTarget(path); !status)
    return status;
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
