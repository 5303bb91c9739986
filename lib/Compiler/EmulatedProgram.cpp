//===- EmulatedProgram.cpp - A GPU kernel that runs on the host -----------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Compiler/EmulatedProgram.h"

#include "attn/Emulator/TensorMap.h"
#include "attn/Runtime/Arguments.h"

#include <cstring>
#include <new>

using namespace attn;

/// Blocks of a persistent kernel: few, so that each takes work more than once.
static constexpr int64_t kPersistentBlocks = 3;

static_assert(static_cast<int>(emu::TensorElement::F16) == rt::cuda::kMapFloat16 &&
                  static_cast<int>(emu::TensorElement::BF16) == rt::cuda::kMapBFloat16 &&
                  static_cast<int>(emu::Swizzle::Bytes128) == rt::cuda::kMapSwizzle128B,
              "numbered as in cuda.h");

/// What the emulator reads in the place of the descriptor that a driver would encode.
static rt::Expected<rt::TensorMap> describe(const rt::ArgumentSpec &argument,
                                            const rt::TensorMapSpec &spec,
                                            const rt::TensorArg &tensor) {
  rt::TensorMap words;
  if (tensor.empty())
    return words;
  rt::Expected<rt::TensorGeometry> geometry = rt::describeTensorMap(argument, spec, tensor);
  if (!geometry)
    return rt::fail(geometry.error());
  emu::TensorMap map;
  map.base = static_cast<std::byte *>(tensor.data);
  map.rank = rt::kTensorMapRank;
  map.element = static_cast<emu::TensorElement>(geometry->elementType);
  map.swizzle = emu::Swizzle::Bytes128;
  llvm::copy(geometry->sizes, map.sizes.begin());
  llvm::copy(geometry->strides, map.strides.begin());
  llvm::copy(geometry->box, map.box.begin());
  if (std::string fault = map.check(); !fault.empty())
    return rt::fail(rt::ErrorCode::BadInput, "argument '" + argument.name + "': " + fault);
  std::memcpy(words.words.data(), &map, sizeof(map));
  return words;
}

rt::Status EmulatedProgram::run(std::span<const rt::Argument> arguments,
                                const emu::LaunchOptions &options) const {
  if (rt::Status status = rt::checkArguments(spec, arguments); !status)
    return status;
  rt::Expected<std::vector<int64_t>> grids = rt::evaluateGrids(spec, arguments);
  if (!grids)
    return rt::fail(grids.error());
  rt::Expected<rt::WorkspaceLayout> layout = rt::layoutWorkspaces(spec, arguments);
  if (!layout)
    return rt::fail(layout.error());
  std::unique_ptr<char[]> scratch(new (std::nothrow) char[layout->bytes + rt::kWorkspaceAlignment]);
  if (!scratch)
    return rt::fail(rt::ErrorCode::Unavailable, "cannot allocate the " +
                                                    std::to_string(layout->bytes) +
                                                    " bytes of the call's workspaces");
  char *base = reinterpret_cast<char *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.get()), rt::kWorkspaceAlignment));

  // All that the kernels get, workspaces after the user's arguments.
  std::vector<rt::Argument> values(arguments.begin(), arguments.end());
  emu::GlobalMemory memory;
  for (auto [argument, argumentSpec] : llvm::zip(arguments, spec.arguments))
    if (const auto *tensor = std::get_if<rt::TensorArg>(&argument))
      memory.addTensor(argumentSpec.name, *tensor);
  for (auto [i, slot] : llvm::enumerate(layout->slots)) {
    auto tensor = rt::TensorArg::dense(base + slot.offset, slot.elementType, slot.shape);
    memory.addTensor("workspace " + std::to_string(i), tensor);
    values.push_back(tensor);
  }

  for (auto [kernel, blocks] : llvm::zip(spec.kernels, *grids)) {
    if (blocks == 0)
      continue;
    rt::KernelParams params;
    for (int32_t index : kernel.arguments)
      params.add(values[index]);
    int32_t drawn = 0;
    emu::GlobalMemory visible = memory;
    if (kernel.tileCounter) {
      auto counter = rt::TensorArg::dense(&drawn, rt::ElementType::I32, {1});
      visible.addTensor("tile counter", counter);
      params.add(counter);
    }
    std::vector<rt::TensorMap> maps;
    for (const rt::TensorMapSpec &map : kernel.tensorMaps) {
      rt::Expected<rt::TensorMap> described = describe(
          spec.arguments[map.argument], map, std::get<rt::TensorArg>(values[map.argument]));
      if (!described)
        return rt::fail(described.error());
      maps.push_back(*described);
    }
    for (const rt::TensorMap &map : maps)
      params.add(map);
    emu::Program::Request request;
    request.kernel = kernel.name;
    request.grid.x =
        static_cast<unsigned>(kernel.persistent ? std::min(blocks, kPersistentBlocks) : blocks);
    request.block.x = static_cast<unsigned>(kernel.threads);
    request.dynamicSharedBytes = static_cast<size_t>(kernel.dynamicSharedBytes);
    request.parameters = params.pointers();
    request.numParameters = params.slots().size() + maps.size();
    request.faultCode = code;
    if (rt::Status status = program->launch(request, visible, options); !status)
      return status;
    if (options.onlyCta)
      return {};
    // A GPU would give the next launch a counter that skips tiles.
    if (drawn != 0)
      return rt::fail(code, "kernel '" + kernel.name + "' left its tile counter at " +
                                std::to_string(drawn) + ", expected 0");
  }
  return {};
}
