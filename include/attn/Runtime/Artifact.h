//===- Artifact.h - A compiled kernel and how to launch it ----------------===//
//
// An artifact is one file: code for one chip plus the manifest that tells the
// runtime how to check a call's arguments and how to launch the kernels.
//
// File layout (integers little-endian):
//
//   offset  bytes  content
//        0      8  magic "ATTNKRN\n"
//        8      4  schema (kArtifactSchema)
//       12      4  zero
//       16      8  length of the key
//       24      8  length of the manifest
//       32      8  length of the payload
//       40     32  SHA-256 of bytes 0-39 and of everything after byte 72
//       72         key, manifest (JSON), payload
//
// Kernel parameters: a memref argument of rank r is passed as the fields of
// MLIR's LLVM memref descriptor, each a parameter of its own: allocated
// pointer, aligned pointer, i64 offset (always 0), r i64 sizes, r i64 strides
// in elements. A scalar is one parameter. Behind the arguments come the tile counter of a kernel
// that takes one, an i32 memref of shape [1], and then the tensor maps, 128 bytes each and aligned
// to 64.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_ARTIFACT_H
#define ATTN_RUNTIME_ARTIFACT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/Runtime/Error.h"
#include "attn/Runtime/SizeExpr.h"
#include "attn/Runtime/TensorArg.h"

namespace attn::rt {

/// Version of the file layout and of the manifest; a file of another version is
/// Stale.
inline constexpr uint32_t kArtifactSchema = 3;

enum class PayloadKind : uint8_t {
  Ptx,
  Cubin,
  Host, ///< Code of the CPU target; the manifest has no kernels, they are in the payload.
};

/// "ptx", "cubin" or "host", and back.
std::string_view toString(PayloadKind kind);
std::optional<PayloadKind> parsePayloadKind(std::string_view name);

enum class ArgumentKind : uint8_t { MemRef, F32, F64, I64, Index, I32 };

/// "memref", "f32", "f64", "i64", "index" or "i32".
std::string_view toString(ArgumentKind kind);

/// Size of a dimension that is only known at the call.
inline constexpr int64_t kDynamic = -1;

/// What one argument of a call must be.
struct ArgumentSpec {
  std::string name;
  ArgumentKind kind = ArgumentKind::MemRef;
  /// The rest is for memrefs.
  ElementType elementType = ElementType::F32;
  std::vector<int64_t> shape; ///< One per dimension; kDynamic where any size will do.
  int64_t alignment = 1;      ///< Bytes; base address and all strides but the last divide by it.

  static ArgumentSpec memref(std::string name, ElementType type, std::vector<int64_t> shape,
                             int64_t alignment = 1) {
    return {std::move(name), ArgumentKind::MemRef, type, std::move(shape), alignment};
  }
  static ArgumentSpec scalar(std::string name, ArgumentKind kind) {
    return {std::move(name), kind, ElementType::F32, {}, 1};
  }
  int rank() const { return static_cast<int>(shape.size()); }
  bool operator==(const ArgumentSpec &) const = default;
};

/// A dense row-major scratch tensor that the runtime allocates for each call and
/// passes after the user's arguments.
struct WorkspaceSpec {
  ElementType elementType = ElementType::F32;
  std::vector<SizeExpr> shape;
  bool operator==(const WorkspaceSpec &) const = default;
};

/// Tensor maps that the kernels of one manifest may take together: a call keeps them all until
/// its last launch.
inline constexpr size_t kMaxTensorMaps = 32;

/// Dims of a tensor that a map describes.
inline constexpr int kTensorMapRank = 4;

/// A tensor map that a kernel takes: which argument of the call, a 16-bit tensor of rank
/// 4, it describes, in boxes of rows x cols elements of one head (see TensorMap.h).
struct TensorMapSpec {
  int32_t argument = 0;
  int32_t rows = 0;
  int32_t cols = 0;
  bool operator==(const TensorMapSpec &) const = default;
};

/// One kernel of the payload, launched on a one-dimensional grid.
struct KernelEntry {
  std::string name; ///< Symbol in the payload.
  SizeExpr grid;    ///< Blocks; 0 means nothing to launch.
  /// Blocks take work until there is none left: at most one for each multiprocessor is
  /// launched.
  bool persistent = false;
  int32_t threads = 128;
  int64_t staticSharedBytes = 0;
  int64_t dynamicSharedBytes = 0;
  int32_t registers = -1; ///< Per thread; -1 when the payload is not assembled yet.
  /// What is passed, in order: user arguments first (0..n-1), then workspaces (n..).
  std::vector<int32_t> arguments;
  /// Passed after the arguments: a counter that blocks of a persistent kernel draw tiles from. It
  /// is 0 when the kernel starts, and the kernel leaves it at 0.
  bool tileCounter = false;
  std::vector<TensorMapSpec> tensorMaps; ///< Passed after the arguments and the tile counter.
  bool operator==(const KernelEntry &) const = default;
};

/// A dimension of a user argument.
struct DimRef {
  int32_t argument = 0;
  int32_t dim = 0;
  bool operator==(const DimRef &) const = default;
};

/// How to call the payload.
struct Manifest {
  uint32_t schema = kArtifactSchema;
  std::string chip; ///< "sm_80", "sm_90a", "cpu".
  PayloadKind payloadKind = PayloadKind::Ptx;
  std::string compiler; ///< Build id of the compiler that wrote it.
  std::string problem;  ///< The canonical problem, for people.
  /// Oldest driver that takes the payload, as cuDriverGetVersion counts (12030 is
  /// CUDA 12.3); 0 when any supported driver will do.
  int32_t minDriverVersion = 0;
  std::vector<ArgumentSpec> arguments;
  /// Each group lists dimensions whose actual sizes must be equal in a call.
  std::vector<std::vector<DimRef>> equalSizes;
  std::vector<WorkspaceSpec> workspaces;
  /// Launched in this order on one stream; none for PayloadKind::Host.
  std::vector<KernelEntry> kernels;

  bool operator==(const Manifest &) const = default;
};

struct Artifact {
  Manifest manifest;
  std::string payload; ///< PTX text, the bytes of a cubin, or an image of the CPU target.

  bool operator==(const Artifact &) const = default;
};

/// Manifest as JSON text, on one line.
std::string toJson(const Manifest &manifest);

/// Reads what toJson wrote. Stale for another schema; Corrupt for anything that
/// is malformed or contradicts itself (indices out of range, negative sizes).
Expected<Manifest> parseManifest(std::string_view json);

/// Whether the manifest is one the runtime can obey; the error says what is
/// wrong. serialize() and parseManifest() both ask.
Status validate(const Manifest &manifest);

/// The bytes of the artifact's file. Internal when the manifest is not valid or
/// `key` is not 64 hexadecimal digits.
Expected<std::string> serialize(const Artifact &artifact, std::string_view key);

/// Reads back a file. `key` is the key it must carry; empty accepts any. Corrupt
/// or Stale on any mismatch of magic, schema, lengths, digest, key or manifest.
Expected<Artifact> deserialize(std::string_view bytes, std::string_view key);

/// The key in the header of `bytes`, digest checked.
Expected<std::string> readKey(std::string_view bytes);

} // namespace attn::rt

#endif // ATTN_RUNTIME_ARTIFACT_H
