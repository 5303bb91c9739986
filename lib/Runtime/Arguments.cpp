//===- Arguments.cpp - Checking and packing a call's arguments ------------===//

#include "attn/Runtime/Arguments.h"

#include <cstring>
#include <limits>

namespace attn::rt {

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

static tl::unexpected<Error> mismatch(const ArgumentSpec &spec, const std::string &expected,
                                      const std::string &got) {
  return fail(ErrorCode::BadInput,
              "argument '" + spec.name + "': expected " + expected + ", got " + got);
}

static std::string kindOf(const Argument &argument) {
  if (const auto *tensor = std::get_if<TensorArg>(&argument))
    return "a tensor of " + std::string(toString(tensor->elementType));
  static constexpr const char *names[] = {"an f32", "an f64", "an i64", "an i32"};
  return names[std::get<ScalarArg>(argument).index()];
}

static bool isScalarOf(const Argument &argument, ArgumentKind kind) {
  const auto *scalar = std::get_if<ScalarArg>(&argument);
  if (!scalar)
    return false;
  switch (kind) {
  case ArgumentKind::F32:
    return std::holds_alternative<float>(*scalar);
  case ArgumentKind::F64:
    return std::holds_alternative<double>(*scalar);
  case ArgumentKind::I64:
  case ArgumentKind::Index:
    return std::holds_alternative<int64_t>(*scalar);
  case ArgumentKind::I32:
    return std::holds_alternative<int32_t>(*scalar);
  case ArgumentKind::MemRef:
    break;
  }
  return false;
}

/// Address and strides of a tensor that has elements.
static Status checkPlacement(const ArgumentSpec &spec, const TensorArg &tensor) {
  if (!tensor.data)
    return mismatch(spec, "an address", "null for shape " + tensor.shapeText());
  const int64_t elementBytes = byteSize(tensor.elementType);
  // A call that fits makes no text.
  auto alignment = [&] { return std::to_string(spec.alignment); };
  if (reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uintptr_t>(spec.alignment) != 0)
    return mismatch(spec, "an address aligned to " + alignment() + " bytes",
                    std::to_string(reinterpret_cast<uintptr_t>(tensor.data) %
                                   static_cast<uintptr_t>(spec.alignment)) +
                        " bytes past that; copy the tensor to aligned memory");
  int64_t reach = elementBytes;
  for (int d = 0; d < tensor.rank; ++d) {
    if (tensor.sizes[d] < 2)
      continue;
    const int64_t stride = tensor.strides[d];
    auto dim = [d] { return std::to_string(d); };
    if (d == tensor.rank - 1 && stride != 1)
      return mismatch(spec, "a contiguous last dimension (stride 1)",
                      "stride " + std::to_string(stride) + "; make the last dimension contiguous");
    // Only residues matter, so wrapping in the product is harmless.
    if (d != tensor.rank - 1 && static_cast<uint64_t>(stride) *
                                        static_cast<uint64_t>(elementBytes) %
                                        static_cast<uint64_t>(spec.alignment) !=
                                    0)
      return mismatch(
          spec, "strides that are multiples of " + alignment() + " bytes, the kernel's alignment",
          "stride " + std::to_string(stride) + " elements of " + std::to_string(elementBytes) +
              " bytes in dimension " + dim() +
              "; pad the rows, or compile with a smaller alignment");
    int64_t extent;
    if (stride == std::numeric_limits<int64_t>::min() ||
        __builtin_mul_overflow(tensor.sizes[d] - 1, stride < 0 ? -stride : stride, &extent) ||
        __builtin_mul_overflow(extent, elementBytes, &extent) ||
        __builtin_add_overflow(reach, extent, &reach))
      return mismatch(spec, "a tensor within the 64-bit address range",
                      "shape " + tensor.shapeText() + " with stride " + std::to_string(stride) +
                          " in dimension " + dim());
  }
  return {};
}

static Status checkTensor(const ArgumentSpec &spec, const TensorArg &tensor) {
  if (tensor.elementType != spec.elementType)
    return mismatch(spec, "element type " + std::string(toString(spec.elementType)),
                    std::string(toString(tensor.elementType)));
  if (tensor.rank != spec.rank())
    return mismatch(spec, "rank " + std::to_string(spec.rank()),
                    "rank " + std::to_string(tensor.rank) + ", shape " + tensor.shapeText());
  for (int d = 0; d < tensor.rank; ++d) {
    const int64_t size = tensor.sizes[d];
    auto place = [&] {
      return std::to_string(size) + " in dimension " + std::to_string(d) + ", shape " +
             tensor.shapeText();
    };
    if (size < 0)
      return mismatch(spec, "sizes of at least 0", place());
    if (spec.shape[d] != kDynamic && size != spec.shape[d])
      return mismatch(spec, "size " + std::to_string(spec.shape[d]), place());
  }
  return tensor.empty() ? Status() : checkPlacement(spec, tensor);
}

/// Requires the arguments of the group to be tensors of the specified ranks.
static Status checkEqualSizes(const Manifest &manifest, const std::vector<DimRef> &group,
                              std::span<const Argument> arguments) {
  auto sizeOf = [&](const DimRef &ref) {
    return std::get<TensorArg>(arguments[ref.argument]).sizes[ref.dim];
  };
  auto describe = [&](const DimRef &ref) {
    return "dimension " + std::to_string(ref.dim) + " of '" +
           manifest.arguments[ref.argument].name + "'";
  };
  for (const DimRef &ref : group)
    if (sizeOf(ref) != sizeOf(group.front()))
      return mismatch(manifest.arguments[ref.argument],
                      "size " + std::to_string(sizeOf(group.front())) + " in dimension " +
                          std::to_string(ref.dim) + ", as " + describe(group.front()) + " has",
                      std::to_string(sizeOf(ref)));
  return {};
}

Status checkArguments(const Manifest &manifest, std::span<const Argument> arguments) {
  if (arguments.size() != manifest.arguments.size())
    return fail(ErrorCode::BadInput, "expected " + std::to_string(manifest.arguments.size()) +
                                         " arguments, got " + std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentSpec &spec = manifest.arguments[i];
    const auto *tensor = std::get_if<TensorArg>(&arguments[i]);
    if (spec.kind == ArgumentKind::MemRef) {
      if (!tensor)
        return mismatch(spec, "a tensor of " + std::string(toString(spec.elementType)),
                        kindOf(arguments[i]));
      if (Status status = checkTensor(spec, *tensor); !status)
        return status;
    } else if (!isScalarOf(arguments[i], spec.kind)) {
      return mismatch(spec, "a scalar of kind " + std::string(toString(spec.kind)),
                      kindOf(arguments[i]));
    }
  }
  for (const std::vector<DimRef> &group : manifest.equalSizes)
    if (Status status = checkEqualSizes(manifest, group, arguments); !status)
      return status;
  return {};
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Slots of seven tensors of rank 4 and a scale: what attention has and room for its scratch.
static constexpr size_t kUsualSlots = 7 * 11 + 1;

void KernelParams::add(const TensorArg &tensor) {
  if (values.empty())
    values.reserve(kUsualSlots);
  const uint64_t address = reinterpret_cast<uintptr_t>(tensor.data);
  values.insert(values.end(), {address, address, 0});
  values.insert(values.end(), tensor.sizes.begin(), tensor.sizes.begin() + tensor.rank);
  values.insert(values.end(), tensor.strides.begin(), tensor.strides.begin() + tensor.rank);
}

void KernelParams::add(const ScalarArg &scalar) {
  uint64_t slot = 0;
  std::visit([&](auto value) { std::memcpy(&slot, &value, sizeof(value)); }, scalar);
  values.push_back(slot);
}

void KernelParams::add(const Argument &argument) {
  std::visit([this](const auto &value) { add(value); }, argument);
}

void **KernelParams::pointers() {
  addresses.resize(values.size() + maps.size());
  for (size_t i = 0; i < values.size(); ++i)
    addresses[i] = &values[i];
  for (size_t i = 0; i < maps.size(); ++i)
    addresses[values.size() + i] = const_cast<TensorMap *>(maps[i]);
  return addresses.data();
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// Blocks that a grid may have in its first dimension.
static constexpr int64_t kMaxGrid = 2147483647;

Expected<std::vector<int64_t>> evaluateGrids(const Manifest &manifest,
                                             std::span<const Argument> arguments) {
  std::vector<int64_t> grids;
  for (const KernelEntry &kernel : manifest.kernels) {
    Expected<int64_t> grid = kernel.grid.evaluate(arguments);
    if (!grid)
      return fail(grid.error().code, "kernel '" + kernel.name + "': " + grid.error().message);
    if (*grid > kMaxGrid)
      return fail(ErrorCode::BadInput, "kernel '" + kernel.name + "' needs " +
                                           std::to_string(*grid) + " blocks (" +
                                           kernel.grid.text() + "), the limit is " +
                                           std::to_string(kMaxGrid) + "; split the batch");
    grids.push_back(*grid);
  }
  return grids;
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

Expected<WorkspaceLayout> layoutWorkspaces(const Manifest &manifest,
                                           std::span<const Argument> arguments) {
  WorkspaceLayout layout;
  for (const WorkspaceSpec &spec : manifest.workspaces) {
    WorkspaceLayout::Slot slot{layout.bytes, {}, spec.elementType};
    bool overflow = false, empty = false;
    int64_t bytes = byteSize(spec.elementType);
    for (const SizeExpr &expr : spec.shape) {
      Expected<int64_t> size = expr.evaluate(arguments);
      if (!size)
        return fail(size.error());
      slot.shape.push_back(*size);
      empty |= *size == 0;
      overflow |= __builtin_mul_overflow(bytes, *size, &bytes);
    }
    if (empty) {
      bytes = 0;
      overflow = false;
    }
    // Rounded up, so that the next workspace starts aligned.
    overflow |= __builtin_add_overflow(bytes, kWorkspaceAlignment - 1, &bytes);
    bytes -= bytes % kWorkspaceAlignment;
    overflow |= __builtin_add_overflow(layout.bytes, bytes, &layout.bytes);
    if (overflow)
      return fail(ErrorCode::BadInput, "the workspace of this call exceeds 2^63 - 1 bytes; use "
                                       "smaller tensors");
    layout.slots.push_back(std::move(slot));
  }
  return layout;
}

} // namespace attn::rt
