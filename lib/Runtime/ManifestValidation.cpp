//===- ManifestValidation.cpp - What a manifest may say -------------------===//

#include "attn/Runtime/Artifact.h"

#include <bit>

namespace attn::rt {

static tl::unexpected<Error> invalid(const std::string &what, int64_t got) {
  return fail(ErrorCode::Internal, "manifest: " + what + ", got " + std::to_string(got));
}

static Status checkArgument(const ArgumentSpec &argument) {
  const std::string where = "argument '" + argument.name + "': ";
  if (argument.kind != ArgumentKind::MemRef) {
    if (!argument.shape.empty())
      return invalid(where + "expected no shape for a scalar", argument.rank());
    return {};
  }
  if (argument.shape.size() > kMaxRank)
    return invalid(where + "expected rank at most " + std::to_string(kMaxRank), argument.rank());
  for (int64_t size : argument.shape)
    if (size < kDynamic)
      return invalid(where + "expected a size of at least 0, or -1 for any", size);
  if (argument.alignment < 1 || !std::has_single_bit(static_cast<uint64_t>(argument.alignment)))
    return invalid(where + "expected an alignment that is a power of two", argument.alignment);
  return {};
}

static bool isTensorDim(const Manifest &manifest, int32_t argument, int32_t dim) {
  return argument >= 0 && static_cast<size_t>(argument) < manifest.arguments.size() && dim >= 0 &&
         dim < manifest.arguments[argument].rank();
}

static Status checkSize(const Manifest &manifest, const SizeExpr &size, const std::string &where) {
  for (const SizeFactor &factor : size.factors) {
    if (factor.isConstant()) {
      if (factor.value < 0)
        return invalid(where + ": expected a constant factor of at least 0", factor.value);
      continue;
    }
    if (!isTensorDim(manifest, factor.argument, factor.dim))
      return invalid(where + ": expected a dimension of a tensor argument in " + size.text() +
                         " for argument " + std::to_string(factor.argument),
                     factor.dim);
    if (factor.value < 1)
      return invalid(where + ": expected a divisor of at least 1", factor.value);
  }
  return {};
}

/// What hardware takes: boxes of up to 256 rows whose lines are those of the 128-byte swizzle.
static Status checkTensorMap(const Manifest &manifest, const TensorMapSpec &map,
                             const std::string &where) {
  if (map.argument < 0 || static_cast<size_t>(map.argument) >= manifest.arguments.size())
    return invalid(where + ": expected a tensor map of an argument", map.argument);
  const ArgumentSpec &argument = manifest.arguments[map.argument];
  if (argument.kind != ArgumentKind::MemRef || argument.rank() != kTensorMapRank ||
      byteSize(argument.elementType) != 2)
    return invalid(where + ": expected a tensor map of a 16-bit tensor of rank 4, for argument '" +
                       argument.name + "'",
                   argument.rank());
  if (map.rows < 1 || map.rows > 256)
    return invalid(where + ": expected boxes of 1 to 256 rows", map.rows);
  if (map.cols != 64)
    return invalid(where + ": expected boxes of 64 columns", map.cols);
  return {};
}

static Status checkKernel(const Manifest &manifest, const KernelEntry &kernel) {
  const std::string where = "kernel '" + kernel.name + "'";
  if (kernel.name.empty())
    return fail(ErrorCode::Internal, "manifest: a kernel has no name");
  if (Status size = checkSize(manifest, kernel.grid, where); !size)
    return size;
  if (kernel.threads < 1 || kernel.threads > 1024)
    return invalid(where + ": expected 1 to 1024 threads", kernel.threads);
  constexpr int64_t kMaxShared = int64_t(1) << 30;
  if (kernel.staticSharedBytes < 0 || kernel.staticSharedBytes > kMaxShared)
    return invalid(where + ": expected static shared memory of 0 to 2^30 bytes",
                   kernel.staticSharedBytes);
  if (kernel.dynamicSharedBytes < 0 || kernel.dynamicSharedBytes > kMaxShared)
    return invalid(where + ": expected dynamic shared memory of 0 to 2^30 bytes",
                   kernel.dynamicSharedBytes);
  if (kernel.registers < -1)
    return invalid(where + ": expected a register count, or -1", kernel.registers);
  const size_t count = manifest.arguments.size() + manifest.workspaces.size();
  for (int32_t index : kernel.arguments)
    if (index < 0 || static_cast<size_t>(index) >= count)
      return invalid(where + ": expected argument positions below " + std::to_string(count), index);
  if (kernel.tileCounter && !kernel.persistent)
    return fail(ErrorCode::Internal,
                "manifest: " + where + ": expected a tile counter of persistent kernels alone");
  for (const TensorMapSpec &map : kernel.tensorMaps)
    if (Status status = checkTensorMap(manifest, map, where); !status)
      return status;
  return {};
}

Status validate(const Manifest &manifest) {
  if (manifest.schema != kArtifactSchema)
    return invalid("expected schema " + std::to_string(kArtifactSchema), manifest.schema);
  if (manifest.chip.empty())
    return fail(ErrorCode::Internal, "manifest: the chip is empty");
  if (manifest.minDriverVersion < 0)
    return invalid("expected a driver version", manifest.minDriverVersion);
  for (const ArgumentSpec &argument : manifest.arguments)
    if (Status status = checkArgument(argument); !status)
      return status;
  for (const std::vector<DimRef> &group : manifest.equalSizes)
    for (const DimRef &ref : group)
      if (!isTensorDim(manifest, ref.argument, ref.dim))
        return invalid("equal sizes: expected a dimension of a tensor argument for argument " +
                           std::to_string(ref.argument),
                       ref.dim);
  for (const WorkspaceSpec &workspace : manifest.workspaces) {
    if (workspace.shape.size() > kMaxRank)
      return invalid("workspace: expected rank at most " + std::to_string(kMaxRank),
                     static_cast<int64_t>(workspace.shape.size()));
    for (const SizeExpr &size : workspace.shape)
      if (Status status = checkSize(manifest, size, "workspace"); !status)
        return status;
  }
  if (manifest.kernels.empty() != (manifest.payloadKind == PayloadKind::Host))
    return fail(ErrorCode::Internal, manifest.kernels.empty()
                                         ? "manifest: there is no kernel"
                                         : "manifest: code of the CPU is launched by no kernel");
  size_t numTensorMaps = 0;
  for (const KernelEntry &kernel : manifest.kernels) {
    if (Status status = checkKernel(manifest, kernel); !status)
      return status;
    numTensorMaps += kernel.tensorMaps.size();
  }
  if (numTensorMaps > kMaxTensorMaps)
    return invalid("expected at most " + std::to_string(kMaxTensorMaps) +
                       " tensor maps over all kernels",
                   static_cast<int64_t>(numTensorMaps));
  return {};
}

} // namespace attn::rt
