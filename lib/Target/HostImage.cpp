//===- HostImage.cpp - Code of the CPU target as bytes --------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostImage.h"

#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/TargetSelect.h>

using namespace attn;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<llvm::orc::JITTargetMachineBuilder> attn::makeHostMachineBuilder() {
  static const bool initialized = [] {
    return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  }();
  if (!initialized)
    return makeError("LLVM was built without a code generator for this machine");
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  // What LLJIT chooses for what it compiles itself: code may land anywhere.
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  return builder;
}

std::string HostImage::toBytes() const {
  llvm::json::Array described;
  for (const HostParameter &parameter : parameters)
    described.push_back(llvm::json::Object{{"type", parameter.type},
                                           {"kind", static_cast<int64_t>(parameter.kind)},
                                           {"sizes", llvm::json::Array(parameter.sizes)},
                                           {"strides", llvm::json::Array(parameter.strides)}});
  llvm::json::Value header = llvm::json::Object{{"kernels", llvm::json::Array(kernels)},
                                                {"parameters", std::move(described)}};
  return llvm::formatv("{0}\n", header).str() + object;
}

static bool readParameter(const llvm::json::Value &value, HostParameter &parameter) {
  llvm::json::Path::Root root;
  llvm::json::ObjectMapper mapper(value, root);
  int64_t kind;
  std::vector<int64_t> sizes, strides;
  if (!mapper || !mapper.map("type", parameter.type) || !mapper.map("kind", kind) ||
      !mapper.map("sizes", sizes) || !mapper.map("strides", strides))
    return false;
  if (kind < 0 || kind > HostParameter::Integer || sizes.size() != strides.size())
    return false;
  parameter.kind = static_cast<HostParameter::Kind>(kind);
  parameter.sizes.assign(sizes.begin(), sizes.end());
  parameter.strides.assign(strides.begin(), strides.end());
  return true;
}

llvm::Expected<HostImage> HostImage::fromBytes(llvm::StringRef bytes) {
  auto [line, object] = bytes.split('\n');
  auto header = llvm::json::parse(line);
  if (!header)
    return header.takeError();
  HostImage image;
  image.object = object.str();
  const llvm::json::Object *fields = header->getAsObject();
  const llvm::json::Array *kernels = fields ? fields->getArray("kernels") : nullptr;
  const llvm::json::Array *parameters = fields ? fields->getArray("parameters") : nullptr;
  if (!kernels || kernels->empty() || !parameters)
    return makeError("expected an image of the CPU target: its kernels and parameters");
  for (const llvm::json::Value &name : *kernels)
    image.kernels.push_back(name.getAsString().value_or("").str());
  for (const llvm::json::Value &value : *parameters)
    if (!readParameter(value, image.parameters.emplace_back()))
      return makeError("expected an image of the CPU target, got a malformed parameter");
  return image;
}
