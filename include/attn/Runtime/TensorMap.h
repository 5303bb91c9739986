//===- TensorMap.h - Descriptors of tensors for bulk copies ---------------===//
//
// Hopper's copies of boxes of a tensor read its address, sizes and strides from a
// descriptor of 128 bytes that the driver encodes. A kernel's manifest says which
// of the call's tensors it wants described, and in boxes of which size.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_TENSORMAP_H
#define ATTN_RUNTIME_TENSORMAP_H

#include <array>
#include <cstdint>
#include <list>

#include "attn/Runtime/Artifact.h"
#include "attn/Runtime/CudaDriver.h"
#include "attn/Runtime/Error.h"

namespace attn::rt {

/// The descriptor, opaque.
struct alignas(64) TensorMap {
  std::array<uint64_t, 16> words{};
  bool operator==(const TensorMap &) const = default;
};

/// What the map of a tensor [batch, rows, heads, columns] says, whoever reads it: dims in the
/// order columns, rows, heads, batch. Beside it go the 128-byte swizzle and zeros outside.
struct TensorGeometry {
  cuda::TensorMapType elementType = cuda::kMapBFloat16;
  std::array<uint64_t, kTensorMapRank> sizes{};
  std::array<uint64_t, kTensorMapRank - 1> strides{}; ///< In bytes, of all dims but the first.
  std::array<uint32_t, kTensorMapRank> box{};
};

/// The geometry of a tensor that is not empty, as `spec` asks. BadInput, with the name of the
/// argument, for sizes and strides that hardware cannot take.
Expected<TensorGeometry> describeTensorMap(const ArgumentSpec &argument, const TensorMapSpec &spec,
                                           const TensorArg &tensor);

/// The descriptor of a tensor. BadInput as describeTensorMap; the map of an empty tensor, which
/// no kernel reads, is all zeros.
Expected<TensorMap> encodeTensorMap(const CudaDriver &driver, const ArgumentSpec &argument,
                                    const TensorMapSpec &spec, const TensorArg &tensor);

/// Maps of recent calls, so that calls with the same tensors do not encode them again.
/// Not safe for several threads at once.
class TensorMapCache {
public:
  /// As encodeTensorMap; the map stays valid until as many others as the cache holds have
  /// been asked for.
  Expected<const TensorMap *> get(const CudaDriver &driver, const ArgumentSpec &argument,
                                  const TensorMapSpec &spec, const TensorArg &tensor);

  static constexpr size_t kCapacity = 64;
  static_assert(kMaxTensorMaps <= kCapacity, "one call's maps must stay valid together");

private:
  struct Entry {
    TensorMapSpec spec;
    TensorArg tensor;
    TensorMap map;
  };
  /// Most recently used first.
  std::list<Entry> entries;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_TENSORMAP_H
