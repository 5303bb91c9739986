//===- TensorMap.cpp - Descriptors of tensors for bulk copies -------------===//

#include "attn/Runtime/TensorMap.h"

#include <algorithm>
#include <string>

namespace attn::rt {

static constexpr int64_t kMaxStride = int64_t(1) << 40;
static constexpr int64_t kMaxSize = int64_t(1) << 32;
static constexpr int64_t kStrideUnit = 16;

/// Bytes between neighbours of a dim of a 16-bit tensor.
static Expected<uint64_t> byteStride(const ArgumentSpec &argument, const TensorArg &tensor,
                                     int dim) {
  // A dim of one element has no neighbours, and its stride may be anything.
  if (tensor.sizes[dim] < 2)
    return static_cast<uint64_t>(kStrideUnit);
  const int64_t stride = tensor.strides[dim];
  const int64_t bytes = byteSize(tensor.elementType);
  if (stride < 0 || stride >= kMaxStride / bytes || stride * bytes % kStrideUnit != 0)
    return fail(ErrorCode::BadInput,
                "argument '" + argument.name +
                    "': expected strides of 0 to 2^40 bytes that are "
                    "multiples of " +
                    std::to_string(kStrideUnit) + ", got " + std::to_string(stride) +
                    " elements of " + std::to_string(bytes) + " bytes in dimension " +
                    std::to_string(dim) + "; copy the tensor, or compile with instruction = mma");
  return static_cast<uint64_t>(stride * bytes);
}

Expected<TensorGeometry> describeTensorMap(const ArgumentSpec &argument, const TensorMapSpec &spec,
                                           const TensorArg &tensor) {
  // [batch, rows, heads, columns] from the fastest dim to the slowest.
  constexpr int kOrder[kTensorMapRank] = {3, 1, 2, 0};
  TensorGeometry geometry;
  geometry.elementType =
      tensor.elementType == ElementType::F16 ? cuda::kMapFloat16 : cuda::kMapBFloat16;
  for (int d = 0; d < kTensorMapRank; ++d) {
    const int64_t size = tensor.sizes[kOrder[d]];
    if (size > kMaxSize)
      return fail(ErrorCode::BadInput, "argument '" + argument.name + "': expected at most 2^32 " +
                                           "elements in dimension " + std::to_string(kOrder[d]) +
                                           ", got " + std::to_string(size) +
                                           "; split the tensor, or compile with instruction = mma");
    geometry.sizes[d] = static_cast<uint64_t>(size);
    if (d == 0)
      continue;
    Expected<uint64_t> stride = byteStride(argument, tensor, kOrder[d]);
    if (!stride)
      return fail(stride.error());
    geometry.strides[d - 1] = *stride;
  }
  geometry.box = {static_cast<uint32_t>(spec.cols), static_cast<uint32_t>(spec.rows), 1, 1};
  return geometry;
}

Expected<TensorMap> encodeTensorMap(const CudaDriver &driver, const ArgumentSpec &argument,
                                    const TensorMapSpec &spec, const TensorArg &tensor) {
  TensorMap map;
  if (tensor.empty())
    return map;
  if (!driver.api().tensorMapEncodeTiled)
    return fail(ErrorCode::Unavailable,
                "the CUDA driver (CUDA " + driverVersionText(driver.version()) +
                    ") has no cuTensorMapEncodeTiled; update the NVIDIA driver to CUDA 12.0 or "
                    "later");
  Expected<TensorGeometry> geometry = describeTensorMap(argument, spec, tensor);
  if (!geometry)
    return fail(geometry.error());
  constexpr uint32_t kSteps[kTensorMapRank] = {1, 1, 1, 1};
  cuda::Result result = driver.api().tensorMapEncodeTiled(
      &map, geometry->elementType, kTensorMapRank, tensor.data, geometry->sizes.data(),
      geometry->strides.data(), geometry->box.data(), kSteps, cuda::kMapInterleaveNone,
      cuda::kMapSwizzle128B, cuda::kMapPromotionL2_256B, cuda::kMapFillZeros);
  if (Status status = driver.check(result, "encoding the tensor map of argument '" + argument.name +
                                               "', shape " + tensor.shapeText());
      !status)
    return fail(status.error());
  return map;
}

static bool sameGeometry(const TensorArg &a, const TensorArg &b) {
  return a.data == b.data && a.elementType == b.elementType && a.rank == b.rank &&
         std::equal(a.sizes.begin(), a.sizes.begin() + a.rank, b.sizes.begin()) &&
         std::equal(a.strides.begin(), a.strides.begin() + a.rank, b.strides.begin());
}

Expected<const TensorMap *> TensorMapCache::get(const CudaDriver &driver,
                                                const ArgumentSpec &argument,
                                                const TensorMapSpec &spec,
                                                const TensorArg &tensor) {
  auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry &entry) {
    return entry.spec == spec && sameGeometry(entry.tensor, tensor);
  });
  if (found == entries.end()) {
    Expected<TensorMap> map = encodeTensorMap(driver, argument, spec, tensor);
    if (!map)
      return fail(map.error());
    if (entries.size() == kCapacity)
      entries.pop_back();
    entries.push_front({spec, tensor, *map});
  } else {
    entries.splice(entries.begin(), entries, found);
  }
  return &entries.front().map;
}

} // namespace attn::rt
