//===- Hash.h - Content keys ----------------------------------------------===//

#ifndef ATTN_RUNTIME_HASH_H
#define ATTN_RUNTIME_HASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace attn::rt {

/// A raw SHA-256 digest.
using Digest = std::array<uint8_t, 32>;

/// SHA-256 of the concatenation of `parts`.
Digest sha256(std::initializer_list<std::string_view> parts);

/// Lower-case hexadecimal text of `digest`: 64 characters.
std::string toHex(const Digest &digest);

/// Whether `key` is 64 lower-case hexadecimal digits, the only form of key that
/// the caches accept (keys become file names).
bool isKey(std::string_view key);

/// Builds a key: SHA-256 over (name, value) parts. Each string is preceded by
/// its length (64-bit little-endian), so no two different lists of parts feed
/// the hash the same bytes. The order of the calls is part of the key.
class KeyBuilder {
public:
  KeyBuilder();
  ~KeyBuilder();
  KeyBuilder(KeyBuilder &&) noexcept;
  KeyBuilder &operator=(KeyBuilder &&) noexcept;

  KeyBuilder &add(std::string_view name, std::string_view value);
  KeyBuilder &add(std::string_view name, int64_t value);

  /// The key of the parts added so far, 64 hexadecimal digits. More parts may
  /// be added afterwards.
  std::string finish() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace attn::rt

#endif // ATTN_RUNTIME_HASH_H
