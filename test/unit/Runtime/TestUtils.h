//===- TestUtils.h - What the runtime's tests share -----------------------===//

#ifndef ATTN_TEST_UNIT_RUNTIME_TESTUTILS_H
#define ATTN_TEST_UNIT_RUNTIME_TESTUTILS_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/Hash.h"

namespace attn::rt::test {

/// A directory that goes away with the object.
class TempDir {
public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attn-test-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(directory); }
  TempDir(const TempDir &) = delete;
  TempDir &operator=(const TempDir &) = delete;

  const std::string &path() const { return directory; }
  std::string operator/(const std::string &name) const { return directory + "/" + name; }

private:
  std::string directory;
};

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string keyOf(int64_t number) { return KeyBuilder().add("number", number).finish(); }

/// o[batch, rows, 64] = f(q, k, scale): one kernel per 128 rows, then a merge over
/// a workspace of two partial results.
inline Artifact sampleArtifact(std::string payload = ".version 7.0\n.target sm_80\n") {
  Artifact artifact;
  artifact.payload = std::move(payload);
  Manifest &manifest = artifact.manifest;
  manifest.chip = "sm_80";
  manifest.compiler = "attn 0.1.0 + LLVM 22.1";
  manifest.problem = "attn.forward bf16 \"d=64\"\n";
  manifest.arguments = {ArgumentSpec::memref("q", ElementType::BF16, {kDynamic, kDynamic, 64}, 16),
                        ArgumentSpec::memref("k", ElementType::BF16, {kDynamic, kDynamic, 64}, 16),
                        ArgumentSpec::memref("o", ElementType::F32, {kDynamic, kDynamic, 64}, 16),
                        ArgumentSpec::scalar("scale", ArgumentKind::F32),
                        ArgumentSpec::scalar("window", ArgumentKind::Index)};
  manifest.equalSizes = {{{0, 0}, {1, 0}, {2, 0}}, {{0, 1}, {2, 1}}};
  manifest.workspaces = {
      {ElementType::F32,
       {SizeExpr{SizeFactor::constant(2)}, SizeExpr{SizeFactor::size(0, 0), SizeFactor::size(0, 1)},
        SizeExpr{SizeFactor::constant(64)}}},
      {ElementType::F32, {SizeExpr{SizeFactor::constant(2), SizeFactor::size(0, 1)}}}};
  KernelEntry partial;
  partial.name = "partial";
  partial.grid = {SizeFactor::size(0, 0), SizeFactor::size(0, 1, 128), SizeFactor::constant(2)};
  partial.dynamicSharedBytes = 64 * 1024;
  partial.arguments = {0, 1, 3, 4, 5, 6};
  KernelEntry merge;
  merge.name = "merge";
  merge.grid = {SizeFactor::size(2, 0), SizeFactor::size(2, 1)};
  merge.threads = 64;
  merge.staticSharedBytes = 1024;
  merge.registers = 40;
  merge.arguments = {5, 6, 2};
  manifest.kernels = {partial, merge};
  return artifact;
}

/// Makes "partial" the only kernel: persistent, over one tensor [batch, rows, 4, 64] that it reads
/// through a map of boxes of 128 rows.
inline KernelEntry &takeOneTensorByMap(Manifest &manifest) {
  manifest.arguments = {
      ArgumentSpec::memref("q", ElementType::BF16, {kDynamic, kDynamic, 4, 64}, 16)};
  manifest.equalSizes.clear();
  manifest.workspaces.clear();
  KernelEntry kernel;
  kernel.name = "partial";
  kernel.grid = {SizeFactor::size(0, 0), SizeFactor::size(0, 1)};
  kernel.persistent = true;
  kernel.arguments = {0};
  kernel.tensorMaps = {{0, 128, 64}};
  manifest.kernels = {kernel};
  return manifest.kernels.front();
}

} // namespace attn::rt::test

#endif // ATTN_TEST_UNIT_RUNTIME_TESTUTILS_H
