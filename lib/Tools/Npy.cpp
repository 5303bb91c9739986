//===- Npy.cpp - Reads NumPy's array files --------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Tools/Npy.h"
#include "attn/Compiler/InputFile.h"

#include <cstring>
#include <llvm/Support/Endian.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace attn;
using llvm::StringRef;

namespace {

/// The file's header, a Python dictionary, and the bytes after it.
struct NpyFile {
  StringRef header, data;
};

} // namespace

/// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
static std::optional<NpyFile> splitFile(StringRef bytes) {
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 12)
    return std::nullopt;
  size_t lengthBytes = bytes[6] == 1 ? 2 : 4;
  uint64_t length = lengthBytes == 2 ? llvm::support::endian::read16le(bytes.data() + 8)
                                     : llvm::support::endian::read32le(bytes.data() + 8);
  size_t begin = 8 + lengthBytes;
  if (bytes.size() - begin < length)
    return std::nullopt;
  return NpyFile{bytes.substr(begin, length), bytes.substr(begin + length)};
}

/// The text after `'key': ` in the header.
static StringRef headerValue(StringRef header, StringRef key) {
  StringRef rest = header.split(("'" + key + "'").str()).second.ltrim();
  return rest.consume_front(":") ? rest.ltrim() : StringRef();
}

static std::optional<std::vector<int64_t>> parseShape(StringRef text) {
  if (!text.consume_front("("))
    return std::nullopt;
  std::vector<int64_t> shape;
  llvm::SmallVector<StringRef> parts;
  text.take_until([](char c) { return c == ')'; }).split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (part.trim().empty())
      continue;
    int64_t size;
    if (part.trim().getAsInteger(10, size) || size < 0 || size > (int64_t(1) << 40))
      return std::nullopt;
    shape.push_back(size);
  }
  return shape;
}

template <class T> static void convert(StringRef data, std::vector<double> &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
}

rt::Expected<NpyArray> attn::readNpy(StringRef path) {
  auto bad = [&](const llvm::Twine &message) {
    return rt::fail(rt::ErrorCode::BadInput, (path + ": " + message).str());
  };
  InputFile buffer = readInputFile(path.str());
  if (!buffer)
    return rt::fail(buffer.error());
  std::optional<NpyFile> file = splitFile((*buffer)->getBuffer());
  if (!file)
    return bad("expected a .npy file, as numpy.save writes it");

  StringRef type = headerValue(file->header, "descr");
  type.consume_front("'");
  type = type.take_until([](char c) { return c == '\''; });
  size_t bytes =
      llvm::StringSwitch<size_t>(type).Case("<f2", 2).Case("<f4", 4).Case("<f8", 8).Default(0);
  if (bytes == 0)
    return bad("expected float16, float32 or float64, little-endian, got '" + type + "'");
  if (!headerValue(file->header, "fortran_order").starts_with("False"))
    return bad("expected a row-major array; save numpy.ascontiguousarray(x)");
  std::optional<std::vector<int64_t>> shape = parseShape(headerValue(file->header, "shape"));
  if (!shape)
    return bad("malformed shape in the header");
  uint64_t count = 1;
  for (int64_t size : *shape) {
    // Larger than any file; the product must not wrap.
    if (size != 0 && count > (uint64_t(1) << 48) / static_cast<uint64_t>(size))
      return bad("the shape does not fit the file");
    count *= static_cast<uint64_t>(size);
  }
  if (file->data.size() != count * bytes)
    return bad("expected " + llvm::Twine(count * bytes) + " bytes of data, got " +
               llvm::Twine(file->data.size()));

  NpyArray array{std::move(*shape), std::vector<double>(count)};
  if (bytes == 2)
    convert<_Float16>(file->data, array.values);
  else if (bytes == 4)
    convert<float>(file->data, array.values);
  else
    convert<double>(file->data, array.values);
  return array;
}
