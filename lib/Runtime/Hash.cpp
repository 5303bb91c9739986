//===- Hash.cpp - Content keys --------------------------------------------===//

#include "attn/Runtime/Hash.h"

#include <algorithm>

#include <sodium/crypto_hash_sha256.h>

namespace attn::rt {

static const unsigned char *bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

Digest sha256(std::initializer_list<std::string_view> parts) {
  crypto_hash_sha256_state hash;
  crypto_hash_sha256_init(&hash);
  for (std::string_view part : parts)
    crypto_hash_sha256_update(&hash, bytesOf(part), part.size());
  Digest digest;
  crypto_hash_sha256_final(&hash, digest.data());
  return digest;
}

std::string toHex(const Digest &digest) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool isKey(std::string_view key) {
  return key.size() == 2 * sizeof(Digest) && std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

struct KeyBuilder::State {
  crypto_hash_sha256_state hash;

  void add(std::string_view text) {
    unsigned char length[8];
    for (int i = 0; i < 8; ++i)
      length[i] = static_cast<unsigned char>(static_cast<uint64_t>(text.size()) >> (8 * i));
    crypto_hash_sha256_update(&hash, length, sizeof(length));
    crypto_hash_sha256_update(&hash, bytesOf(text), text.size());
  }
};

KeyBuilder::KeyBuilder() : state(std::make_unique<State>()) {
  crypto_hash_sha256_init(&state->hash);
}
KeyBuilder::~KeyBuilder() = default;
KeyBuilder::KeyBuilder(KeyBuilder &&) noexcept = default;
KeyBuilder &KeyBuilder::operator=(KeyBuilder &&) noexcept = default;

KeyBuilder &KeyBuilder::add(std::string_view name, std::string_view value) {
  state->add(name);
  state->add(value);
  return *this;
}

KeyBuilder &KeyBuilder::add(std::string_view name, int64_t value) {
  return add(name, std::to_string(value));
}

std::string KeyBuilder::finish() const {
  crypto_hash_sha256_state copy = state->hash;
  Digest digest;
  crypto_hash_sha256_final(&copy, digest.data());
  return toHex(digest);
}

} // namespace attn::rt
