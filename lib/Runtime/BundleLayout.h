//===- BundleLayout.h - Places inside a bundle file -----------------------===//

#ifndef ATTN_LIB_RUNTIME_BUNDLELAYOUT_H
#define ATTN_LIB_RUNTIME_BUNDLELAYOUT_H

#include <cstddef>
#include <string_view>

#include "attn/Runtime/Hash.h"

namespace attn::rt::bundlelayout {

inline constexpr std::string_view kMagic = "ATTNBND\n";
inline constexpr size_t kSchemaOffset = 8;
inline constexpr size_t kLengthOffset = 16;
inline constexpr size_t kDigestOffset = 24;
inline constexpr size_t kHeaderBytes = kDigestOffset + sizeof(Digest);

/// Most bytes an index may have; a kernel takes about 1 KiB of it.
inline constexpr size_t kMaxIndexBytes = size_t(256) << 20;

} // namespace attn::rt::bundlelayout

#endif // ATTN_LIB_RUNTIME_BUNDLELAYOUT_H
